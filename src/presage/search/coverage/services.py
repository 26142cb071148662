"""Read the coverage of a search of services off the kernel's tables, in terms of the user's code.

A method that several classes share, by inheritance, is one thing: it ran if it ran in any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from presage._core import UP, Kernel
from presage._results import KernelCoverage, StopReason
from presage.model.service.automaton import Automaton
from presage.model.service.shape import Action, Handler
from presage.model.service.stream import Lost
from presage.model.source import place_of
from presage.search.coverage.report import Coverage, Growing, Guard, Ran
from presage.search.kernel.bridge import Bridge
from presage.search.report import Report

BEGINS = {"restart": "restart", "reset": "reset", "silent": "silent_reset"}  # stimulus: its fault
LEVELS_MIN = 8  # before a field that grew in each of them is worth a word
GROWN_MIN = 6

Key = tuple[Any, str]  # the function, and the message it is run for, if there are several


class _Tally(Struct):
    """What is known of one piece of code, over all nodes that have it."""

    name: str
    kind: str
    function: Callable[..., Any]
    guarded: bool = False
    steps: int = 0
    true: int = 0
    false: int = 0
    why: list[str] = []


def covered(bridge: Bridge, kernel: Kernel, report: Report) -> Coverage:
    """What the searches of `kernel` so far covered."""
    told = kernel.coverage()
    tallies: dict[Key, _Tally] = {}
    for node in bridge.automata:
        _Node(node, kernel, told, report.faults).count(tallies)
    ran = [
        Ran(
            each.name,
            each.kind,
            place_of(each.function),
            each.steps,
            each.why[0] if each.why and not each.steps else "",
        )
        for each in tallies.values()
    ]
    return Coverage(
        ran=ran,
        guards=[
            Guard(each.name, each.true, each.false) for each in tallies.values() if each.guarded
        ],
        faults=list(report.faults.items()),
        vacuous=list(_vacuous(bridge, report, told.reads)),
        growing=list(_growing(bridge, kernel, report)),
        partial=not report.exhausted,
    )


class _Node:
    """One node, and what the kernel says of it."""

    def __init__(
        self, node: Automaton, kernel: Kernel, told: KernelCoverage, faults: dict[str, int]
    ) -> None:
        self.node = node
        self.faults = faults
        self._kernel = kernel
        index = node.index
        self.delivered: dict[type, tuple[int, int]] = {}  # done and not, while the node was up
        for at, cls, status, done, count in told.deliveries:
            if at == index and status == UP:
                true, false = self.delivered.get(cls, (0, 0))
                more = (true + count, false) if done else (true, false + count)
                self.delivered[cls] = more
        self.sent = {cls for at, cls, _ in told.sent if at == index}
        self.own: dict[tuple[str, str, int], tuple[int, int]] = {}
        self.turns: Counter[int] = Counter()  # local states in which it is up, by calls made
        for at, kind, name, number, steps, states in told.own:
            if at == index and kind:
                self.own[kind, name, number] = (steps, states)
            elif at == index:
                self.turns[number] += steps

    def count(self, tallies: dict[Key, _Tally]) -> None:
        shape = self.node.shape
        if self.node.opaque:
            self._calls(tallies)
            return
        if shape.starts:
            again = sum(
                steps
                for (kind, _, _), (steps, _) in self.own.items()
                if kind in BEGINS and self.faults.get(BEGINS[kind])
            )
            self._tally(tallies, self.node.service.start, "start").steps += 1 + again
        for message, handler in shape.handlers.items():
            self._handler(tallies, message, handler)
        for name, timer in shape.timers.items():
            tally = self._tally(tallies, timer.function, "timer")
            tally.steps += self._steps("timer", name)
            armed = not tally.steps and self._kernel.armed(self.node.index, name)
            tally.why.append("armed, and never fired" if armed else "timer never armed")
        for action in shape.actions.values():
            self._action(tallies, action)
        self._calls(tallies)
        if shape.broken is not None:
            tally = self._tally(tallies, shape.broken[1], "broken")
            tally.steps += sum(n for cls, (n, _) in self.delivered.items() if cls is Lost)
            tally.why.append("no stream was ever lost")
        if shape.written is not None:
            tally = self._tally(tallies, shape.written.function, "written")
            tally.steps += sum(n for (kind, _, _), (n, _) in self.own.items() if kind == "write")
            tally.why.append("nothing was ever written")

    def _handler(self, tallies: dict[Key, _Tally], message: type, handler: Handler) -> None:
        shape = self.node.shape
        several = sum(each.function is handler.function for each in shape.handlers.values()) > 1
        named = message.__name__ if several else ""
        tally = self._tally(tallies, handler.function, "handler", named)
        mine = [cls for cls in self.delivered if shape.handler(cls) is handler]
        done = sum(self.delivered[cls][0] for cls in mine)
        false = sum(self.delivered[cls][1] for cls in mine)
        tally.steps += done
        if handler.guard is not None:
            tally.guarded = True
            tally.true += done
            tally.false += false
        if not any(shape.handler(cls) is handler for cls in self.sent):
            tally.why.append(f"no `{message.__name__}` was ever sent")
        elif tally.guarded and false:
            tally.why.insert(0, f"guard never true: {_times(tally.false)} false")
        else:
            tally.why.insert(0, "sent, and never delivered to a node that is up")

    def _action(self, tallies: dict[Key, _Tally], action: Action) -> None:
        tally = self._tally(tallies, action.function, "action")
        steps, states = self.own.get(("action", action.name, 0), (0, 0))
        tally.steps += steps
        if action.guard is not None:
            tally.guarded = True
            tally.true += states
            tally.false += self.turns.total() - states
        if tally.false:
            tally.why.insert(0, f"guard never true: {_times(tally.false)} false")
        if action.over is not None and action.guard is None:
            tally.why.append("`over` was always empty")
        tally.why.append("no state was expanded in which a node that has it is up")

    def _calls(self, tallies: dict[Key, _Tally]) -> None:
        for number, call in enumerate(self.node.workload):
            tally = self._tally(tallies, getattr(self.node.service, call.method), "call")
            steps = self.own.get(("call", "", number), (0, 0))[0]
            tally.steps += steps
            if call.when is not None:
                tally.guarded = True
                tally.true += steps
                tally.false += self.turns[number] - steps
            if tally.false:
                tally.why.insert(0, f"guard never true: {_times(tally.false)} false")
            tally.why.append("its turn in the workload never came")

    def _steps(self, kind: str, name: str) -> int:
        return self.own.get((kind, name, 0), (0, 0))[0]

    def _tally(
        self, tallies: dict[Key, _Tally], function: Any, kind: str, message: str = ""
    ) -> _Tally:
        key = (function, f"{kind} {message}")
        if key not in tallies:
            name = ".".join(function.__qualname__.split(".")[-2:])
            tallies[key] = _Tally(f"{name}({message})" if message else name, kind, function)
        return tallies[key]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _vacuous(
    bridge: Bridge, report: Report, reads: list[tuple[bool, bool]]
) -> Iterator[tuple[str, str]]:
    """Properties that held and could not have done otherwise."""
    here = "so far" if not report.exhausted else "here"
    for at, prop in enumerate(bridge.properties, 1):
        name = prop.name
        if prop.kind == "seal":
            if prop.name in bridge.vacuity.never_true(at):
                yield name, f"never sealed: the condition of seal `{name}` was not true {here}"
            continue
        if report.properties.get(name) != "held" or prop.kind in ("deadlock", "sometimes"):
            continue
        asked, varied = reads[at]
        everywhere = prop.kind == "always" or name in report.liveness
        if prop.kind == "step" and not bridge.vacuity.asked.get(at):
            yield name, f"`{name}` was asked of no step: it cannot fail {here}"
        elif everywhere and asked and not varied and report.unique > 1:
            yield name, f"`{name}` read nothing that ever changed: it cannot fail {here}"
        elif not report.symmetry:
            for left in bridge.vacuity.never_true(at):
                never = "was not true so far" if not report.exhausted else "was never true"
                yield name, f"`{name}` holds vacuously: its left side ({left}) {never}"


def _growing(bridge: Bridge, kernel: Kernel, report: Report) -> Iterator[Growing]:
    """Fields that grew as long as a search went on that a limit ended."""
    limited = report.stopped_by not in (None, StopReason.VIOLATION)
    if not limited or report.search not in ("bfs", "dfs"):
        return
    levels, grown = kernel.growth()
    for node, position, reached, grew in grown:
        if keeps_growing(levels, grew):
            automaton = bridge.automata[node]
            field = f"{automaton.name}.{automaton.fields[position - 1]}"
            initial = automaton.initial()[position]
            yield Growing(field, reached, hasattr(initial, "__len__"))


def keeps_growing(levels: int, grew: list[int]) -> bool:
    """Whether something that became larger in these levels did so all the time, to the end."""
    if levels < LEVELS_MIN or len(grew) < GROWN_MIN:
        return False
    patience = max(1, levels // 8)  # levels that a round of messages may take
    gaps = [after - before for before, after in zip(grew, grew[1:], strict=False)]
    begins, ends = grew[0] <= levels // 4, grew[-1] >= levels - 1 - patience
    return begins and ends and max(gaps) <= patience
