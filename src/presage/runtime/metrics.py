"""What a node counts, as one record, and as the text that Prometheus reads.

The text format is a few lines of code, so no client library is needed for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, structs

if TYPE_CHECKING:
    from presage.runtime.driver import Driver

HELP = {
    "up": "whether the node runs and has not failed",
    "life": "how often the node was started",
    "steps": "steps committed since it was started",
    "refused": "steps that were refused",
    "syncs": "writes of the durable state that reached the disk",
    "timers_fired": "timers that have fired",
    "timers_late": "timers that fired more than 0.1 s late",
    "datagrams_waiting": "datagrams whose guards do not let them in",
    "datagrams_lost": "datagrams lost because too many waited",
    "messages_queued": "messages sent on streams and not known to be handled",
    "connections": "peers that are connected",
    "bytes_read": "bytes that came in on connections",
    "bytes_written": "bytes that left on connections",
    "bad_frames": "frames and datagrams that meant nothing",
    "connections_refused": "connections that were not accepted",
}
GAUGES = {"up", "life", "datagrams_waiting", "messages_queued", "connections"}


class Measures(Struct, frozen=True):
    """The numbers of one node."""

    up: bool
    life: int
    steps: int
    refused: int
    syncs: int
    timers_fired: int
    timers_late: int
    datagrams_waiting: int
    datagrams_lost: int
    messages_queued: int
    connections: int
    bytes_read: int
    bytes_written: int
    bad_frames: int
    connections_refused: int


def measure(driver: Driver) -> Measures:
    """The numbers of a node right now."""
    node, wire, links = driver.node, driver.wire, driver.host.links
    return Measures(
        up=node.up,
        life=node.life,
        steps=node.counts.steps,
        refused=node.counts.refused,
        syncs=int(getattr(node.store, "syncs", 0)),
        timers_fired=node.clock.fired,
        timers_late=node.clock.late,
        datagrams_waiting=len(node.kept),
        datagrams_lost=node.counts.overflowed,
        messages_queued=sum(link.held() for link in links.values()),
        connections=wire.connected,
        bytes_read=wire.bytes_read,
        bytes_written=wire.bytes_written,
        bad_frames=wire.bad,
        connections_refused=wire.dismissed,
    )


def exposition(node: str, measures: Measures) -> str:
    """The text format of Prometheus."""
    lines = []
    for name, value in structs.asdict(measures).items():
        gauge = name in GAUGES
        full = f"presage_{name}" if gauge else f"presage_{name}_total"
        lines.append(f"# HELP {full} {HELP[name]}")
        lines.append(f"# TYPE {full} {'gauge' if gauge else 'counter'}")
        lines.append(f'{full}{{node="{_escaped(node)}"}} {int(value)}')
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
