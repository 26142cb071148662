"""From the checkpoints of some nodes to a state of the checker: locals, connections, messages.

Checkpoints of one number are a consistent cut, so two ends of a connection can be laid side by
side. A message is under way if its sender has sent it and its receiver has not handled it. Which
ends are open and which have an error to hear of follows from the lives of both ends.

Nodes that gave no checkpoint are *outside*: they are there by name, down, and what was under way
to or from them is left out.

Datagrams are under way while they are younger than two round trips, sent and not received. Those
sent to a process that has ended count as under way; those that it sent itself are not known, as if
the network had lost them. On connections see `pairing`.

Invariant: a message is under way at most once, and only if it was sent and not handled; checkpoints
that contradict each other raise `Inconsistent`, unless one of them is stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import msgspec

from presage._core import DOWN, Codec
from presage.execution.origin import saved_origin
from presage.model.service.local_state import UNARMED
from presage.model.world.connections import Connections
from presage.model.world.network import NETWORKS, Flying, Network
from presage.model.world.origin import begun_in
from presage.model.world.snapshot import Local, Snapshot
from presage.model.world.system import System
from presage.model.world.transport import Frozen
from presage.model.world.world import World
from presage.records import record
from presage.runtime.checkpoint import Checkpoint, restored
from presage.runtime.datagrams import Got
from presage.runtime.pairing import check_pair, side_of
from presage.trace.trace import ORDINARY, Trace

ROUND_TRIP = 0.25  # seconds, where it is not known


@record(frozen=True)
class Assembled:
    """A state to predict from."""

    snapshot: Snapshot
    outside: tuple[str, ...]  # names that hold no state
    stale: Mapping[str, float] = field(default_factory=dict)  # members by the age of what is known


def assemble(
    system: System,
    checkpoints: Mapping[str, Checkpoint],
    *,
    stale: Mapping[str, float] | None = None,
    round_trip: float = ROUND_TRIP,
    codec: Codec | None = None,
) -> Assembled:
    """The state that these checkpoints of nodes make; `codec` reads messages, if not the system's.

    `stale` names members whose checkpoint is older than the others, with its age.
    """
    stale = stale or {}
    members = [checkpoints[name] for name in system.names if name in checkpoints]
    letter = _Letters(system, codec or system.codec)
    queues: dict[tuple[int, int], tuple[Flying, ...]] = {}
    opened: set[tuple[int, int]] = set()
    errors: set[tuple[int, int]] = set()
    network = NETWORKS[system.network](system.codec)
    for one in members:
        for other in members:
            if one.node not in stale and other.node not in stale:
                check_pair(one, other)
            at = (system.index(one.node), system.index(other.node))
            side = side_of(one, other)
            if side.queue:
                queues[at] = tuple(letter(one.node, other.node, body) for body in side.queue)
            opened |= {at} if side.open else set()
            errors |= {at} if side.error else set()
            _send(network, system.network, one, other, 2 * round_trip, letter)
    streams = Connections()
    streams.restore((tuple(sorted(queues.items())), opened, errors))
    snapshot = Snapshot(
        0,
        tuple(_local(system, name, checkpoints.get(name)) for name in system.names),
        tuple(system.codec.encode(state) for state in system.observed()),
        tuple(system.faults.budgets),
        Frozen(network.frozen(), streams.frozen(), 0),
    )
    outside = tuple(name for name in system.names if name not in checkpoints)
    return Assembled(snapshot, outside, dict(stale))


def as_trace(
    system: System,
    assembled: Assembled,
    target: str | None = None,
    parameters: Mapping[str, object] | None = None,
) -> Trace:
    """The state as a trace without steps, which `presage predict` and `presage debug` open."""
    begun = begun_in(
        system, assembled.snapshot, outside=assembled.outside, observed=not system.observers
    )
    ages = sorted(assembled.stale.items())
    stale = tuple(("stale", f"{name}: {age:.1f} s old") for name, age in ages)
    trace = Trace.of(
        begun,
        (),
        message="a snapshot of nodes that ran live",
        target=target,
        parameters=parameters,
        prop=ORDINARY,
        kind="live",
        initial=World.initial(begun).fingerprint,
        origin=saved_origin(begun),
    )
    return msgspec.structs.replace(trace, remarks=(*trace.remarks, *stale))


class _Letters:
    """Messages as the world holds them: with sender and receiver, in canonical form."""

    def __init__(self, system: System, codec: Codec) -> None:
        self._system = system
        self._codec = codec

    def __call__(self, source: str, to: str, body: bytes) -> Flying:
        one, other = self._system.index(source), self._system.index(to)
        message = self._codec.decode(body)
        return Flying(one, other, self._system.codec.encode((one, other, message)))


def _local(system: System, name: str, checkpoint: Checkpoint | None) -> Local:
    automaton = system.automata[system.index(name)]
    if checkpoint is not None:
        return restored(automaton, checkpoint.local, system.codec)
    values = automaton.initial()
    values[0] = (DOWN, values[0][1], UNARMED, None)
    return tuple(system.codec.encode_fields(values))


def _send(
    network: Network,
    kind: str,
    sender: Checkpoint,
    receiver: Checkpoint,
    age_max: float,
    letter: _Letters,
) -> None:
    """Put what is under way from one member to another into the network, in the order sent."""
    for source, body in receiver.datagrams.waiting:
        if source == sender.node:
            network.send(letter(source, receiver.node, body))
    got = receiver.datagrams.got.get(sender.node)
    if kind == "duplicating" or got is None or got.process != sender.process:
        got = Got(sender.process, 0, ())
    elif kind == "ordered":
        got = Got(got.process, max((got.floor, *got.above)), ())  # what it overtook is lost
    for sent in sender.datagrams.sent.get(receiver.node, ()):
        if sent.time <= age_max and sent.number not in got:
            network.send(letter(sender.node, receiver.node, sent.message))
