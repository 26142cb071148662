"""What a session stands on: services, or processes. Both are asked the same questions.

A branch of a session is an execution that can be looked at anywhere and gone on with at its end.
Of services it is an `Execution`, which saves worlds; of processes a `Running`, which runs again.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol, TypeVar

from presage.debug.service_branch import Execution, Taken
from presage.debug.walk import Option, options
from presage.execution.protocol import PropertyStatus
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.execution.state import State, States
from presage.model.handling import place_of_handler
from presage.model.system import System
from presage.model.world import World
from presage.props.property import Property
from presage.shrink.essential import EssentialSteps, needed
from presage.trace.causes import Causes
from presage.trace.trace import Sent, Trace, TraceStep

B = TypeVar("B", bound="Branch")


class Written(str):
    """What is to be shown as it is, and not as a value."""


class Branch(Protocol):
    """One execution; step 0 is the initial state."""

    steps: list[TraceStep]

    def __len__(self) -> int: ...
    def fingerprint(self, step: int) -> int: ...
    def world(self, step: int) -> Any:
        """The world after `step`, to look at; raises where the code goes another way now."""

    def view(self, step: int) -> Any:
        """What properties see of it."""

    def taken(self, step: int) -> Taken: ...
    def extend(self, taken: Taken) -> TraceStep: ...
    def fork(self: B, step: int) -> B: ...
    def redo(self, step: int, origin: int) -> None: ...


class Backend(Protocol):
    """How the checked code of a session is asked; `branch` is one that `begin` made."""

    properties: tuple[Property, ...]
    of_services: bool  # these can be broken by hand, and walks of them can be calm

    def begin(self, trace: Trace) -> Branch: ...
    def names(self, branch: Any) -> tuple[str, ...]: ...
    def state(self, branch: Any, step: int) -> State: ...
    def values(self, branch: Any, step: int) -> dict[str, dict[str, Any]]: ...
    def channels(self, branch: Any, step: int) -> list[tuple[str, str, list[Any]]]: ...
    def judge(self, branch: Any, step: int) -> dict[str, PropertyStatus]: ...
    def options(self, branch: Any, step: int, *, calm: bool) -> list[Option]: ...
    def place(self, branch: Any, step: int) -> str: ...
    def opening(self, branch: Any) -> list[tuple[str, str]]: ...
    def posted(self, branch: Any) -> tuple[Sent, ...]: ...
    def known(self, branch: Any, step: int) -> dict[str, Any]: ...
    def past(self, trace: Trace, branch: Any, step: int) -> tuple[int, ...]: ...
    def needed(self, trace: Trace, branch: Any, seconds: float) -> EssentialSteps: ...


class ServiceBackend:
    """A system of services."""

    of_services = True

    def __init__(self, system: System, sandbox: Sandbox) -> None:
        self.system = system
        self.properties: tuple[Property, ...] = tuple(system.properties)
        self._sandbox = sandbox
        self._states = States(system)
        self._world = World(system)  # to try things out in

    def begin(self, trace: Trace) -> Execution:
        """The execution that a trace tells of."""
        return Execution(self.system, self._sandbox, trace.choices, trace.initial, trace.steps)

    def names(self, branch: Execution) -> tuple[str, ...]:
        """All nodes."""
        return tuple(self.system.names)

    def state(self, branch: Execution, step: int) -> State:
        """The state after a step as plain data."""
        return self._states.of(branch.world(step))

    def values(self, branch: Execution, step: int) -> dict[str, dict[str, Any]]:
        """The fields of every node after a step, ghosts among them, as fresh objects."""
        found = {}
        for automaton, local in zip(self.system.automata, branch.saved(step).locals, strict=True):
            decoded = [automaton.codec.decode(each) for each in local]
            found[automaton.name] = {name: decoded[at] for name, at in automaton.positions.items()}
        return found

    def channels(self, branch: Execution, step: int) -> list[tuple[str, str, list[Any]]]:
        """What is in flight after a step: (from whom to whom, how, messages), oldest first."""
        wire = branch.saved(step).wire
        return [
            *self._sorted(wire.network if self.system.network != "ordered" else (), "datagrams"),
            *self._queued(wire.network if self.system.network == "ordered" else (), "queue"),
            *self._queued(wire.streams[0], "stream"),
        ]

    def _queued(self, queues: Any, kind: str) -> list[tuple[str, str, list[Any]]]:
        decode, names = self.system.codec.decode, self.system.names
        return [
            (f"{names[a]} -> {names[b]}", kind, [decode(each.encoded)[2] for each in queue])
            for (a, b), queue in queues
        ]

    def _sorted(self, flying: Any, kind: str) -> list[tuple[str, str, list[Any]]]:
        """Messages that come in any order, by who sent them to whom."""
        by_channel: dict[tuple[int, int], list[Any]] = {}
        for each in flying:
            by_channel.setdefault((each.source, each.to), []).append(each)
        return self._queued(sorted(by_channel.items()), kind)

    def judge(self, branch: Execution, step: int) -> dict[str, PropertyStatus]:
        """What each property says of the state after a step, and of the step itself."""
        if step == 0:
            world = branch.world(step)
            return ServiceExecution(self.system, self._sandbox, world).statuses(at_end=True)
        before = self.copy(branch, step - 1)
        recorded, world = branch.steps[step - 1], branch.world(step)
        execution = ServiceExecution.after(self.system, self._sandbox, world, recorded, before)
        return execution.statuses(at_end=True)

    def options(self, branch: Execution, step: int, *, calm: bool) -> list[Option]:
        """What can happen after a step."""
        return options(self.copy(branch, step), self._sandbox, calm=calm)

    def copy(self, branch: Execution, step: int) -> World:
        """A world like the one after a step, to do anything with."""
        self._world.restore(branch.saved(step))
        return self._world

    def place(self, branch: Execution, step: int) -> str:
        """Where the handler that ran is written; "" if none did."""
        return place_of_handler(self.system, branch.taken(step).event)

    def opening(self, branch: Execution) -> list[tuple[str, str]]:
        """What was logged at the start: (node, text)."""
        return [(node, text) for node, text in branch.world(0).opening.logs]

    def posted(self, branch: Execution) -> tuple[Sent, ...]:
        """What was sent at the start."""
        return tuple(map(TraceStep.sent, branch.world(0).opening.sends))

    def known(self, branch: Execution, step: int) -> dict[str, Any]:
        """What the modules of the services call by name: their messages, say."""
        names: dict[str, Any] = {}
        for automaton in self.system.automata:
            names |= module_names(automaton.service)
        return names

    def past(self, trace: Trace, branch: Execution, step: int) -> tuple[int, ...]:
        """The steps that led to `step` of `branch`, of which `trace` tells."""
        return Causes(trace).past(step)

    def needed(self, trace: Trace, branch: Execution, seconds: float) -> EssentialSteps:
        """Which steps of the trace that `branch` is matter."""
        taken = [branch.taken(at) for at in range(1, len(branch) + 1)]
        events = [(each.event, each.choices) for each in taken]
        return needed(self.system, self._sandbox, trace, events, seconds)


def module_names(thing: Any) -> dict[str, Any]:
    """What the module in which `thing` is written calls by name."""
    module = sys.modules.get(getattr(thing, "__module__", ""))
    return {} if module is None else dict(vars(module))
