"""What a divided search keeps in a folder, to go on with after it was stopped.

What is read back is unpickled, or names classes, so every file is signed as traces are, and one
that this user did not make is refused in any case. Files belong to one search: the
same code, parameters and options. What was done of it does not depend on how many workers did it,
so another number of them may go on with it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from presage.distribute.task import OWN, Answer, Identity, Task
from presage.errors import BadCheckpoint, BadSystem, Untrusted
from presage.search.settings import Settings
from presage.trace import seal
from presage.trace.trace import plain_parameters
from presage.version import VERSION

KIND = "presage-divided-search"
HEADER = "search.divided"
# Options that change nothing of what is found, or only how far a search comes.
FREE = {
    *OWN,
    "seconds",
    "checkpoint",
    "checkpoint_seconds",
    "resume",
    "trust",
    "parameters",
    "part",
}
AGAIN = "search from the beginning, with a new folder for `--checkpoint`"


class Kept:
    """A folder, for one search."""

    def __init__(self, folder: str | Path, identity: Identity, settings: Settings) -> None:
        self.folder = Path(folder)
        self.notes: list[str] = []
        options = {name: repr(getattr(settings, name)) for name in sorted(vars(settings))}
        self._header = {
            "presage": VERSION,
            "python": ".".join(map(str, sys.version_info[:2])),
            "parameters": plain_parameters(settings.named),
            "options": {name: text for name, text in options.items() if name not in FREE},
            "definition": identity.digest,
        }
        self._open(resume=settings.resume)

    def _open(self, *, resume: bool) -> None:
        if seal.why_unsigned() is not None:
            raise BadSystem(
                f"`checkpoint` is given together with `cluster`, and {seal.why_unsigned()}",
                "what is kept of a divided search is read back only if it is signed",
                "leave out `--checkpoint`, or mend the key",
            )
        found = self.read(HEADER) if (self.folder / HEADER).exists() else None
        if found is None and resume:
            self.notes.append(f"`{self.folder}` held no checkpoint: the search began afresh")
        if found is not None and not resume:
            raise BadCheckpoint(
                f"`{self.folder}` holds an unfinished search",
                "a search that was stopped, and is started again without `--resume`",
                "`--resume` goes on with it; remove the folder to begin again",
            )
        if found is not None:
            self._compare(msgspec.json.decode(found))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.write(HEADER, msgspec.json.encode(self._header))
        except OSError as error:
            raise BadCheckpoint(
                f"nothing can be written to `{self.folder}`: {(error.strerror or '').lower()}",
                "a folder that may not be written to, a file where a folder is meant, a full disk",
                "name another folder with `--checkpoint DIR`",
            ) from error

    def _compare(self, saved: dict[str, Any]) -> None:
        for name in self._differences(saved, self._header):
            raise BadCheckpoint(
                f"the checkpoint in `{self.folder}` belongs to another search: `{name}` differs",
                "another system, other parameters or options, an edit, or an update of presage",
                f"undo that, or {AGAIN}",
            )

    @staticmethod
    def _differences(saved: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
        for name, value in now.items():
            if name == "options" and saved.get(name) != value:
                was = saved.get(name, {})
                yield next(each for each in (*value, *was) if was.get(each) != value.get(each))
            elif saved.get(name) != value:
                yield name

    def read(self, name: str) -> bytes:
        """The content of a file; raises if it is not this user's, or not whole."""
        path = self.folder / name
        try:
            signature, _, content = path.read_bytes().partition(b"\n")
        except OSError as error:
            raise BadCheckpoint(
                f"`{path}` cannot be read: {(error.strerror or '').lower()}",
                "no permission, or a file that is gone",
                AGAIN,
            ) from error
        if not seal.is_ours(KIND + name, content, signature.decode("latin-1")):
            raise Untrusted(
                f"the checkpoint `{path}` is not used: nothing proves that you made it",
                "it comes from another user or machine, was edited, or was written in part",
                AGAIN,
            )
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""
        signature = seal.sign(KIND + name, content) or ""
        unfinished = self.folder / f".{name}.unfinished"
        with open(unfinished, "wb") as file:
            file.write(signature.encode() + b"\n" + content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(self.folder / name)

    def answer(self, task: Task) -> Answer | None:
        """What became of a task, if it was done."""
        name = _name_of(task)
        if not (self.folder / name).exists():
            return None
        answer: Answer = pickle.loads(self.read(name))
        return answer

    def keep(self, task: Task, answer: Answer) -> None:
        """Keep what became of a task, if it was done to its end."""
        if answer.report is not None and answer.report.stopped_by is None:
            self.write(_name_of(task), pickle.dumps(answer))

    def forget(self) -> None:
        """The search is over: leave nothing behind."""
        for kind in ("*.part", "*.shard", "*.divided", "*.unfinished"):
            for path in self.folder.glob(kind):
                path.unlink(missing_ok=True)
        with suppress(OSError):  # which holds something else
            self.folder.rmdir()


def _name_of(task: Task) -> str:
    part = repr(task.settings.part)
    return f"{hashlib.sha256(part.encode()).hexdigest()[:32]}.part"
