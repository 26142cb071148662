"""What crosses the network between two nodes: datagrams, and the segments of connections.

A packet is a frozen dataclass of plain values, so it is encoded as a message of a service is. Its
`lane` says what it may not overtake: packets of one lane arrive in the order they were sent. A
datagram has none, for each goes its own way.

Invariant: `flow` is written as the sender sees it, so each direction of a connection has its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Address: TypeAlias = tuple[str, int]
Flow: TypeAlias = tuple[str, int, str, int]  # the sender's address and port, then the receiver's
Kind: TypeAlias = Literal["syn", "ack", "data", "fin", "rst"]


@dataclass(frozen=True, slots=True, repr=False)
class Datagram:
    """One UDP packet; `group` is the multicast or broadcast address it was sent to, or empty.

    `six`: it is one of IPv6.
    """

    sport: int
    dport: int
    data: bytes
    group: str = ""
    six: bool = False

    def __init__(
        self, sport: int, dport: int, data: bytes, group: str = "", six: bool = False
    ) -> None:
        _set_sport(self, sport)
        _set_dport(self, dport)
        _set_payload(self, data)
        _set_group(self, group)
        _set_six(self, six)

    @property
    def lane(self) -> None:
        return None

    def __repr__(self) -> str:
        target = f"{self.group}:{self.dport}" if self.group else f"{self.dport}"
        return f"udp {self.sport}>{target} {shown(self.data)}"


@dataclass(frozen=True, slots=True, repr=False)
class Segment:
    """One piece of a TCP connection. `ack` tells that the connection is made.

    `cut` marks the reset of a connection that broke; it may overtake the data before it.
    """

    flow: Flow
    kind: Kind
    data: bytes = b""
    cut: bool = False

    def __init__(self, flow: Flow, kind: Kind, data: bytes = b"", cut: bool = False) -> None:
        _set_flow(self, flow)
        _set_kind(self, kind)
        _set_data(self, data)
        _set_cut(self, cut)

    @property
    def lane(self) -> tuple[str | int, ...]:
        return (*self.flow, "cut") if self.cut else self.flow

    def __repr__(self) -> str:
        kind = "cut" if self.cut else self.kind
        text = f" {shown(self.data)}" if self.kind == "data" else ""
        return f"tcp {self.flow[1]}>{self.flow[3]} {kind}{text}"


Packet: TypeAlias = Datagram | Segment


def _setters(kind: Any) -> list[Any]:
    """What fills the slots of a frozen class: `object.__setattr__` takes three times as long."""
    return [getattr(kind, name).__set__ for name in kind.__slots__]


_set_sport, _set_dport, _set_payload, _set_group, _set_six = _setters(Datagram)
_set_flow, _set_kind, _set_data, _set_cut = _setters(Segment)

SHOWN_MAX = 40  # bytes of a payload


def shown(data: bytes) -> str:
    """Payload for people."""
    if len(data) <= SHOWN_MAX:
        return repr(data)[1:]
    return f"{repr(data[:SHOWN_MAX])[1:]}... ({len(data)} bytes)"
