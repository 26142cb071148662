"""What CrystalBall claims of Bullet', and what must come true."""

from __future__ import annotations

from presage import HOLDS, Verdict, WorldView, always, eventually, forall
from presage.systems.bullet.messages import Diff, PeerAccept
from presage.systems.bullet.service import Bullet, members


@always
def file_map(world: WorldView) -> Verdict:
    """View, announcements under way and shadow map together are what the sender has.

    Only of pairs whose connection is whole: who has an error still to hear of may believe anything.
    """
    for receiver in world.of(Bullet):
        for sender in world.of(Bullet):
            ends = [(sender.name, receiver.name), (receiver.name, sender.name)]
            if sender.name == receiver.name or not all(_whole(world, *end) for end in ends):
                continue
            view = receiver.senders.get(sender.name)
            for message in world.connection(sender.name, receiver.name).queued:
                if isinstance(message, PeerAccept):
                    view = message.blocks
                elif isinstance(message, Diff) and view is not None:
                    view |= message.blocks
            if view is None:
                continue
            known = view | sender.receivers.get(receiver.name, 0)
            if known != sender.have:
                wrong = ", ".join(map(str, members(known ^ sender.have)))
                what = "will never hear of" if known & ~sender.have == 0 else "believes in"
                return Verdict.fails(f"{receiver.name} {what} block {wrong} of {sender.name}")
    return HOLDS


def _whole(world: WorldView, node: str, peer: str) -> bool:
    end = world.connection(node, peer)
    return world[node].up and end.open and not end.broken


@always
def one_request(world: WorldView) -> Verdict:
    """No block is asked of two senders at once."""

    def once(node: Bullet) -> Verdict:
        under_way = 0
        for sender, blocks in sorted(node.requested.items()):
            if under_way & blocks:
                return Verdict.fails(f"it asked {sender} and another for one block")
            under_way |= blocks
        return HOLDS

    return forall(world.of(Bullet), once)


@eventually
def all_have(world: WorldView) -> Verdict:
    """Everyone has the whole file."""
    return forall(world.of(Bullet), lambda node: node.have == (1 << node.blocks) - 1)


SAFETY = (file_map, one_request)
LIVENESS = (all_have,)
