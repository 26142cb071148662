"""Two players that count up in turn, over a net that may lose and repeat messages.

Each player answers only the number it waits for, so a repeated message does nothing and the two
counts never differ by more than one. Same model as the ping-pong actors in Stateright's tests.
"""

from __future__ import annotations

from typing import Literal

from presage import UNLIMITED, Faults, Property, System, eventually, sometimes
from presage.systems.ping_pong.messages import Ping, Pong
from presage.systems.ping_pong.properties import at_max, delta_within_one
from presage.systems.ping_pong.service import Player

__all__ = ["Ping", "Player", "Pong", "delta_within_one", "system"]


def system(
    *, max: int = 5, network: Literal["lossy_duplicating", "lossless"] = "lossy_duplicating"
) -> System:
    """Two players, of which the left one serves.

    max: where a player stops counting.
    network: `lossy_duplicating` may lose any message and deliver it any number of times;
        `lossless` delivers each once, and then the players must reach `max`.
    """
    lossless = network == "lossless"
    properties: list[Property] = [delta_within_one, sometimes(at_max, name="can_reach_max")]
    if lossless:
        properties.append(eventually(at_max, name="must_reach_max"))
    return System(
        nodes={"left": Player(max=max, serve_to="right"), "right": Player(max=max)},
        network="unordered" if lossless else "duplicating",
        faults=Faults(drop=0 if lossless else UNLIMITED),
        properties=properties,
        name="ping-pong",
    )
