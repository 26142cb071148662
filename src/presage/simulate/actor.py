"""One process of a simulation: where it runs, what it is at, and what it did when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import field

from presage.process.ops import Join, Op, Probe, Sleep, TestAny, WaitAny
from presage.process.world import Member
from presage.records import record
from presage.simulate.fluid import Work
from presage.simulate.result import WAIT, Interval, Timeline


@record(eq=False)
class Actor:
    """A process. `ticket` counts its steps, so that what was planned before one can be told."""

    order: int  # among all processes; who comes first where time does not tell
    name: str
    host: str
    member: Member
    draw: Callable[[int], int]  # one of so many, by the seed
    started: float
    entered: float  # when it came to the operation it is at
    ticket: int = 0
    begun: bool = False  # what it is at was looked at before
    due: bool = False  # the time that it waits for has come
    work: Work | None = None  # what it computes
    polls: Counter[Op] = field(default_factory=Counter)  # tests that failed, with no time between
    intervals: list[Interval] = field(default_factory=list)
    ended: float | None = None

    def spent(self, kind: str, start: float, end: float, what: str = "") -> None:
        """Keep what it did; a moment without length is nothing to see."""
        if end > start:
            self.intervals.append(Interval(kind, start, end, what))

    def arrive(self, now: float) -> None:
        if now > self.entered:
            self.polls = Counter()
        self.ticket += 1
        self.entered = now
        self.begun = self.due = False
        self.work = None

    def timeline(self) -> Timeline:
        return Timeline(
            self.name,
            self.host,
            self.started,
            self.ended,
            self.member.daemon,
            tuple(self.intervals),
        )


def waits_for(actor: Actor) -> str:
    """What a process that does not go on waits for, in words."""
    op = actor.member.live.at
    match op:
        case WaitAny() | TestAny():
            posts = [actor.member.posts[slot] for slot in op.slots if slot in actor.member.posts]
            sides = {"Recv": "a message at", "Send": "somebody who receives at"}
            wanted = [f"{sides[type(post.op).__name__]} `{post.op.mailbox}`" for post in posts]
            verb = "waits for" if isinstance(op, WaitAny) else "tests again and again for"
            return f"{verb} {' or '.join(dict.fromkeys(wanted)) or 'nothing at all'}"
        case Probe():
            verb = "waits for" if op.blocking else "looks again and again for"
            return f"{verb} a message at `{op.mailbox}`, to look at"
        case Join():
            return f"waits until `{op.name}` has ended"
        case Sleep():
            return "sleeps" if actor.work is None else "computes"
    return "is about to go on"


def doing(actor: Actor) -> tuple[str, str]:
    """The kind of interval that an unfinished operation is, and what it is about."""
    op = actor.member.live.at
    if isinstance(op, Sleep):
        return ("sleep" if actor.work is None else "compute"), ""
    return WAIT, waits_for(actor)
