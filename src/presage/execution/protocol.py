"""One execution on live code, as everything that replays, shows or tries it sees it.

There are two kinds: of services, whose worlds can be saved and restored, and of processes, which
are run again from the start. Nobody above asks which of them it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Protocol

from presage.execution.state import State
from presage.records import record
from presage.trace.trace import Sent, Trace, TraceStep

NO_EXCEPTION = "no_exception"


@record(frozen=True)
class PropertyStatus:
    """What a property says of one state; `holds` is None where it says nothing."""

    holds: bool | None
    why: str = ""
    kind: str = "always"  # of the property
    source: str = field(default="", compare=False)  # file:line of it


class Execution(Protocol):
    """An execution; it stands at its end. `Move` is what its backend takes for an event."""

    initial: int  # the fingerprint of the initial state

    @property
    def fingerprint(self) -> int:
        """Of the state at its end."""

    @property
    def steps(self) -> Sequence[Any]:
        """What has happened, as its backend has it."""

    def options(self) -> Sequence[Any]:
        """The moves that are possible at its end."""

    def resolve(self, step: TraceStep) -> Any:
        """The move of a step that a trace has; raises `BadTrace` where it is not possible."""

    def take(self, move: Any) -> Any:
        """Make a move that is possible."""

    def trace_steps(self) -> tuple[TraceStep, ...]:
        """What has happened, as a trace has it."""

    def state(self) -> State:
        """The state at its end as plain data."""

    def statuses(self, *, at_end: bool = False) -> dict[str, PropertyStatus]:
        """What each property says here; `at_end`: nothing is going to follow."""

    def is_broken(self) -> bool:
        """Whether the last step broke the property that is asked for."""

    def outcome(self, trace: Trace) -> str | None:
        """Why the property of `trace`, all of which was taken, is broken; None if it is not."""

    def place(self) -> str:
        """file:line of the code that the last step ran."""

    def opening(self) -> tuple[tuple[str, ...], tuple[Sent, ...]]:
        """What was logged and sent before the first step."""

    def close(self) -> None:
        """Let go of what is running."""
