"""Where an execution begins: the one place that asks what kind of system it is of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import UnsetType

from presage.errors import BadTrace
from presage.execution.protocol import NO_EXCEPTION, Execution
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.system import System
from presage.process.fence import Fence
from presage.process.program import Program
from presage.props.property import Property
from presage.trace.trace import ORDINARY, Trace


def system_of(system: Any, trace: Trace) -> Any:
    """`system`, begun where `trace` begins; itself if that is no saved state."""
    if isinstance(trace.origin, UnsetType):
        return system
    from presage.execution.origin import opened  # which few commands need

    return opened(system, trace.origin)


@contextmanager
def begun(system: System | Program, trace: Trace, sandbox: Sandbox) -> Iterator[Execution]:
    """An execution that stands where `trace` begins, and asks for the property of that trace."""
    system = system_of(system, trace)
    if isinstance(system, Program):
        from presage.execution.processes import ProcessExecution

        with Fence():
            execution = ProcessExecution(system, sandbox, trace.prop)
            try:
                yield execution
            finally:
                execution.close()
    else:
        prop = property_of(system, trace)
        yield ServiceExecution.begin(system, sandbox, trace.choices, prop)


def property_of(system: System, trace: Trace) -> Property | None:
    """The property that `trace` is about; None: that no handler fails."""
    if trace.prop in (NO_EXCEPTION, ORDINARY):
        return None
    for prop in system.properties:
        if prop.name == trace.prop:
            found: Property = prop
            return found
    raise BadTrace(
        f"the system has no property `{trace.prop}`, which the trace breaks",
        "the property was renamed or removed since the trace was made",
        "make the trace again with `presage check`",
    )
