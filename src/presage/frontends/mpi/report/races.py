"""Message races: receives from anyone that could have got another message.

Two messages race for a receive if neither was sent because of the other: no chain of messages leads
from one to the other. That is told by vector clocks along one run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field

from presage.process.ops import ANY, Pick, Probe, Recv, Send, WaitAny
from presage.process.program import Passing
from presage.process.world import Post, Taken, fits
from presage.records import record

Clock = dict[str, int]

RACE = "message-race"
HAZARD = "buffer-hazard"
NEEDS_ROOM = "a standard send may wait for its receive, and is stuck then"
NOT_KNOWN = "whether another order of arrival ends well is not known: the search for one was cut"


@record
class _Known:
    """What each process knows of the others, and knew when it posted."""

    clocks: dict[str, Clock] = field(default_factory=dict)
    posted: dict[int, Clock] = field(default_factory=dict)  # by the identity of the post
    sends: list[Post] = field(default_factory=list)
    wildcards: list[Post] = field(default_factory=list)

    def take(self, step: Taken) -> None:
        clock = self.clocks.setdefault(step.process, {})
        clock[step.process] = clock.get(step.process, 0) + 1
        for post in step.got:
            if post.partner is not None:
                _join(clock, self.posted.get(id(post.partner), {}))
        if step.post is not None:
            self.posted[id(step.post)] = dict(clock)
            if isinstance(step.post.op, Send):
                self.sends.append(step.post)
            elif step.post.op.want[0] == ANY and _is_of_ranks(step.post.op.mailbox):
                self.wildcards.append(step.post)

    def is_before(self, one: Post, other: Post) -> bool:
        """Whether the first was posted before the second in every run."""
        mine = self.posted[id(one)][one.owner]
        return self.posted[id(other)].get(one.owner, 0) >= mine


def _is_of_ranks(mailbox: str) -> bool:
    """Whether ranks receive messages there; names of files may have slashes, too."""
    return "/" in mailbox and not mailbox.startswith("file:")


def _join(clock: Clock, other: Clock) -> None:
    for name, count in other.items():
        clock[name] = max(clock.get(name, 0), count)


def races(steps: Iterable[Taken]) -> list[str]:
    """What raced along a run, in words; each receive once."""
    known = _known(steps)
    found = []
    for wanted in known.wildcards:
        got = wanted.partner
        rival = None if got is None else _rival(known, wanted, got)
        if got is not None and rival is not None:
            found.append(_both(wanted, got, rival))
    return found


def differing(failing: Iterable[Taken], passing: Iterable[Taken]) -> list[str]:
    """The receives from anyone that got other messages in a run that fails than in one that passes.

    Neither message was sent because of the other.
    """
    bad, good = _known(failing), _known(passing)
    others = dict(_numbered(good.wildcards))
    found = []
    for key, wanted in _numbered(bad.wildcards):
        twin = others.get(key)
        got, other = wanted.partner, None if twin is None else twin.partner
        if twin is None or got is None or other is None or got.owner == other.owner:
            continue
        if _rival(bad, wanted, got) is not None or _rival(good, twin, other) is not None:
            found.append(_both(wanted, got, other))
    return found


def _both(wanted: Post, got: Post, other: Post) -> str:
    return f"a receive of {wanted.owner} got {_told(got)}; {_told(other)} fits, too"


def _known(steps: Iterable[Taken]) -> _Known:
    known = _Known()
    for step in steps:
        known.take(step)
    return known


def _numbered(posts: Iterable[Post]) -> Iterator[tuple[tuple[str, int], Post]]:
    """Each post with who made it, as the how manyth of theirs."""
    counts: Counter[str] = Counter()
    for post in posts:
        counts[post.owner] += 1
        yield (post.owner, counts[post.owner]), post


def _rival(known: _Known, wanted: Post, got: Post) -> Post | None:
    assert isinstance(wanted.op, Recv)
    for other in known.sends:
        assert isinstance(other.op, Send)
        if other.op.mailbox != wanted.op.mailbox or other.owner == got.owner:
            continue
        if not fits(wanted.op.want, other.op.key):
            continue
        # By channel, a message may be received before one that was sent because of it.
        if other.op.channelled and not known.is_before(wanted, other):
            return other
        if not known.is_before(other, got) and not known.is_before(got, other):
            return other
    return None


def _told(post: Post) -> str:
    assert isinstance(post.op, Send)
    return f"a message of {post.owner} with tag {post.op.key[1]}"


def refined(
    kind: str, text: str, failing: Sequence[Taken], passing: Callable[[], Passing]
) -> tuple[str, str]:
    """The kind and text of a violation; one that depends on who comes first is a race.

    `passing` searches all orders for one that ends well.
    """
    if kind == "deadlock" and _needs_room(failing):
        return kind, f"{text}\n{NEEDS_ROOM}"
    if kind not in ("exception", "deadlock") or not any(map(_is_open, failing)):
        return kind, text
    steps, exhausted = passing()
    if steps is None:
        return kind, text if exhausted else f"{text}\n{NOT_KNOWN}"
    found = differing(failing, steps) or races(failing) or races(steps)
    if not found:
        return kind, text
    return RACE, f"{text}\nwith another order of arrival the program ends well: {found[0]}"


def _needs_room(steps: Sequence[Taken]) -> bool:
    """Whether somebody is left at a send that would go on if there were room for its message."""
    last = {step.process: step.then for step in steps}
    posts = {(step.process, step.post.slot): step.post for step in steps if step.post is not None}
    waited = [
        posts.get((process, then.slots[0]))
        for process, then in last.items()
        if isinstance(then, WaitAny) and len(then.slots) == 1
    ]
    return any(
        isinstance(post.op, Send) and post.op.may_wait and post.partner is None
        for post in waited
        if post is not None
    )


def _is_open(step: Taken) -> bool:
    """Whether a step leaves open from whom a message comes; without one nothing races."""
    op = step.op
    return isinstance(op, Recv | Probe | Pick) and op.want[0] == ANY and _is_of_ranks(op.mailbox)
