"""What a node counts, as one record, and what all nodes count, as the text that Prometheus reads.

The text format is a few lines of code, so no client library is needed for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

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
STEERING = {
    "rounds": "rounds of looking ahead that have begun",
    "unanswered": "rounds in which no prediction was made in time",
    "remembered": "rounds whose snapshot had been found clean before",
    "predicted": "paths to violations that were found",
    "installed": "filters that were put in force",
    "handed_over": "paths that were handed over to peers",
    "taken_over": "paths that peers handed over",
    "unhelpful": "paths that no filter keeps out",
    "kills_progress": "paths against which every filter that helps kills progress",
    "ahead_unpreventable": "paths of which no event can be refused",
    "filtered": "steps that a filter refused",
    "refused": "steps that the immediate check refused",
    "resets": "connections that steering has reset",
    "starving": "kinds of events that were refused again and again",
    "starved": "of these, those without which a property cannot hold any more",
    "checked": "steps that the immediate check has judged",
    "unpreventable": "steps that broke something and could not be refused",
    "checkpoints_late": "checkpoints that waited for the budget of bytes",
    "checkpoints_bad": "checkpoints that could not be read",
    "snapshots_inconsistent": "rounds whose checkpoints did not fit together",
    "oracle_killed": "predictions that were ended for taking too long",
    "questions_dropped": "predictions that could not be asked for",
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


def exposition(nodes: Mapping[str, Mapping[str, Any]]) -> str:
    """The text format of Prometheus; `nodes` has what each answers to `status`.

    All samples of one metric follow each other, after the one description that it may have.
    """
    lines = []
    for described, prefix, gauges, numbers in (
        (HELP, "presage_", GAUGES, nodes),
        (
            STEERING,
            "presage_steering_",
            frozenset[str](),
            {node: facts.get("steering", {}) for node, facts in nodes.items()},
        ),
    ):
        for name, text in described.items():
            full = f"{prefix}{name}" if name in gauges else f"{prefix}{name}_total"
            samples = [
                f'{full}{{node="{_escaped(node)}"}} {int(facts[name])}'
                for node, facts in numbers.items()
                if name in facts
            ]
            if samples:
                kind = "gauge" if name in gauges else "counter"
                lines += [f"# HELP {full} {text}", f"# TYPE {full} {kind}", *samples]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
