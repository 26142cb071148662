"""Message races: receives from anyone that could have got another message.

Two messages race for a receive if neither was sent because of the other: no chain of messages leads
from one to the other. That is told by vector clocks along one run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from presage.process.ops import ANY, Failed, Recv, Send
from presage.process.program import Program
from presage.process.world import Post, ProcessWorld, Taken, fits

Clock = dict[str, int]

RACE = "message-race"
HAZARD = "buffer-hazard"
STEPS_MAX = 10_000


@dataclass
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
    known = _Known()
    for step in steps:
        known.take(step)
    found = []
    for wanted in known.wildcards:
        got = wanted.partner
        rival = None if got is None else _rival(known, wanted, got)
        if got is not None and rival is not None:
            found.append(f"a receive of {wanted.owner} got {_told(got)}; {_told(rival)} fits, too")
    return found


def _rival(known: _Known, wanted: Post, got: Post) -> Post | None:
    assert isinstance(wanted.op, Recv)
    for other in known.sends:
        assert isinstance(other.op, Send)
        if other.op.mailbox != wanted.op.mailbox or other.owner == got.owner:
            continue
        if not fits(wanted.op.want, other.op.key):
            continue
        if not known.is_before(other, got) and not known.is_before(got, other):
            return other
    return None


def _told(post: Post) -> str:
    assert isinstance(post.op, Send)
    return f"a message of {post.owner} with tag {post.op.key[1]}"


def passing_run(program: Program, tries: int = 64) -> list[Taken] | None:
    """A run, among so many in random order, that ends well."""
    for seed in range(tries):
        random, world, steps = Random(seed), ProcessWorld(program), []
        while enabled := world.enabled():
            steps.append(world.take(random.choice(enabled)))
            if isinstance(steps[-1].then, Failed) or len(steps) > STEPS_MAX:
                break
        if world.is_over and not any(member.failed for member in world.members.values()):
            return steps
    return None


def refined(program: Program, kind: str, text: str, failing: Sequence[Taken]) -> tuple[str, str]:
    """The kind and text of a violation; one that depends on who comes first is a race."""
    if kind not in ("exception", "deadlock"):
        return kind, text
    passing = passing_run(program)
    found = [*races(failing), *races(passing)] if passing is not None else []
    if not found:
        return kind, text
    return RACE, f"{text}\nwith another order of arrival the program ends well: {found[0]}"
