"""One ordinary run: a random execution, so that one sees a system before one sees it fail.

A seed stands for one execution, everywhere. Unless faults are asked for, none happens. Every
property is asked after every step; the run ends where one breaks, where nothing more can happen, or
after as many steps as it may have.
"""

from __future__ import annotations

from typing import Any

import msgspec

from presage.errors import BadChoice
from presage.execution.chance import Dice
from presage.execution.processes import ProcessExecution, PropertyFailure
from presage.execution.protocol import NO_EXCEPTION, PropertyStatus
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.system import System
from presage.model.world.world import World
from presage.process.fence import Fence
from presage.process.ops import Publish
from presage.process.program import Program
from presage.process.world import Choice
from presage.props.property import Property
from presage.records import record
from presage.search.options import misplaced
from presage.search.processes import ALWAYS_JUDGED
from presage.search.run_findings import violation_of_run
from presage.search.settings import Settings
from presage.trace.show import plural
from presage.trace.trace import ORDINARY, Sent, Trace

STEPS_DEFAULT = 50  # of services
STEPS_DEFAULT_PROGRAM = 10_000  # programs end
KINDS = {"deadlock": "deadlock", "eventually": "liveness"}  # of violations; others: safety


@record(frozen=True)
class Once:
    """One execution, and what is to be said of it."""

    trace: Trace
    at_rest: bool  # nothing but a fault can happen at its end
    properties: dict[str, str]  # held, violated, reached, unreached; open: only its end can tell
    opening: tuple[Sent, ...] = ()  # what the nodes sent when they started

    @property
    def is_broken(self) -> bool:
        return self.trace.prop != ORDINARY

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints, but for where the trace was saved."""
        return {
            "seed": self.trace.seed,
            "steps": len(self.trace.steps),
            "at_rest": self.at_rest,
            "violated": self.trace.prop if self.is_broken else None,
            "message": self.trace.message,
            "properties": dict(self.properties),
            "assumes": [text for lead, text in self.trace.remarks if lead == "assumes"],
        }


def run_once(
    system: System | Program,
    settings: Settings,
    *,
    steps: int | None = None,
    faults: bool = False,
) -> Once:
    """Run `system` once, by chance; `faults`: let them happen, as far as the system allows them."""
    with Sandbox(settings.handler_seconds, settings.give_up) as sandbox:
        if isinstance(system, Program):
            if faults:
                raise misplaced("`faults`", program=True)
            with Fence():
                return _program(system, settings, steps or STEPS_DEFAULT_PROGRAM, sandbox)
        return _Services(system, settings, sandbox, faults=faults).run(steps or STEPS_DEFAULT)


class _Services:
    def __init__(
        self, system: System, settings: Settings, sandbox: Sandbox, *, faults: bool
    ) -> None:
        self._system = system
        self._settings = settings
        self._faults = faults
        self._sandbox = sandbox
        self._dice = Dice(settings.seed)
        self._choices: tuple[int, ...] = ()
        self._execution = ServiceExecution(system, sandbox, self._started())
        self._reached: set[str] = set()

    def run(self, most: int) -> Once:
        broke = self._broken(at_end=False)
        run, calm = self._execution, not self._faults
        while broke is None and len(run.steps) < most:
            if not run.wander(self._dice, run.likely(calm=calm)):
                break
            broke = self._broken(at_end=False)
        at_rest: bool = self._sandbox.run(self._execution.world.at_rest)
        if broke is None and at_rest:
            broke = self._broken(at_end=True)
        return self._told(broke, at_rest=at_rest)

    def _started(self) -> World:
        """The world after every start, whose choices are drawn, too."""
        while True:
            try:
                world: World = self._sandbox.run(World.initial, self._system, self._choices)
                return world
            except BadChoice as missing:
                if missing.k is not None or missing.n is None:
                    raise
                self._choices = (*self._choices, int(self._dice.below(missing.n)))

    def _broken(self, *, at_end: bool) -> tuple[str, PropertyStatus] | None:
        """The first property that is broken here, and what it says."""
        for name, said in self._execution.statuses(at_end=at_end).items():
            if said.kind == "sometimes":
                self._reached |= {name} if said.holds else set()
            elif said.holds is False and (at_end or said.kind not in KINDS):
                return name, said
        return None

    def _told(self, broke: tuple[str, PropertyStatus] | None, *, at_rest: bool) -> Once:
        settings, facts = self._settings, {"prop": ORDINARY, "kind": "live"}
        facts["message"] = ended(len(self._execution.steps), at_rest=at_rest)
        if broke is not None:
            name, said = broke
            kind = "exception" if name == NO_EXCEPTION else KINDS.get(said.kind, "safety")
            facts = {"prop": name, "kind": kind, "message": said.why}
            prop = next((each for each in self._system.properties if each.name == name), None)
            facts |= {"source": prop.source, "signature": prop.signature} if prop else {}
        trace = Trace.of(
            self._system,
            self._execution.steps,
            initial=self._execution.initial,
            choices=self._choices,
            target=settings.target,
            parameters=settings.named,
            seed=settings.seed,
            **facts,
        )
        every = self._system.properties
        properties = {prop.name: self._status(prop, at_rest=at_rest) for prop in every}
        if broke is not None:
            properties[broke[0]] = "violated"
        return Once(trace, at_rest, properties, self._execution.opening()[1])

    def _status(self, prop: Property, *, at_rest: bool) -> str:
        if prop.kind == "sometimes":
            return "reached" if prop.name in self._reached else "unreached"
        return "open" if prop.kind in KINDS and not at_rest else "held"


def _program(program: Program, settings: Settings, most: int, sandbox: Sandbox) -> Once:
    dice = Dice(settings.seed)
    execution = ProcessExecution(program, sandbox)
    wrong = execution.failures()
    while not wrong and len(execution) < most and (due := execution.options()):
        wrong = _wrong(execution, due[int(dice.below(len(due)))])
    at_rest = not execution.options()
    if not wrong and at_rest:
        wrong = execution.failures()
    text = ended(len(execution), at_rest=at_rest)
    what = wrong[0] if wrong else PropertyFailure(ORDINARY, "live", text)
    trace = violation_of_run(program, settings, execution, what).trace
    assert trace is not None
    execution.close()
    names = [*ALWAYS_JUDGED, *(["no_leftovers"] if program.leftovers else [])]
    names += [prop.name for prop in program.properties]
    properties = {name: "violated" if name == what.prop else "held" for name in names}
    return Once(msgspec.structs.replace(trace, seed=settings.seed), at_rest, properties)


def _wrong(execution: ProcessExecution, step: Choice) -> list[PropertyFailure]:
    """Take a step; what is wrong then, if it can have come of that step."""
    taken = execution.take(step)
    failed = execution.world.members[taken.process].failed is not None
    if failed or isinstance(taken.op, Publish):
        return execution.failures()
    return []


def ended(steps: int, *, at_rest: bool) -> str:
    """How a run in which nothing broke ended."""
    count = plural(steps, "step")
    return f"nothing more happens after {count}" if at_rest else f"{count}, and it goes on"
