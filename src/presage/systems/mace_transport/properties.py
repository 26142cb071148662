"""What must be true of the transport, as Mace states it, and what must come true."""

from __future__ import annotations

from typing import Any

from presage import Verdict, WorldView, always, eventually, forall
from presage.systems.mace_transport.service import App


def _in_flight(node: App) -> set[tuple[str, int]]:
    return {(peer, piece.seq) for peer, out in node.out.items() for piece in out.inflight}


def _timers(node: App) -> list[tuple[str, int]]:
    return [(args[0], args[1]) for name, *args in node.timers if name == "retransmit"]


@always
def inflight_timed(world: WorldView) -> Verdict:
    """Every piece in flight has a timer that will send it again."""
    return forall(world.of(App), lambda node: _in_flight(node) <= set(_timers(node)))


@always
def timer_count(world: WorldView) -> Verdict:
    """There are as many timers as pieces in flight."""
    return forall(world.of(App), lambda node: len(_timers(node)) == len(_in_flight(node)))


@always
def within_count(world: WorldView) -> Verdict:
    """No application sends more than it has."""
    return forall(
        world.of(App), lambda node: all(sent <= node.count for sent in node.sent.values())
    )


@always
def resets_are_meant(world: WorldView) -> Verdict:
    """No connection is closed by a reset that meant an earlier one."""
    return forall(world.of(App), lambda node: not node.mistaken)


@eventually
def all_acked(world: WorldView) -> Verdict:
    """Nothing is in flight that waits to be acknowledged."""

    def acked(node: Any) -> Verdict:
        return Verdict(not (left := _in_flight(node)), f"{sorted(left)} not acknowledged")

    return forall(world.of(App), acked)


@eventually
def nothing_buffered(world: WorldView) -> Verdict:
    """Nothing waits to be sent, or sent again."""
    return forall(
        world.of(App), lambda node: not any(out.again or out.waiting for out in node.out.values())
    )


@eventually
def all_sent(world: WorldView) -> Verdict:
    """Every application has sent all it has."""
    return forall(
        world.of(App),
        lambda node: all(node.sent.get(peer, 0) >= node.count for peer in node.targets),
    )


@eventually
def all_delivered(world: WorldView) -> Verdict:
    """Everything that is to be sent has arrived."""
    return forall(
        world.of(App),
        lambda node: all(world[peer].got.get(node.name, 0) >= node.count for peer in node.targets),
    )


@eventually
def network_empty(world: WorldView) -> Verdict:
    """Nothing is under way."""
    return Verdict(not (left := world.messages()), f"{len(left)} messages are under way")


@eventually
def scheduler_empty(world: WorldView) -> Verdict:
    """No timer is armed."""
    return forall(world.of(App), lambda node: not node.timers)


SAFETY = (inflight_timed, timer_count, within_count, resets_are_meant)
LIVENESS = (all_acked, nothing_buffered, all_sent, all_delivered, network_empty, scheduler_empty)
