"""Wall time without numbers: a `Moment` is some time, a `Lapse` the time between two.

How long things take is not known to a model, so a comparison is a choice: a search tries both
answers. All moments are one value, so time never makes a state new; what a node may learn from the
clock it learns by comparing.

A node that runs live has a clock. Its moments hold what the clock said, and comparisons are
answered by these numbers. Only `Codec(live=True)` writes them: to a search they are unknown again.

Invariant: equality answers only outside handlers, where it means equality of states.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from operator import ge, gt, le, lt
from typing import Any

from presage.errors import BadCall
from presage.model.choice import Chooser
from presage.model.source import caller
from presage.records import record

# The chooser of the handler that this thread runs; a moment has no other way to reach it.
ACTIVE: ContextVar[Chooser | None] = ContextVar("ACTIVE", default=None)

BOTH = (1.0, 1.0)
Number = int | float
Relation = Callable[[Number, Number], bool]


def _decide(
    one: _Time, other: _Time | Number, relation: Relation, likely: bool | None = None
) -> bool:
    """What the numbers say; without them either answer, in a calm walk the likely one."""
    chooser = ACTIVE.get()
    if chooser is None:
        raise BadCall(
            f"{caller()}: two times are compared outside a handler",
            "a guard, an action's `over` or a property that looks at the clock",
            "compare in a handler, and keep the answer in a field",
        )
    mine, theirs = one.number, _number(other)
    if mine is not None and theirs is not None:
        return chooser.note(relation(mine, theirs))
    weights = BOTH if likely is None else (1.0 - likely, float(likely))
    return chooser.pick(2, weights) == 1


def _number(time: _Time | Number) -> Number | None:
    return time.number if isinstance(time, _Time) else time


def _together(one: _Time, other: _Time | Number, sign: int) -> float | None:
    """The sum of the numbers, or their difference; None if one of them is not known."""
    mine, theirs = one.number, _number(other)
    return None if mine is None or theirs is None else mine + sign * theirs


class _Time:
    __slots__ = ("_presage_number",)  # the name that the codec knows; not set: not known

    def __init__(self, number: float | None = None) -> None:
        if number is not None:
            object.__setattr__(self, "_presage_number", float(number))

    @property
    def number(self) -> float | None:
        """Seconds, in a node that runs live; None: not known, as in every search."""
        return getattr(self, "_presage_number", None)

    def _comparable(self, other: object) -> bool:
        raise NotImplementedError

    def __lt__(self, other: Any) -> bool:
        return _decide(self, other, lt) if self._comparable(other) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        return _decide(self, other, gt) if self._comparable(other) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return _decide(self, other, le) if self._comparable(other) else NotImplemented

    def __ge__(self, other: Any) -> bool:
        return _decide(self, other, ge) if self._comparable(other) else NotImplemented

    def __eq__(self, other: object) -> bool:
        chooser = ACTIVE.get()
        if chooser is not None and isinstance(other, _Time):
            chooser.refuse(
                BadCall(
                    f"{caller()}: two times are compared for equality",
                    "times in a set, as keys, or in messages that are compared",
                    "compare with `<` or `after`; keep times in fields or as values of a dict",
                )
            )
        return type(self) is type(other)

    def __hash__(self) -> int:
        return 1


@record(frozen=True, eq=False, init=False)
class Lapse(_Time):
    """The time between two moments."""

    __slots__ = ()

    def _comparable(self, other: object) -> bool:
        return _is_lapse(other)

    def longer(self, than: Lapse | Number, *, likely: bool | None = None) -> bool:
        """Whether it is longer than `than`; `likely` is the answer in calm walks."""
        return _decide(self, than, gt, likely) if _is_lapse(than) else self > than

    def shorter(self, than: Lapse | Number, *, likely: bool | None = None) -> bool:
        """Whether it is shorter than `than`; `likely` is the answer in calm walks."""
        return _decide(self, than, lt, likely) if _is_lapse(than) else self < than

    def __repr__(self) -> str:
        return "<some time>" if self.number is None else f"<{self.number:.6g} s>"


@record(frozen=True, eq=False, init=False)
class Moment(_Time):
    """A reading of the wall clock. `self.now()` gives one."""

    __slots__ = ()

    def _comparable(self, other: object) -> bool:
        return isinstance(other, Moment)

    def after(self, other: Moment, *, likely: bool | None = None) -> bool:
        """Whether it is later than `other`; `likely` is the answer in calm walks."""
        return _decide(self, other, gt, likely) if isinstance(other, Moment) else self > other

    def before(self, other: Moment, *, likely: bool | None = None) -> bool:
        """Whether it is earlier than `other`; `likely` is the answer in calm walks."""
        return _decide(self, other, lt, likely) if isinstance(other, Moment) else self < other

    def __add__(self, delay: Lapse | Number) -> Moment:
        return Moment(_together(self, delay, 1)) if _is_lapse(delay) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Moment):
            return Lapse(_together(self, other, -1))
        return Moment(_together(self, other, -1)) if _is_lapse(other) else NotImplemented

    def __repr__(self) -> str:
        return "<some moment>" if self.number is None else f"<moment {self.number:.3f}>"


def _is_lapse(value: object) -> bool:
    return isinstance(value, Lapse | int | float) and not isinstance(value, bool)


@record
class Counter:
    """A monotone clock: a number that grows with every reading and survives a crash."""

    value: int = 0

    def next(self) -> int:
        """A number larger than any before."""
        self.value += 1
        return self.value
