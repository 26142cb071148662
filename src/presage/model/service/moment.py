"""Wall time without numbers: a `Moment` is some time, a `Lapse` the time between two.

How long things take is not known to a model, so a comparison is a choice: a search tries both
answers. All moments are one value, so time never makes a state new; what a node may learn from the
clock it learns by comparing.

Invariant: equality answers only outside handlers, where it means equality of states.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from presage.errors import BadCall
from presage.model.choice import Chooser
from presage.model.source import caller

# The chooser of the handler that this thread runs; a moment has no other way to reach it.
ACTIVE: ContextVar[Chooser | None] = ContextVar("ACTIVE", default=None)

BOTH = (1.0, 1.0)
Number = int | float


def _decide(likely: bool | None) -> bool:
    """Either answer; in a calm walk the likely one, if one is."""
    chooser = ACTIVE.get()
    if chooser is None:
        raise BadCall(
            f"{caller()}: two times are compared outside a handler",
            "a guard, an action's `over` or a property that looks at the clock",
            "compare in a handler, and keep the answer in a field",
        )
    weights = BOTH if likely is None else (1.0 - likely, float(likely))
    return chooser.pick(2, weights) == 1


class _Time:
    __slots__ = ()

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


@dataclass(frozen=True, eq=False)
class Lapse(_Time):
    """The time between two moments."""

    def __lt__(self, other: Lapse | Number) -> bool:
        return _decide(None) if _is_lapse(other) else NotImplemented

    __gt__ = __le__ = __ge__ = __lt__

    def longer(self, than: Lapse | Number, *, likely: bool | None = None) -> bool:
        """Whether it is longer than `than`; `likely` is the answer in calm walks."""
        return _decide(likely) if _is_lapse(than) else self > than

    def shorter(self, than: Lapse | Number, *, likely: bool | None = None) -> bool:
        """Whether it is shorter than `than`; `likely` is the answer in calm walks."""
        return _decide(likely) if _is_lapse(than) else self < than

    def __repr__(self) -> str:
        return "<some time>"


@dataclass(frozen=True, eq=False)
class Moment(_Time):
    """A reading of the wall clock. `self.now()` gives one."""

    def __lt__(self, other: Moment) -> bool:
        return _decide(None) if isinstance(other, Moment) else NotImplemented

    __gt__ = __le__ = __ge__ = __lt__

    def after(self, other: Moment, *, likely: bool | None = None) -> bool:
        """Whether it is later than `other`; `likely` is the answer in calm walks."""
        return _decide(likely) if isinstance(other, Moment) else self > other

    def before(self, other: Moment, *, likely: bool | None = None) -> bool:
        """Whether it is earlier than `other`; `likely` is the answer in calm walks."""
        return _decide(likely) if isinstance(other, Moment) else self < other

    def __add__(self, delay: Lapse | Number) -> Moment:
        return self if _is_lapse(delay) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Moment):
            return Lapse()
        return self if _is_lapse(other) else NotImplemented

    def __repr__(self) -> str:
        return "<some moment>"


def _is_lapse(value: object) -> bool:
    return isinstance(value, Lapse | int | float) and not isinstance(value, bool)


@dataclass
class Counter:
    """A monotone clock: a number that grows with every reading and survives a crash."""

    value: int = 0

    def next(self) -> int:
        """A number larger than any before."""
        self.value += 1
        return self.value
