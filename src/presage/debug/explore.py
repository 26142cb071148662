"""A live system under a reader's hands: pick what happens next, go back, take another way.

Every place that was visited is kept with the execution that led there, so ways that were left stay
there as branches. Nothing here talks to anybody; a page shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from presage.debug.branch import Branch, Option
from presage.debug.refusals import forgiving
from presage.debug.session import branch_of
from presage.errors import BadChoice
from presage.execution.frames import Frame
from presage.execution.processes import ProcessExecution
from presage.execution.sandbox import Sandbox
from presage.model.world.event import Mail
from presage.model.world.system import System
from presage.model.world.world import World
from presage.process.fence import Fence
from presage.process.program import Program
from presage.records import record
from presage.trace.labels import body_and_ends, fitted, told_apart
from presage.trace.show import show
from presage.trace.trace import Trace, plain_parameters

TEXT_ROOM = 200  # characters of what a message holds
START_CHOICES_MAX = 1_000  # of all `start` handlers together; each takes its first option


@record(frozen=True)
class Place:
    """A state that was visited, and how one came there."""

    scene: Frame
    branch: Branch  # ends here
    options: tuple[Option, ...]
    parent: int | None  # the number of the place before
    taken: int | None  # the number of the option there that led here


class Explorer:
    """Where a reader is in the tree of executions of a system, and all that was visited of it."""

    def __init__(
        self,
        system: System | Program,
        sandbox: Sandbox,
        target: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.target = target
        self.parameters = plain_parameters(parameters)
        self._sandbox = sandbox
        self._begun = _begun(system, sandbox)
        self.places = [self._place(branch_of(system, sandbox, self._begun), None, None)]
        self.here = 0

    @property
    def options(self) -> tuple[Option, ...]:
        return self.places[self.here].options

    @property
    def path(self) -> tuple[int, ...]:
        """The numbers of the places from the first to this one."""
        found: list[int] = []
        number: int | None = self.here
        while number is not None:
            found.append(number)
            number = self.places[number].parent
        return tuple(reversed(found))

    @property
    def scenes(self) -> tuple[Frame, ...]:
        """The execution that led here."""
        first, *later = (self.places[number].scene for number in self.path)
        # As it is here: where a message goes may be known only now.
        pairs = zip(later, self.places[self.here].branch.steps, strict=True)
        return first, *(replace(scene, step=step, sends=step.sends) for scene, step in pairs)

    @property
    def branches(self) -> dict[int, str]:
        """Where other ways end, by the number of the place, named by how they end."""
        parents = {place.parent for place in self.places}
        ends = [number for number in range(len(self.places)) if number not in parents]
        endings = {}
        for number in ends:
            step = self.places[number].scene.step
            if number != self.here and step is not None:
                body, where = body_and_ends(step)
                text = f"{fitted(body, TEXT_ROOM)}{where}"
                endings[number] = f"step {step.index}: {step.node} {step.kind} {text}".rstrip()
        return endings

    def take(self, number: int) -> None:
        """Let the option `number` happen; where it happened before, go there."""
        for known, place in enumerate(self.places):
            if (place.parent, place.taken) == (self.here, number):
                self.here = known
                return
        before = self.places[self.here].branch
        try:
            branch = before.fork(len(before))
            branch.extend(self.options[number].taken)
            self.places.append(self._place(branch, self.here, number))
        finally:
            # A watch repeats what it has to say, which ends a search. Here one goes elsewhere.
            self._sandbox.error = None
        self.here = len(self.places) - 1

    def go(self, number: int) -> None:
        self.here = number

    def trace(self) -> Trace:
        """The execution that led here, as a trace that breaks nothing."""
        branch = self.places[self.here].branch
        return msgspec.structs.replace(
            self._begun,
            nodes=branch.names,
            message=f"{len(branch)} steps taken",
            step=len(branch),
            steps=tuple(branch.steps),
        )

    def _place(self, branch: Branch, parent: int | None, taken: int | None) -> Place:
        index = len(branch)
        with forgiving(self._sandbox, lists=False):
            verdicts = branch.judge(index)
        step = branch.steps[-1] if index else None
        scene = Frame(
            index,
            step,
            branch.state(index),
            verdicts,
            branch.place(index) if index else "",
            step.logs if step else tuple(f"{who}: {text}" for who, text in branch.opening()),
            step.sends if step else branch.posted(),
        )
        return Place(scene, branch, tuple(branch.options(index, calm=False)), parent, taken)


def texts(options: Sequence[Option]) -> list[str]:
    """What a reader picks, of what can happen next."""
    bodies = [_body(option.event) for option in options]
    short = told_apart(bodies, TEXT_ROOM)
    named = [_named(each.event, short[body]) for each, body in zip(options, bodies, strict=True)]
    ways = Counter(named)
    return [
        _outcome(option, name, alone=ways[name] == 1)
        for option, name in zip(options, named, strict=True)
    ]


def _outcome(option: Option, name: str, *, alone: bool) -> str:
    chosen = "" if alone or not option.choices else f", choosing {_listed(option)}"
    refused = f" (refused: {option.refused.splitlines()[0]})" if option.refused else ""
    return f"{name}{chosen}{refused}"


def _body(event: Any) -> str:
    """What happens; of a message, what it holds."""
    if isinstance(event, Mail):
        return show(event.message)
    return "" if str(event) == event.kind else str(event)


def _named(event: Any, body: str) -> str:
    mail = isinstance(event, Mail)
    ends = f" {event.source} -> {event.node}" if mail else ""
    return f"{event.node} {event.kind}{f' {body}' if body else ''}{ends}"


def _listed(option: Option) -> str:
    return ", ".join(map(str, option.choices))


def _begun(system: System | Program, sandbox: Sandbox) -> Trace:
    if isinstance(system, System):
        choices, initial = _first_choices(system, sandbox)
    else:
        with Fence():
            execution = ProcessExecution(system, sandbox)
            choices, initial = (), execution.initial
            execution.close()
    return Trace(
        target=None,
        system=system.name,
        door="service" if isinstance(system, System) else "process",
        prop="exploring",
        kind="live",
        message="",
        step=0,
        choices=choices,
        initial=initial,
    )


def _first_choices(system: System, sandbox: Sandbox) -> tuple[tuple[int, ...], int]:
    """What every `start` chooses if it takes its first option, and the state that gives."""
    choices: tuple[int, ...] = ()
    while True:
        try:
            world: World = sandbox.run(World.initial, system, choices)
            return choices, world.fingerprint
        except BadChoice:
            if len(choices) == START_CHOICES_MAX:
                raise
            choices = (*choices, 0)
