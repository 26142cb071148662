"""A branch of a session: one execution that can be looked at anywhere, and gone on with at its end.

A branch of services saves worlds, one of processes runs again. Both are asked the same questions.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from msgspec import Struct

from presage.execution.protocol import PropertyStatus
from presage.execution.sandbox import Sandbox
from presage.execution.state import State
from presage.props.property import Property
from presage.records import record
from presage.shrink.essential import EssentialSteps
from presage.trace.trace import Sent, Trace, TraceStep


class Taken(Struct, frozen=True):
    event: Any  # an `Event`; of processes a `Due`
    choices: tuple[int, ...] = ()
    beyond: bool = False  # a fault that the system does not allow, or not any more


@record(frozen=True)
class Option:
    """One thing that can happen next."""

    event: Any  # an `Event`; of processes a `Due`
    choices: tuple[int, ...]
    fault: bool
    idle: bool  # it leads back to the same state
    weight: float  # in walks, by the session's mode
    refused: str = ""  # why it cannot happen after all: its handler does what none may do

    @property
    def taken(self) -> Taken:
        return Taken(self.event, self.choices)


class Written(str):
    """What is to be shown as it is, and not as a value."""


class Branch(ABC):
    """One execution; step 0 is the initial state."""

    of_services: ClassVar[bool]  # these can be broken by hand, and walks of them can be calm
    properties: tuple[Property, ...]

    def __init__(self, sandbox: Sandbox, trace: Trace) -> None:
        self.sandbox = sandbox
        self.initial = trace.initial
        self.steps = list(trace.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def fingerprint(self, step: int) -> int:
        return self.steps[step - 1].fingerprint if step else self.initial

    @abstractmethod
    def begin(self, trace: Trace) -> Branch:
        """Another execution of the same code, that a trace tells of."""

    @abstractmethod
    def world(self, step: int) -> Any:
        """The world after `step`, to look at; raises where the code goes another way now."""

    @abstractmethod
    def view(self, step: int) -> Any:
        """What properties see of it; nothing that is done to it stays."""

    @abstractmethod
    def taken(self, step: int) -> Taken:
        """What `step` made happen, as live objects."""

    @abstractmethod
    def extend(self, taken: Taken) -> TraceStep:
        """Let one more thing happen at the end."""

    @abstractmethod
    def fork(self, step: int) -> Self:
        """Another execution that has the steps up to `step` in common with this one."""

    @abstractmethod
    def redo(self, step: int, origin: int) -> None:
        """Take `step` once more from the state after `origin`; raise `Diverged` if it differs."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """All nodes, or processes, with those that are created on this branch."""

    @abstractmethod
    def state(self, step: int) -> State:
        """The state after a step as plain data."""

    @abstractmethod
    def values(self, step: int) -> dict[str, dict[str, Any]]:
        """The fields of every node, ghosts among them, or what processes published: as fresh
        objects."""

    @abstractmethod
    def channels(self, step: int) -> list[tuple[str, str, list[Any]]]:
        """What is under way after a step: (where, how, messages), oldest first."""

    @abstractmethod
    def judge(self, step: int) -> dict[str, PropertyStatus]:
        """What each property says of the state after a step, and of the step itself."""

    @abstractmethod
    def options(self, step: int, *, calm: bool) -> list[Option]:
        """What can happen after a step."""

    @abstractmethod
    def place(self, step: int) -> str:
        """The line of the code that a step ran; "" if it ran none."""

    @abstractmethod
    def opening(self) -> list[tuple[str, str]]:
        """What was logged before anything happened: (node, text)."""

    @abstractmethod
    def posted(self) -> tuple[Sent, ...]:
        """What was sent before anything happened."""

    @abstractmethod
    def known(self, step: int) -> dict[str, Any]:
        """What the modules of the checked code call by name, and what else can be asked for."""

    @abstractmethod
    def past(self, trace: Trace, step: int) -> tuple[int, ...]:
        """The steps that led to `step`; `trace` tells of this branch."""

    @abstractmethod
    def needed(self, trace: Trace, seconds: float) -> EssentialSteps:
        """Which steps of `trace`, which this branch is, matter."""


def module_names(thing: Any) -> dict[str, Any]:
    """What the module in which `thing` is written calls by name."""
    module = sys.modules.get(getattr(thing, "__module__", ""))
    return {} if module is None else dict(vars(module))
