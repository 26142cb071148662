"""Replay a finding of the kernel on live code, and ask the property again.

The kernel works on tables; this is where its word is tested. A fingerprint that differs, or a
property that holds after all, means that the checked code is not deterministic (or that presage is
wrong): either way nothing may be reported as if it were known.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from presage._results import Finding
from presage.errors import BadChoice, NotEnabled
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.event import MAIL, PAIRS, Event, Heal, Split, Step
from presage.model.world.stimulus import event_of
from presage.model.world.system import System
from presage.model.world.world import World
from presage.props.property import Property

RAISED = r" at (\S+:\d+) (in \w+)$"  # how the text of a failure ends


class Confirmed(Struct, frozen=True):
    """A finding that live code agrees with."""

    prop: Property | None  # None: no_exception
    why: str
    choices: tuple[int, ...]
    initial: int
    steps: tuple[Step, ...]
    loop: int | None = None


def confirm(system: System, sandbox: Sandbox, finding: Finding) -> Confirmed:
    """Replay `finding`; raises `Nondeterminism` where live code disagrees."""
    run = follow(system, sandbox, finding)
    return confirmed(run, finding, run.verdict())


def follow(
    system: System, sandbox: Sandbox, finding: Finding, lacking: int | None = None
) -> ServiceExecution:
    """Take the steps of `finding` on live code, comparing every state.

    From step `lacking` on the property must not hold, which is asked after each.
    """
    prop = system.judged[finding.at - 1] if finding.at else None
    run = ServiceExecution.begin(system, sandbox, finding.choices, prop)
    world = run.world
    _same(finding.initial, world, "the initial state")
    for number, taken in enumerate(finding.events, 1):
        event = named(system, world, taken.kind, taken.node, taken.origin)
        try:
            run.apply(event, tuple(taken.choices))
        except (NotEnabled, BadChoice) as error:
            raise system.disagreement(str(error).partition("\n")[0]) from error
        _same(taken.fingerprint, world, f"step {number} (`{event}` at {event.node})")
        if lacking is not None and number >= lacking and run.lacks() is None:
            raise system.disagreement(
                f"the search found that `{prop.name if prop else ''}` never holds from step"
                f" {lacking} on, and it holds after step {number} on live code"
            )
    return run


def confirmed(run: ServiceExecution, finding: Finding, why: str | None) -> Confirmed:
    """What `run` says of `finding`, whose property it decides because of `why`."""
    if why is None:
        name = run.prop.name if run.prop else "no_exception"
        raise run.world.system.disagreement(
            f"the search found that `{name}` is decided after {len(run.steps)} steps, and a replay"
            " on live code says otherwise"
        )
    steps = tuple(run.steps)
    return Confirmed(run.prop, why, finding.choices, finding.initial, steps, finding.loop)


def _same(fingerprint: int, world: World, where: str) -> None:
    if world.fingerprint != fingerprint:
        raise world.system.disagreement(
            f"{where} gave another state on replay: {fingerprint:016x} != {world.fingerprint:016x}"
        )


def named(system: System, world: World, what: str, node: int, origin: tuple[Any, ...]) -> Event:
    """The event that the kernel describes by indices, about to happen in `world`."""
    name = system.names[node]
    if what in MAIL:
        return MAIL[what](name, system.names[origin[0]], origin[2])
    if what in PAIRS:
        return PAIRS[what](name, system.names[origin[0]])
    if what in ("partition", "heal"):
        return Split(str(system.faults.partitions[origin[0] - 1])) if origin[0] else Heal()
    return world.next_call(name) if origin == ("call",) else event_of(system, node, origin)
