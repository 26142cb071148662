"""Which steps of a trace a reader can skip: repeated cycles, the loop of a lasso, local runs.

Steps that were named (the critical one, the bad one, those with a note) stay outside every fold,
so that nothing that matters is hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from presage.records import NamedTuple
from presage.trace.show import plural
from presage.trace.trace import Trace, TraceStep

PERIOD_MAX = 40  # steps of one round
ROUNDS_MIN = 3
REPEATED_MIN = 6  # steps; shorter repetitions are not worth a fold
LOCAL_MIN = 4
AFTER = 10  # steps behind a critical transition that stay visible
TAIL_MIN = 10
LOCAL = frozenset({"timer", "action", "call", "write", "slow", "wake"})


class Fold(NamedTuple):
    """Steps `first` to `last`, both included."""

    first: int
    last: int
    kind: str  # lasso: repeats for ever; cycle: rounds; local: touches nobody; tail: dead
    period: int  # steps of one round

    @property
    def text(self) -> str:
        """What a fold says in place of its steps."""
        count = self.last - self.first + 1
        steps = plural(count, "step")
        if self.kind == "lasso":
            return f"{steps} that repeat for ever"
        if self.kind == "cycle":
            return f"{steps}: {count // self.period} rounds of {plural(self.period, 'step')}"
        if self.kind == "tail":
            return f"{steps} more, and nothing recovers"
        return f"{steps} at one node, no message"


def folds(trace: Trace, keep: Collection[int] = ()) -> tuple[Fold, ...]:
    """What can be folded, in order, none overlapping; the steps in `keep` stay visible."""
    steps, kept = trace.steps, {*keep, trace.critical, *(step for step, _ in trace.notes)}
    if trace.loop is None and trace.critical is None:
        kept.add(trace.step)
    end = _end(trace, kept)
    last = len(steps) if end is None else end.first - 1
    names = [(step.node, step.kind, step.label) for step in steps]
    found: list[Fold] = []
    at = 1
    while at <= last:
        fold = _cycle(names, at, last, kept) or _local(steps, at, last, kept)
        if fold is not None:
            found.append(fold)
        at = at + 1 if fold is None else fold.last + 1
    return tuple(found if end is None else [*found, end])


def _end(trace: Trace, kept: Collection[int | None]) -> Fold | None:
    """The loop of a lasso; or what comes some steps after a critical transition."""
    last = len(trace.steps)
    if trace.loop is not None:
        return Fold(trace.loop, last, "lasso", last - trace.loop + 1)
    if trace.critical is None or trace.kind == "live":
        return None
    first = max(step for step in (trace.critical, *kept) if step is not None) + AFTER + 1
    return Fold(first, last, "tail", 1) if last - first + 1 >= TAIL_MIN else None


def _cycle(
    names: Sequence[object], at: int, last: int, kept: Collection[int | None]
) -> Fold | None:
    """The longest repetition that begins at step `at`."""
    best: Fold | None = None
    for period in range(1, PERIOD_MAX + 1):
        end = at + period
        if end > last or names[at - 1] != names[end - 1]:
            continue
        while end <= last and names[end - 1] == names[end - 1 - period]:
            end += 1
        for named in sorted(step for step in kept if step is not None and at <= step < end):
            end = named
            break
        rounds = (end - at) // period
        length = rounds * period
        if rounds >= ROUNDS_MIN and length >= max(REPEATED_MIN, best.last - at + 2 if best else 0):
            best = Fold(at, at + length - 1, "cycle", period)
    return best


def _local(
    steps: Sequence[TraceStep], at: int, last: int, kept: Collection[int | None]
) -> Fold | None:
    """The run of steps of one node from `at` on in which nothing is sent or received."""
    end, node = at, steps[at - 1].node
    while end <= last and end not in kept and _is_local(steps[end - 1], node):
        end += 1
    return Fold(at, end - 1, "local", 1) if end - at >= LOCAL_MIN else None


def _is_local(step: TraceStep, node: str) -> bool:
    return step.node == node and step.kind in LOCAL and not step.sends and step.failure is None
