"""A trace: the choices that replay an execution, and what happened on the way.

Values are kept as text (`show`), because a person reads them; what a replay needs is kept exactly:
which event, which choices, and the fingerprint that every state must have again.

Invariant: `steps[i].index == i + 1`; step 0 is the initial state, which has no entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

from presage.trace.origin import SavedOrigin
from presage.trace.show import show, show_call

if TYPE_CHECKING:
    from presage.model.world.event import Envelope, Event, Step
    from presage.model.world.system import System

ORDINARY = "ordinary run"  # what a trace names as its property that is about none

Plain: TypeAlias = None | bool | int | float | str


class Sent(msgspec.Struct, frozen=True):
    """A message that a step put into flight."""

    source: str
    to: str
    message: str


class TraceStep(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened at one node."""

    index: int  # 1-based
    node: str
    kind: str  # of the event: deliver, receive, timer, crash, ...
    label: str  # the event in a few words, for tables
    detail: str = ""  # its message or arguments in full; with kind, node, source it names the event
    source: str | None = None  # the sender, where a message is concerned
    choices: tuple[tuple[int, int], ...] = ()  # (k, n): the k-th of n, from 0
    sends: tuple[Sent, ...] = ()
    lost: tuple[Sent, ...] = ()  # messages that went down with their stream
    follows: tuple[int, ...] = ()  # of a process: the steps without which it could not be
    records: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    changes: dict[str, dict[str, tuple[str, str]]] = {}  # node -> field -> (before, after)
    failure: str | None = None
    fingerprint: int  # of the state after the step

    @classmethod
    def of(cls, step: Step, index: int) -> TraceStep:
        """The record of a live `step`, which is the `index`-th of its trace, from 1."""
        event = step.event
        return cls(
            index=index,
            node=event.node,
            kind=event.kind,
            label=storable(str(event)),
            detail=_detail(event),
            source=getattr(event, "source", None),
            choices=tuple((k, n) for k, n in step.choices),
            sends=tuple(map(cls.sent, step.sends)),
            lost=tuple(map(cls.sent, step.lost)),
            records=tuple(show(record) for record in step.records),
            logs=tuple(storable(line) for line in step.logs),
            changes=_changes(step.changes),
            failure=None if step.failure is None else storable(step.failure),
            fingerprint=step.fingerprint,
        )

    @staticmethod
    def sent(envelope: Envelope) -> Sent:
        return Sent(envelope.source, envelope.to, show(envelope.message))

    def matches(self, event: Event) -> bool:
        """Whether `event` reads exactly like the one recorded here."""
        return (
            event.kind == self.kind
            and event.node == self.node
            and getattr(event, "source", None) == self.source
            and _detail(event) == self.detail
        )


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of one system, and the property it breaks."""

    target: str | None  # as given to `presage check`; None: checked from Python
    parameters: dict[str, Plain] = {}
    system: str
    nodes: tuple[str, ...] = ()
    door: str = "service"  # or process: what the nodes are
    seed: int = 0
    prop: str
    kind: str  # safety, liveness, exception, deadlock
    message: str  # why the property does not hold
    source: str = ""  # file:line of the property
    signature: str = ""
    step: int  # where it breaks; 0 is the initial state
    critical: int | None = None  # the step that enters the first state from which none recovers
    loop: int | None = None  # the step from which on the steps repeat for ever; None: they end
    fairness: str | None = None  # what was assumed of the loop: weak, strong or none
    dead: bool | None = None  # whether no continuation recovers; None: not known, or no such claim
    evidence: str = "exact"
    walked: int | None = None  # how long the execution was of which this is the beginning
    recovery: tuple[tuple[int, int, int], ...] = ()  # (steps taken, walks that recovered, walks)
    live: str | None = None  # the file beside this one of the nearest execution that recovers
    coverage: str = ""  # of the search that found it, as text
    remarks: tuple[tuple[str, str], ...] = ()  # what else is to know of that search: (lead, text)
    notes: tuple[tuple[int, str], ...] = ()  # (step, what a reader wrote down there)
    choices: tuple[int, ...] = ()  # those of every `start()`, in node order
    origin: SavedOrigin | msgspec.UnsetType = msgspec.UNSET  # where it begins, if not by them
    initial: int  # fingerprint of the initial state
    steps: tuple[TraceStep, ...] = ()

    @classmethod
    def of(
        cls,
        system: System,
        steps: Iterable[Step],
        *,
        message: str,
        parameters: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> Trace:
        """The record of live `steps`; `facts` are other fields of it.

        `step` is the bad one; left out, it is the last.
        """
        written = _written(steps)
        return cls(
            system=system.name,
            nodes=tuple(system.nodes),
            message=storable(message),
            parameters=plain_parameters(parameters),
            remarks=tuple(("assumes", storable(str(seal))) for seal in system.seals),
            steps=written,
            **{"target": None, "step": len(written), **facts},
        )

    def with_steps(self, steps: Iterable[Step | TraceStep]) -> Trace:
        """The same trace told by live `steps`, as a replay has just taken them."""
        return msgspec.structs.replace(self, steps=_written(steps))

    def with_note(self, step: int, text: str) -> Trace:
        """The same trace with one more note, at its place among the others."""
        notes = sorted([*self.notes, (step, storable(text))], key=lambda note: note[0])
        return msgspec.structs.replace(self, notes=tuple(notes))

    def __repr__(self) -> str:
        return f"<Trace of {self.system}: {self.prop}, {len(self.steps)} steps>"

    def prefix(self, steps: int) -> Trace:
        """The first `steps` steps: how the execution began."""
        return msgspec.structs.replace(self, steps=self.steps[:steps])

    def project(self, node: str) -> tuple[TraceStep, ...]:
        """The steps that happened at `node`: what it saw of the execution."""
        return tuple(step for step in self.steps if step.node == node)


def _written(steps: Iterable[Step | TraceStep]) -> tuple[TraceStep, ...]:
    return tuple(
        step if isinstance(step, TraceStep) else TraceStep.of(step, index)
        for index, step in enumerate(steps, 1)
    )


def plain_parameters(parameters: Mapping[str, Any] | None) -> dict[str, Plain]:
    """`parameters` as JSON can hold them, so that `--set` reads each one back."""
    return {name: _plain(value) for name, value in (parameters or {}).items()}


def _plain(value: Any) -> Plain:
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    return show(value)


def _detail(event: Any) -> str:
    """The part of an event that its kind, node and source leave open."""
    match event.kind:
        case "deliver" | "receive" | "drop" | "duplicate":
            return show(event.message)
        case "broken" | "refused" | "keepalive" | "cut" | "idle":
            return str(event.peer)
        case "partition":
            return str(event.sides)
        case "timer" | "action" | "call":
            return show_call(event.name, event.args)
        case "write":
            return f"{event.disk}[{show(event.key)}]"
    return ""


def _changes(
    changes: Mapping[str, Mapping[str, tuple[Any, Any]]],
) -> dict[str, dict[str, tuple[str, str]]]:
    return {
        node: {field: (show(before), show(after)) for field, (before, after) in fields.items()}
        for node, fields in changes.items()
        if fields
    }


class Compared(Protocol):
    """A step, of a trace or a live one."""

    @property
    def fingerprint(self) -> int: ...


def common(one: Sequence[Compared], other: Sequence[Compared]) -> int:
    """How many steps two executions begin with that lead to the same states."""
    pairs = enumerate(zip(one, other, strict=False))
    apart = (at for at, (mine, its) in pairs if mine.fingerprint != its.fingerprint)
    return next(apart, min(len(one), len(other)))


def storable(text: str) -> str:
    """`text` without lone surrogates, which no file can hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
