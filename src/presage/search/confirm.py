"""Replay a finding of the kernel on live code, and ask the property again.

The kernel works on tables; this is where its word is tested. A fingerprint that differs, or a
property that holds after all, means that the checked code is not deterministic (or that presage is
wrong): either way nothing may be reported as if it were known.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from presage.errors import Nondeterminism
from presage.model.choice import NOT_THEIRS
from presage.model.event import (
    MISHAPS,
    Broken,
    Cut,
    Deliver,
    Drop,
    Duplicate,
    Event,
    Heal,
    Idle,
    KeepAlive,
    Receive,
    Refused,
    Split,
    Step,
)
from presage.model.stimulus import event_of
from presage.model.system import System
from presage.model.world import World
from presage.props.property import Property
from presage.search.conjuncts import because
from presage.search.watch import Watch

MAIL: dict[str, type[Deliver | Receive | Drop | Duplicate]]
MAIL = {"deliver": Deliver, "receive": Receive, "drop": Drop, "duplicate": Duplicate}
PEERS: dict[str, type[Broken | Refused | KeepAlive | Cut | Idle]]
PEERS = {
    "broken": Broken,
    "refused": Refused,
    "keepalive": KeepAlive,
    "cut": Cut,
    "idle": Idle,
}
# (what, node, stimulus, (source, to, message) or (number,), choices, fingerprint after)
KernelEvent = tuple[str, int, tuple[Any, ...], list[int], int]


class Finding(Struct, frozen=True):
    """What the kernel says: a property, and the events that decide it."""

    at: int  # 0: no_exception, i + 1: the i-th property of the system
    choices: tuple[int, ...]  # of the start handlers
    initial: int  # fingerprint
    events: tuple[KernelEvent, ...]
    loop: int | None = None  # the step, from 1, from which on the events repeat for ever


class Confirmed(Struct, frozen=True):
    """A finding that live code agrees with."""

    prop: Property | None  # None: no_exception
    why: str
    choices: tuple[int, ...]
    initial: int
    steps: tuple[Step, ...]
    loop: int | None = None


def confirm(system: System, watch: Watch, finding: Finding) -> Confirmed:
    """Replay `finding`; raises `Nondeterminism` where live code disagrees."""
    run = follow(system, watch, finding)
    return confirmed(run, finding, run.verdict())


def follow(system: System, watch: Watch, finding: Finding, lacking: int | None = None) -> Run:
    """Take the steps of `finding` on live code, comparing every state.

    From step `lacking` on the property must not hold, which is asked after each.
    """
    prop = system.properties[finding.at - 1] if finding.at else None
    world: World = watch.run(World.initial, system, tuple(finding.choices))
    _same(finding.initial, world, "the initial state")
    run = Run(system, watch, world, prop)
    for number, (what, node, origin, choices, fingerprint) in enumerate(finding.events, 1):
        event = named(system, world, what, node, origin)
        run.apply(event, tuple(choices))
        _same(fingerprint, world, f"step {number} (`{event}` at {event.node})")
        if lacking is not None and number >= lacking and run.lacks() is None:
            raise Nondeterminism(
                f"the search found that `{prop.name if prop else ''}` never holds from step"
                f" {lacking} on, and it holds after step {number} on live code"
            )
    return run


def confirmed(run: Run, finding: Finding, why: str | None) -> Confirmed:
    """What `run` says of `finding`, whose property it decides because of `why`."""
    if why is None:
        name = run.prop.name if run.prop else "no_exception"
        raise Nondeterminism(
            f"the search found that `{name}` is decided after {len(run.steps)} steps, and a replay"
            " on live code says otherwise"
        )
    choices, steps = tuple(finding.choices), tuple(run.steps)
    return Confirmed(run.prop, why, choices, finding.initial, steps, finding.loop)


def _same(fingerprint: int, world: World, where: str) -> None:
    if world.fingerprint != fingerprint:
        raise Nondeterminism(
            f"{where} gave another state on replay: {fingerprint:016x} != {world.fingerprint:016x}"
        )


def named(system: System, world: World, what: str, node: int, origin: tuple[Any, ...]) -> Event:
    """The event that the kernel describes by indices, about to happen in `world`."""
    name = system.names[node]
    if what in MAIL:
        source, _, message = origin
        return MAIL[what](name, system.names[source], message)
    if what in PEERS:
        return PEERS[what](name, system.names[origin[0]])
    if what in ("partition", "heal"):
        return Split(str(system.faults.partitions[origin[0] - 1])) if origin[0] else Heal()
    return world.next_call(name) if origin == ("call",) else event_of(system, node, origin)


class Run:
    """A live execution, and whether it decides a property in its last state or step."""

    def __init__(self, system: System, watch: Watch, world: World, prop: Property | None) -> None:
        self.system = system
        self.watch = watch
        self.world = world
        self.prop = prop
        self.steps: list[Step] = []
        self._before: Any = None

    def apply(self, event: Event, choices: tuple[int, ...]) -> None:
        """Let one event happen."""
        if self.prop is not None and self.prop.kind == "step":
            self._before = None if event.kind in MISHAPS else self.world.view()[event.node]
        self.steps.append(self.watch.run(self.world.apply, event, choices))

    def verdict(self) -> str | None:
        """Why the property is decided here (violated, or for `sometimes` reached); None if not."""
        prop = self.prop
        if prop is None:
            return self._failure()
        if prop.kind == "step":
            return self._step_verdict(prop)
        if prop.kind in ("eventually", "deadlock") and not self.watch.run(self.world.at_rest):
            return None
        return self._decided(prop, prop.kind == "sometimes")

    def lacks(self) -> str | None:
        """Why the property, one of worlds, does not hold here; None if it does."""
        assert self.prop is not None, "exceptions are not asked for in a world"
        return self._decided(self.prop, False)

    def breaks(self, prop: Property) -> bool:
        """Whether another property, one of worlds, does not hold here."""
        return self._decided(prop, False) is not None

    def _decided(self, prop: Property, telling: bool) -> str | None:
        verdict = self._ask(prop, self.world.view())
        if verdict is None or verdict.holds != telling:
            return None
        if verdict.why or verdict.holds:
            return verdict.why or f"`{prop.name}` is {verdict.holds}"
        why: str = self.watch.run(because, prop, self.world.view())
        return why

    def _failure(self) -> str | None:
        if self.steps:
            return self.steps[-1].failure
        failures = self.world.opening.failures
        return "; ".join(f"{node}: {text}" for node, text in failures.items()) or None

    def _step_verdict(self, prop: Property) -> str | None:
        if not self.steps or self.steps[-1].event.kind in MISHAPS | {"reset", "silent"}:
            return None  # the network's doing, or a new life: no node took a step
        node = self.steps[-1].event.node
        automaton = self.system.automata[self.system.index(node)]
        after = self.world.view()[node]
        if prop.of is not None and not issubclass(automaton.service, prop.of):
            return None
        if not (self._before.presage.up and after.presage.up):
            return None
        verdict = self._ask(prop, self._before, after)
        if verdict is None or verdict.holds:
            return None
        return verdict.why or f"`{prop.name}` is False for {node} before and after this step"

    def _ask(self, prop: Property, *seen: Any) -> Any:
        """The verdict, or None where the predicate cannot say: that is no violation."""
        try:
            return self.watch.run(prop.judge, *seen)
        except NOT_THEIRS:
            raise
        except BaseException:
            return None
