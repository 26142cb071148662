"""What is to see of one node: what its process answers to the page of the whole system."""

from __future__ import annotations

import os
from dataclasses import asdict

from msgspec import Struct

from presage.model.service.calls import methods
from presage.runtime.board import (
    BROKEN,
    FAILED,
    HALF_OPEN,
    OPEN,
    UP,
    FilterSeen,
    LinkSeen,
    NodeSeen,
    PredictionSeen,
    ProgressSeen,
    RefusalSeen,
)
from presage.runtime.host import Host
from presage.runtime.lookout import Lookout
from presage.trace.show import show, show_call

VALUE_MAX = 400  # characters of a field
RECENT = 12  # predictions and refusals that are shown


class Seen(Struct, frozen=True):
    """One node, and what it sees ahead."""

    node: NodeSeen
    links: tuple[LinkSeen, ...] = ()
    predictions: tuple[PredictionSeen, ...] = ()
    filters: tuple[FilterSeen, ...] = ()
    refusals: tuple[RefusalSeen, ...] = ()
    progress: tuple[ProgressSeen, ...] = ()
    violations: dict[str, str] = {}
    counts: dict[str, int] = {}
    now: float = 0.0  # by the clock of its times


def seen(host: Host, number: int, lookout: Lookout | None) -> Seen:
    """The node of `host` right now; `number` is that of its checkpoints."""
    node = host.node
    links = tuple(
        LinkSeen(
            nodes=(node.name, peer),
            state=BROKEN if link.error else HALF_OPEN if link.half else OPEN,
            waiting=(len(link.log), len(link.inbox)),
        )
        for peer, link in host.links.items()
        if peer != node.name and (link.open or link.half or link.error)
    )
    if lookout is None:
        return Seen(_node(host, number), links, now=node.clock.now())
    steering = lookout.steering
    return Seen(
        _node(host, number),
        links,
        tuple(steering.predictions)[-RECENT:],
        tuple(steering.filters_seen()),
        tuple(steering.refusals)[-RECENT:],
        tuple(steering.progress_seen()),
        {**steering.violations, **steering.check.broken},
        steering_counts(lookout),
        node.clock.now(),
    )


def steering_counts(lookout: Lookout) -> dict[str, int]:
    """All that is counted of looking ahead."""
    steering, gatherer = lookout.steering, lookout.gatherer
    return {
        **asdict(steering.counts),
        "checked": steering.check.checked,
        "unpreventable": steering.check.unpreventable,
        "checkpoints_late": gatherer.late,
        "checkpoints_bad": gatherer.bad,
        "snapshots_inconsistent": lookout.inconsistent,
    }


def _node(host: Host, number: int) -> NodeSeen:
    node = host.node
    decode = node.automaton.codec.decode
    fields = zip(node.automaton.fields, node.local[1:], strict=True)
    timers = decode(node.local[0])[2] if node.local else ()
    return NodeSeen(
        name=node.name,
        status=UP if node.up else FAILED,
        pid=os.getpid(),
        life=node.life,
        steps=node.counts.steps,
        number=number,
        fields={name: show(decode(value))[:VALUE_MAX] for name, value in fields},
        timers=tuple(sorted(show_call(name, args) for name, *args in timers)),
        failure=node.failure or "",
        methods=methods(node.automaton.service),
    )
