"""A system at growing sizes: which sizes were searched whole, which were cut, which not tried.

A point gives a value to each swept parameter. Points are searched from the smallest on, in the
order of the sum of their places. One that is at least as large in every parameter as a point which
was cut or could not be judged is not tried: it would be cut, too. Points that are searched next to
each other share the time that is left. A point counts as exhausted only if its report says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import product
from typing import Any

from presage._results import StopReason
from presage.errors import EXIT_NONDETERMINISM, EXIT_USAGE, BadSystem, PresageError
from presage.execution.budget import Budget
from presage.records import record
from presage.search.report import EXIT_HELD, EXIT_VIOLATION, Report

POINTS_MAX = 10_000
# The worst first: what a command about several systems ends with.
STATUSES = (EXIT_NONDETERMINISM, EXIT_VIOLATION, EXIT_USAGE, EXIT_HELD)

Place = tuple[int, ...]
Run = Callable[["Item", float | None], Report]  # what searches an item, in so many seconds


@record(frozen=True)
class Item:
    """One system of several, and what became of it."""

    target: str
    parameters: dict[str, str] = field(default_factory=dict)  # those that differ between items
    place: Place = ()  # how large each parameter is, among its values
    report: Report | None = None
    error: PresageError | None = None
    reason: str = ""  # why it was not tried, or cut

    @property
    def name(self) -> str:
        """`clients=2, servers=3`, or the target."""
        pairs = (f"{name}={value}" for name, value in self.parameters.items())
        return ", ".join(pairs) or self.target

    @property
    def status(self) -> str:
        """`exhausted`, `sampled`, `cut`, `violated`, `error` or `untried`."""
        if self.error is not None:
            return "error"
        if self.report is None:
            return "untried"
        if self.report.violations:
            return "violated"
        if self.report.exit_status != EXIT_HELD:
            return "error"
        if self.report.is_partial:
            return "cut"
        return "exhausted" if self.report.exhausted else "sampled"

    @property
    def exit_status(self) -> int:
        if self.error is not None:
            return self.error.exit_status
        return EXIT_HELD if self.report is None else self.report.exit_status

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "parameters": self.parameters,
            "status": self.status,
            "reason": self.reason,
            "error": None if self.error is None else str(self.error),
            "report": None if self.report is None else self.report.to_json(),
        }


def exit_status(items: Sequence[Item]) -> int:
    """The worst of several: nondeterminism, a violation, what could not be judged, nothing."""
    found = {item.exit_status for item in items}
    return next((status for status in STATUSES if status in found), max(found, default=EXIT_HELD))


def points(target: str, axes: Mapping[str, Sequence[str]]) -> list[Item]:
    """Every point of `axes`, the smallest first."""
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > POINTS_MAX:
        raise BadSystem(
            f"the sweep has {count:,} points",
            "ranges of several parameters multiply",
            f"give narrower ones: at most {POINTS_MAX:,} points",
        )
    places = product(*(range(len(values)) for values in axes.values()))
    ordered = sorted(places, key=lambda place: (sum(place), place))
    return [
        Item(target, {name: axes[name][at] for name, at in zip(axes, place, strict=True)}, place)
        for place in ordered
    ]


def swept(items: Sequence[Item], run: Run, budget: Budget, *, keep_going: bool) -> list[Item]:
    """The same items, searched as far as time allows; without `keep_going` to the first violation.

    Items without a place are searched one after the other, whatever becomes of them.
    """
    done: list[Item] = []
    for at, item in enumerate(items):
        reason = _obstacle(item, done, budget, keep_going=keep_going)
        if reason:
            done.append(replace(item, reason=reason))
            continue
        seconds = budget.remaining()
        if seconds is not None:
            seconds /= 1 + sum(_beside(item, other, done) for other in items[at + 1 :])
        try:
            done.append(_finished(replace(item, report=run(item, seconds))))
        except PresageError as error:
            done.append(replace(item, error=error, reason=str(error).partition("\n")[0]))
    return done


def _finished(item: Item) -> Item:
    assert item.report is not None
    stopped = item.report.stopped_by
    return replace(item, reason=f"`{stopped}`") if item.status == "cut" and stopped else item


def _obstacle(item: Item, done: Sequence[Item], budget: Budget, *, keep_going: bool) -> str:
    """Why an item is not tried; "" if it is."""
    for other in done:
        if other.report is not None and other.report.stopped_by is StopReason.INTERRUPT:
            return "interrupted"
        if item.place and other.status == "violated" and not keep_going:
            return f"{other.name} is violated already"
        if item.place and other.status in ("cut", "error") and _behind(other, item):
            return f"behind {other.name}"
    return "no time was left" if budget.remaining() == 0 else ""


def _behind(small: Item, large: Item) -> bool:
    """Whether one is at least as large in every parameter."""
    return all(one <= other for one, other in zip(small.place, large.place, strict=True))


def _beside(item: Item, other: Item, done: Sequence[Item]) -> bool:
    """Whether the time that is left is needed for another one, too, whatever becomes of this."""
    if not item.place:
        return True
    cut = (each for each in done if each.status in ("cut", "error"))
    level = sum(item.place) == sum(other.place)
    return level and not any(_behind(each, other) for each in cut)


def frontier(items: Sequence[Item]) -> list[Item]:
    """The largest points that were searched whole: no other such point is as large in all."""
    whole = [item for item in items if item.status == "exhausted"]
    return [
        item for item in whole if not any(_behind(item, other) for other in whole if other != item)
    ]


def causes(items: Sequence[Item]) -> dict[tuple[str, str], list[Item]]:
    """The items that each property and cause of a violation was found in, the first one first."""
    found: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        for key in _broken(item):
            found.setdefault(key, []).append(item)
    return found


def _broken(item: Item) -> Iterator[tuple[str, str]]:
    violations = item.report.violations if item.report else ()
    yield from dict.fromkeys((each.prop, each.cause) for each in violations)
