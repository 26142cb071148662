"""raftos 0.2.6 without its bugs: what the paper on Raft says, in as few lines as that takes."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

# Bug -> the texts of `raftos/state.py` that stand for others. All of them are mended together.
MENDS = {
    "issue 27, and who leads no longer goes on as if it did": [
        (
            """\
                'success': False
            }
            asyncio""",
            """\
                'success': False,
                'request_id': data.get('request_id')
            }
            asyncio""",
        ),
        (
            """\
                self.state.to_follower()

        if self.storage.term > data""",
            """\
                self.state.to_follower()
                return getattr(self.state.state, func.__name__)(data)

        if self.storage.term > data""",
        ),
    ],
    "issue 25: answers overtake each other, and tell of what the leader sent": [
        (
            """\
        sender_id = self.state.get_sender_id(data['sender'])
""",
            """\
        if data['term'] != self.storage.term:
            return
        sender_id = self.state.get_sender_id(data['sender'])
""",
        ),
        (
            """max(self.log.next_index[sender_id] - 1, 1)""",
            """max(
                self.log.next_index[sender_id] - 1, self.log.match_index[sender_id] + 1
            )""",
        ),
        (
            """\
            self.log.next_index[sender_id] = data['last_log_index'] + 1
            self.log.match_index[sender_id] = data['last_log_index']
""",
            """\
            matched = max(self.log.match_index[sender_id], data['last_log_index'])
            self.log.next_index[sender_id] = matched + 1
            self.log.match_index[sender_id] = matched
""",
        ),
        (
            """\
            'last_log_index': self.log.last_log_index,
            'request_id'""",
            """\
            'last_log_index': prev_log_index + len(data['entries']),
            'request_id'""",
        ),
    ],
    "issue 26: only what contradicts the leader is erased": [
        (
            """\
            if self.log[new_index]['term'] != data['term'] or (
                self.log.last_log_index != prev_log_index
            ):
""",
            """\
            if data['entries'] and (
                self.log[new_index]['term'] != data['entries'][0]['term']
            ):
""",
        ),
        (
            """\
        for entry in data['entries']:
            self.log.write""",
            """\
        for entry in data['entries'] if self.log.last_log_index < new_index else ():
            self.log.write""",
        ),
        (
            """min(data['commit_index'], self.log.last_log_index)""",
            """max(self.log.commit_index, min(
                data['commit_index'], prev_log_index + len(data['entries'])
            ))""",
        ),
    ],
    "issue 30: an entry of an older term is passed by": [
        (
            """\
                commited_on_majority = index

            else:
                break
""",
            """\
                commited_on_majority = index
""",
        ),
    ],
    "two leaders in one term: a vote is for one term, and there is one in a term": [
        (
            """\
            self.storage.update({
                'term': data['term']
            })""",
            """\
            self.storage.update({'term': data['term'], 'voted_for': None})""",
        ),
        (
            """\
        if data.get('vote_granted'):""",
            """\
        if data.get('vote_granted') and data['term'] == self.storage.term:""",
        ),
        (
            """\
                'term': 0,
            })

        self.storage.update({
            'voted_for': None
        })
""",
            """\
                'term': 0, 'voted_for': None
            })
""",
        ),
    ],
}


def mended(folder: str) -> str:
    """A copy of the libraries in `folder` in which raftos has no bug."""
    digest = hashlib.sha256(repr(MENDS).encode()).hexdigest()[:8]
    made = Path(f"{folder}-mended-{digest}")
    if not made.is_dir():
        copy = Path(tempfile.mkdtemp(dir=made.parent)) / made.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        file = copy / "raftos" / "state.py"
        text = file.read_text(encoding="utf-8")
        for old, new in (mend for mends in MENDS.values() for mend in mends):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
        with suppress(OSError):  # another worker was faster
            copy.rename(made)
        shutil.rmtree(copy.parent)
    return str(made)
