"""What a step of a live node leads to, in canonical bytes: the new state, and messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from presage._core import Codec
from presage.errors import BadCall, NotState, Sharing
from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Outcome, Stimulus, Values
from presage.model.world.snapshot import Local
from presage.runtime.step import Record, Surroundings


def encoded(
    automaton: Automaton, stimulus: Stimulus, outcome: Outcome, before: Callable[[], Values]
) -> Local:
    """The local state after a step; what cannot be state is refused with its place."""
    try:
        return tuple(automaton.codec.encode_fields(outcome.values))
    except Sharing as error:
        raise automaton.shared_by(stimulus, before(), error) from None
    except NotState as error:
        raise error.at(automaton.place(error.position)) from None


def copied(value: Any, codec: Codec) -> Any:
    """`value` as new objects; as text, if it is nothing that a state can hold."""
    try:
        return codec.decode(codec.encode(value))
    except NotState:
        return repr(value)


def datagrams(
    outcome: Outcome, codec: Codec, names: Sequence[str], limit: int
) -> list[tuple[str, bytes]]:
    """What a step sends outside streams: receivers and bodies, each of at most `limit` bytes."""
    sends: list[tuple[str, bytes]] = []
    for to, message in outcome.sends:
        body = codec.encode(message)
        if len(body) > limit:
            raise BadCall(
                f"a message of {len(body):,} bytes was sent to `{names[to]}` as a datagram;"
                f" at most {limit:,} fit",
                "large values in a message: a datagram is one packet, and is never split",
                "send it on a stream: `self.stream.send(...)`",
            )
        sends.append((names[to], body))
    return sends


def flows(
    outcome: Outcome, codec: Codec, names: Sequence[str], limit: int
) -> list[tuple[str, bytes | None]]:
    """What a step does to streams: peers and bodies; None: the connection is given up."""
    done: list[tuple[str, bytes | None]] = []
    for peer, closes, message in outcome.flows:
        if closes:
            done.append((names[peer], None))
            continue
        body = codec.encode(message)
        if len(body) > limit:
            raise BadCall(
                f"a message of {len(body):,} bytes was sent to `{names[peer]}` on a stream;"
                f" its frame may have {limit:,}",
                "large values in a message: no peer takes a larger frame",
                "send it in parts, or raise `frame_max` in the cluster file of all nodes",
            )
        done.append((names[peer], body))
    return done


def hand_over(record: Record, near: Surroundings, names: Sequence[str]) -> None:
    """Tell the surroundings what a committed step took, and what it does to peers."""
    if record.body is not None:
        source = names[record.stimulus[1]]
        if record.sequence is None:
            near.received(source)
        else:
            near.delivered(source, record.sequence)
    for to, body in record.sends:
        near.send(to, body)
    for to, flow in record.flows:
        if flow is None:
            near.close(to)
        else:
            near.stream(to, flow)
