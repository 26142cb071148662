"""Timed mode: timers fire by deadline. What the clocks of all nodes say, as one canonical value.

Every node has a clock. It moves when one of the node's timers fires, to that timer's deadline, and
is pulled along so that no clock is ever more than `drift` behind another. A timer may fire if its
node has none with an earlier deadline and nobody's deadline lies more than `drift` before it.
Messages, actions and calls take no time and may come at any time.

The state of the clocks is fed like an observer, by `Ticked` records. It holds differences only:
clocks relative to the slowest, deadlines relative to their node's clock. The first are at most
`drift`, the others at most the longest delay, all multiples of what the delays and the drift are
multiples of; so there are finitely many.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from presage._core import SLOW
from presage.errors import BadCall, BadSystem
from presage.model.keywords import named_arguments
from presage.model.service.local_state import Control, Outcome, Stimulus, Timers
from presage.model.source import caller
from presage.records import NamedTuple, record

CLOCK = "(clock)"  # the name under which the clocks stand among the observers
TICKS = 1000  # to a unit of time: times are whole numbers of thousandths, exact whatever is added
TIME_MAX = 1_000_000_000


Deadline: TypeAlias = tuple[int | None, int | None]  # when it is due, and its delay
NEVER: Deadline = (None, None)  # armed without `after`: it may fire at any time


class Ticked(NamedTuple):
    """What one step means for the clocks; a record that only they see."""

    fired: tuple[Any, ...] | None
    delays: frozenset[tuple[tuple[Any, ...], int | None]]  # of the timers armed in this step
    armed: Timers  # after the step
    held: bool  # the node is slow: others do not wait for its timers


class Face(NamedTuple):
    """One node's clock: how far ahead of the slowest, and per timer (deadline, delay)."""

    ahead: int
    timers: frozenset[tuple[tuple[Any, ...], Deadline]]
    held: bool


Faces: TypeAlias = tuple[Face, ...]


@named_arguments
@record(frozen=True)
class Timed:
    """Timers fire by deadline, clocks differ by at most `drift`."""

    drift: float = 0

    def __post_init__(self) -> None:
        if ticks(self.drift) is None:
            raise BadSystem(
                f"`Timed(drift={self.drift!r})` is not an amount of time",
                "a negative number or a text",
                "give how far two clocks may be apart, in the unit of `arm(..., after=...)`",
            )


def ticks(time: Any) -> int | None:
    """`time` in thousandths; None if it is no amount of time."""
    number = isinstance(time, int | float) and not isinstance(time, bool)
    return round(time * TICKS) if number and 0 <= time <= TIME_MAX else None


def delay(timer: str, after: Any) -> int | None:
    """The delay that a timer is armed with, in thousandths; None: it may fire at any time."""
    if after is None or (found := ticks(after)) is not None:
        return None if after is None else found
    raise BadCall(
        f"{caller()}: timer `{timer}` is armed with `after={after!r}`",
        "a negative number or a text",
        "give the time until it fires, a number from 0",
    )


class Clocks:
    """An observer whose state is what the clocks of `nodes` say."""

    def __init__(self, nodes: tuple[str, ...], timed: Timed) -> None:
        self._indices = {name: index for index, name in enumerate(nodes)}
        self._drift = ticks(timed.drift) or 0

    def initial(self) -> Faces:
        return (Face(0, frozenset(), False),) * len(self._indices)

    def observe(self, state: Faces, node: str, record: Any, /) -> Faces:
        if not isinstance(record, Ticked):
            return state
        at = self._indices[node]
        before = dict(state[at].timers)
        due = before.get(record.fired, NEVER)[0] if record.fired is not None else None
        faces = list(state) if due is None else self._advance(state, at, due)
        timers = dict(faces[at].timers)
        if record.fired is not None:  # if it stays armed, it is periodic and begins anew
            period = timers.pop(record.fired, NEVER)[1]
            timers[record.fired] = (period, period)
        timers |= {timer: (after, after) for timer, after in record.delays}
        kept = {timer: timers.get(timer, NEVER) for timer in record.armed}
        faces[at] = Face(faces[at].ahead, frozenset(kept.items()), record.held)
        return _normal(faces)

    def _advance(self, state: Faces, at: int, due: int) -> list[Face]:
        """The clock of `at` moves on by `due`, and pulls those along that are too far behind."""
        now = state[at].ahead + due
        faces = []
        for index, face in enumerate(state):
            elapsed = due if index == at else max(now - self._drift - face.ahead, 0)
            left = frozenset(
                (timer, (None if d is None else max(d - elapsed, 0), period))
                for timer, (d, period) in face.timers
            )
            faces.append(Face(face.ahead + elapsed, left, face.held))
        return faces

    def due(self, state: Faces, node: int, stimulus: Stimulus) -> bool:
        """Whether the clocks let it happen."""
        if stimulus[0] != "timer":
            return True
        own = state[node]
        mine = dict(own.timers).get(stimulus[1:], NEVER)[0]
        if mine is None:
            return True
        earliest = min(d for _, (d, _) in own.timers if d is not None)
        latest = own.ahead + mine - self._drift
        others = [
            face.ahead + d
            for face in state
            if not face.held
            for _, (d, _) in face.timers
            if d is not None
        ]
        return mine == earliest and all(deadline >= latest for deadline in others)


class Shielded:
    """A user's observer in a timed system: it is not told of ticks."""

    def __init__(self, observer: Any) -> None:
        self.observer = observer

    def initial(self) -> Any:
        return self.observer.initial()

    def observe(self, state: Any, node: str, record: Any, /) -> Any:
        ticked = isinstance(record, Ticked)
        return state if ticked else self.observer.observe(state, node, record)


def ticked(before: Control, stimulus: Stimulus, outcome: Outcome) -> Outcome:
    """`outcome` with the record of what it means for the clocks, if it means anything."""
    after = outcome.values[0]
    fired = stimulus[1:] if stimulus[0] == "timer" else None
    delays: Mapping[tuple[Any, ...], int | None] = outcome.delays or {}
    same = before[2] == after[2] and (before[0] == SLOW) == (after[0] == SLOW)
    if same and fired is None and not delays:
        return outcome
    record = Ticked(fired, frozenset(delays.items()), after[2], after[0] == SLOW)
    return outcome._replace(records=[*outcome.records, record])


def _normal(faces: list[Face]) -> Faces:
    slowest = min(face.ahead for face in faces)
    return tuple(face._replace(ahead=face.ahead - slowest) for face in faces)
