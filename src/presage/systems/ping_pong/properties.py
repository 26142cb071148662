"""The counts stay together, and reach their end."""

from __future__ import annotations

from presage import Verdict, WorldView, always


@always
def delta_within_one(world: WorldView) -> Verdict:
    """The players are never more than one stroke apart."""
    left, right = (player.count for player in world.nodes)
    return Verdict(abs(left - right) <= 1, f"the counts are {left} and {right}")


def at_max(world: WorldView) -> bool:
    """Some player has counted to the end."""
    return any(player.count == player.max for player in world.nodes)
