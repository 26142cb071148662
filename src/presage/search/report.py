"""The outcome of a search, as data: what was covered, what held, what broke and how.

Nothing here prints; `ui` makes text of it and `to_json` the object that `--json` prints. A report
never claims more than was done: `exhausted` is true only if every reachable state was examined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from presage._results import StopReason
from presage.errors import EXIT_NONDETERMINISM, EXIT_USAGE, OrderDependence, PropertyError
from presage.execution.causes import cause_of
from presage.records import record
from presage.search.summary import html, numbers, plain, verdict
from presage.trace.trace import common, plain_parameters

if TYPE_CHECKING:
    from presage.search.alike.skipped import Skipped
    from presage.search.coverage.report import Coverage
    from presage.search.delay.cycles import Cycled
    from presage.search.delay.run import Delayed
    from presage.search.kernel.order import OrderDependent
    from presage.search.twin.compare import Compared
    from presage.trace.trace import Trace

EXIT_HELD = 0
EXIT_VIOLATION = 1

PARTIAL = "not all was looked at; `assert_holds(allow_partial=True)` takes that for enough"
STEPS_TOLD = 20  # of a trace, in the text of an assertion; the file has them all


@record(frozen=True, repr=False)
class Violation:
    """A property, the trace that breaks it, and where."""

    prop: str
    kind: str  # safety, liveness, exception, deadlock, unreached
    message: str  # why it does not hold
    step: int = 0  # 1-based index of the bad step; 0 is the initial state
    steps: int = 0
    critical: int | None = None  # the step that enters the first dead state; 0: the initial one is
    loop: int | None = None  # the step from which on the trace repeats for ever; None: it ends
    fairness: str | None = None  # what was assumed of the loop
    dead: bool | None = None  # liveness: whether no continuation recovers; None: not known
    evidence: str = "exact"  # or how many walks of what length
    walked: int | None = None  # how long the execution was of which the trace is the beginning
    recovery: tuple[tuple[int, int, int], ...] = ()  # (steps taken, walks that recovered, walks)
    trace: Trace | None = None
    trace_path: str | None = None
    live: Trace | None = None  # the nearest execution that recovers, or that keeps the property
    live_path: str | None = None
    delays: int | None = None  # what it cost, in a search by delays
    found: int | None = None  # steps to where it breaks, or is critical, before some were left out
    source: str = ""  # file:line of the property
    signature: str = ""  # `def one_root(world)`

    def __repr__(self) -> str:
        return f"<Violation: {self.fact}>"

    @property
    def cause(self) -> str:
        """What it is due to: the same for all that breaks the property in the same way."""
        if self.trace is None or self.kind == "liveness":
            return self.prop
        return cause_of(self.prop, self.message, self.trace.nodes)

    @property
    def fact(self) -> str:
        """What happened, in one clause that begins with the property's name."""
        if self.kind == "unreached":
            return f"{self.prop} is never reached"
        if self.critical == 0:
            return f"{self.prop} can never hold"
        if self.critical is not None:
            return f"{self.prop} never holds again after step {self.critical}"
        if self.walked is not None:
            return f"{self.prop} did not hold again within {self.walked:,} steps"
        if self.loop is not None:
            return f"{self.prop} need not hold again: {self.round}"
        stuck = self.kind == "deadlock" or self.prop == "no_deadlock"
        at_rest = stuck or self.kind == "liveness"
        where = f"{'after' if at_rest else 'at'} step {self.step}"
        if self.step == 0:
            where = "in the initial state"
        if stuck:
            return f"{self.prop} fails: nothing can happen {where}"
        return f"{self.prop} {'does not hold at rest' if at_rest else 'fails'} {where}"

    @property
    def differs_at(self) -> int | None:
        """The first step that the nearest good run does not have in common with this one."""
        if self.trace is None or self.live is None:
            return None
        return common(self.trace.steps, self.live.steps) + 1

    @property
    def round(self) -> str:
        """Which steps repeat, in one clause; "" if none do."""
        if self.loop is None:
            return ""
        if self.loop == self.steps:
            return f"step {self.loop} repeats for ever"
        return f"steps {self.loop} to {self.steps} repeat for ever"

    @property
    def outlook(self) -> str:
        """Whether anything recovers from where a liveness violation ends; "" if not known."""
        if self.kind != "liveness" or self.dead is None:
            return ""
        if self.dead:
            return "dead end: no continuation recovers"
        if self.loop is None:
            return "stuck: nothing but a fault leads on, and some fault may recover"
        return "livelock: other continuations recover, and none has to be taken"

    def explanation(self) -> str:
        """The whole story in plain text, as the message of a failed assertion."""
        return "\n".join(self._told())

    def _told(self) -> Iterator[str]:
        yield f"violation[{self.kind}] {self.fact}"
        if self.message:
            yield f"  why: {self.message}"
        if self.loop is not None:
            yield f"  loop: repeats from step {self.loop}, fairness assumed: {self.fairness}"
        if self.outlook:
            yield f"  {self.outlook}"
        steps = self.trace.steps if self.trace else ()
        if len(steps) > STEPS_TOLD:
            yield f"  ... {len(steps) - STEPS_TOLD} steps before"
        for step in steps[-STEPS_TOLD:]:
            label = "" if step.label == step.kind else step.label
            yield f"  {step.index:>4}  {step.node}  {step.kind:<9}  {label}".rstrip()
        if self.source:
            yield f"  property: {self.source}  {self.signature}".rstrip()
        if self.trace_path:
            yield f"  replay: presage replay {self.trace_path}"

    def to_json(self) -> dict[str, Any]:
        return {
            "property": self.prop,
            "kind": self.kind,
            "cause": self.cause,
            "message": self.message,
            "step": self.step,
            "steps": self.steps,
            "critical": self.critical,
            "loop": self.loop,
            "fairness": self.fairness,
            "dead": self.dead,
            "evidence": self.evidence,
            "walked": self.walked,
            "recovery": [list(share) for share in self.recovery],
            "found": self.found,
            "delays": self.delays,
            "trace": self.trace_path,
            "live": self.live_path,
            "differs_at": self.differs_at,
        }


@record(frozen=True)
class Surveyed:
    """How many states can still reach a property, under which fairness cycles were looked for."""

    fairness: str
    live: int  # states from which some continuation reaches it
    unknown: int  # states behind which something was not explored
    dead: int
    critical: int  # transitions from a live state to a dead one

    def to_json(self) -> dict[str, Any]:
        return {
            "fairness": self.fairness,
            "live": self.live,
            "unknown": self.unknown,
            "dead": self.dead,
            "critical_transitions": self.critical,
        }


@record(frozen=True)
class Hunted:
    """How the executions of a hunt ended."""

    live: int  # calm walks that recovered
    rest: int  # that stopped without recovering
    long: int  # that were as long as a walk may be
    duplicate: int  # executions of the tree that met a state again
    choices: int  # how many the tree is deep
    complete: bool  # the tree, or runs in the order of delays, met all there is
    delays: int = 0  # how many runs had
    lengths: tuple[int, ...] = ()  # of walks that recovered, ascending
    locating: float = 0.0  # seconds spent on critical transitions

    def to_json(self) -> dict[str, Any]:
        return {
            "live": self.live,
            "rest": self.rest,
            "long": self.long,
            "duplicate": self.duplicate,
            "choices": self.choices,
            "delays": self.delays,
            "complete": self.complete,
            "locating_seconds": self.locating,
            "steps_to_live": {str(share): self.within(share / 100) for share in (50, 90, 99, 100)},
        }

    def within(self, share: float) -> int | None:
        """The steps within which this share of walks recovered; None if none did."""
        if not self.lengths:
            return None
        return self.lengths[min(int(share * len(self.lengths)), len(self.lengths) - 1)]


@record(frozen=True, repr=False)
class Report:
    """What one search did and found; nothing writes into it.

    `unique`, `generated` and `depth` count the initial state.
    """

    presage: str = ""  # version
    target: str | None = None  # as given on the command line; None: checked from Python
    search: str = "bfs"
    seed: int = 0
    reduction: str = "none"  # or sleep: orders that lead to the same state were left out
    symmetry: bool = False  # states that differ by exchanging nodes counted as one
    calm: bool = False  # walks without faults
    parameters: dict[str, Any] = field(default_factory=dict)
    exhausted: bool = False
    stopped_by: StopReason | None = None
    unique: int = 0
    generated: int = 0
    depth: int = 0
    executions: int = 0
    traces: int = 0
    handler_runs: int = 0
    property_runs: int = 0
    faults: dict[str, int] = field(default_factory=dict)  # every configured one: how often
    seconds: float = 0.0
    peak_mib: float = 0.0
    collision_probability: float = 0.0
    properties: dict[str, str] = field(
        default_factory=dict
    )  # held violated reached unreached unknown error
    liveness: dict[str, Surveyed] = field(default_factory=dict)  # of `eventually` properties
    hunted: Hunted | None = None  # by `hunt`
    delayed: Delayed | None = None  # by `delay` and `cycles`
    cycled: Cycled | None = None  # by `cycles`
    skipped: Skipped | None = None  # faults that are like others, where asked for
    violations: tuple[Violation, ...] = ()
    known: tuple[tuple[str, str], ...] = ()  # property and cause: met, and no violation anew
    errors: tuple[str, ...] = ()  # of properties that raised
    orders: tuple[OrderDependent, ...] = ()  # what depends on an order
    leaves_out: tuple[str, ...] = ()  # what no search of this system looks at
    assumes: tuple[str, ...] = ()  # what was taken for granted, as by the seals of the system
    notes: tuple[str, ...] = ()
    nodes: int = 0
    system: str = ""  # its name
    resumed_from: int | None = None  # states in the checkpoint it went on from
    checkpoints: int = 0  # written by this process
    coverage: Coverage | None = None  # what ran, and what never did
    compared: Compared | None = None  # with a second process or order; None: nothing to look for

    def __str__(self) -> str:
        return plain(self)

    def __repr__(self) -> str:
        head = "".join(text for text, _ in verdict(self))
        return f"<Report of {self.system or 'a system'}: {head}; {', '.join(numbers(self))}>"

    def _repr_html_(self) -> str:
        return html(self)

    @property
    def is_partial(self) -> bool:
        """Whether a limit or Ctrl-C ended the search, left a property unknown, or a heuristic left
        something out.
        """
        limited = self.stopped_by not in (None, StopReason.VIOLATION)
        return limited or self.is_heuristic or "unknown" in self.properties.values()

    @property
    def is_heuristic(self) -> bool:
        """Whether faults were left out that may lead to states which nothing else leads to.

        The search `semantic` claims nothing for states that it did not meet.
        """
        if self.search == "semantic":
            return True
        return self.skipped is not None and self.skipped.is_heuristic

    @property
    def nothing_ended(self) -> bool:
        """Whether a search that follows executions to their ends met no end at all."""
        return self.search == "tree" and self.is_partial and not self.traces and not self.violations

    @property
    def exit_status(self) -> int:
        """0 held within its limits, 1 a violation, 2 something could not be judged: a property that
        raises, executions of which none was followed to its end, or a part of the search was lost.

        3 if some code depends on the order of a set or dict, or on the process it runs in: what was
        found is found, but what held held in one order of many.
        """
        if self.orders:
            return EXIT_NONDETERMINISM
        if self.violations:
            return EXIT_VIOLATION
        lost = self.stopped_by is StopReason.LOST
        return EXIT_USAGE if self.errors or self.nothing_ended or lost else EXIT_HELD

    def assert_holds(self, *, allow_partial: bool = False) -> None:
        """Raise `AssertionError` with the story of every violation; do nothing if all held.

        A search that a limit ended, or that left a property unknown, has not shown that it holds:
        that is an `AssertionError` too, with the summary, unless `allow_partial`. Random walks and
        hunts that made as many executions as they were asked for have done what they can, but a
        `sometimes` that they did not reach is not shown either. Code that depends on an order is an
        `OrderDependence`.
        """
        __tracebackhide__ = True  # pytest shows the test, not this function
        orders = [str(found) for found in self.orders]
        if self.violations:
            stories = [violation.explanation() for violation in self.violations]
            raise AssertionError("\n\n".join([*stories, *orders]))
        if orders:
            raise OrderDependence("\n".join(orders))
        if self.errors:
            raise PropertyError("\n".join(self.errors))
        shown = not self.is_partial and "unreached" not in self.properties.values()
        if self.nothing_ended or not (shown or allow_partial):
            raise AssertionError(f"{self}\n  {PARTIAL}")

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints; keys are added, never renamed."""
        second = self.compared if self.compared and not self.compared.in_process else None
        return {
            "presage": self.presage,
            "target": self.target,
            "search": self.search,
            "seed": self.seed,
            "reduction": self.reduction,
            "symmetry": self.symmetry,
            "calm": self.calm,
            "parameters": plain_parameters(self.parameters),
            "exhausted": self.exhausted,
            "stopped_by": self.stopped_by,
            "states": {"unique": self.unique, "generated": self.generated, "depth": self.depth},
            "executions": self.executions,
            "traces": self.traces,
            "handler_runs": self.handler_runs,
            "property_runs": self.property_runs,
            "faults": dict(self.faults),
            "seconds": self.seconds,
            "peak_mib": self.peak_mib,
            "collision_probability": self.collision_probability,
            "properties": dict(self.properties),
            "liveness": {name: surveyed.to_json() for name, surveyed in self.liveness.items()},
            "hunt": None if self.hunted is None else self.hunted.to_json(),
            "delay": None if self.delayed is None else self.delayed.to_json(),
            "cycles": None if self.cycled is None else self.cycled.to_json(),
            "skip": None if self.skipped is None else self.skipped.to_json(),
            "violations": [violation.to_json() for violation in self.violations],
            "known": [{"property": prop, "cause": cause} for prop, cause in self.known],
            "errors": list(self.errors),
            "order_dependence": [found.to_json() for found in self.orders],
            "second_process": None if second is None else second.to_json(),
            "leaves_out": list(self.leaves_out),
            "assumes": list(self.assumes),
            "notes": list(self.notes),
            "resumed_from": self.resumed_from,
            "checkpoints": self.checkpoints,
            "coverage": None if self.coverage is None else self.coverage.to_json(),
        }


def with_notes(report: Report, notes: Iterable[str]) -> Report:
    """A report with more notes, each of them once."""
    return replace(report, notes=tuple(dict.fromkeys([*report.notes, *notes])))


def with_reservation(report: Report) -> Report:
    """A report that says of no property that it held, if a heuristic left states out."""
    if not report.is_heuristic:
        return report
    statuses = report.properties.items()
    properties = {name: "unknown" if said == "held" else said for name, said in statuses}
    return replace(report, properties=properties)
