"""MaceTransport: reliable, ordered messages without duplicates over datagrams, as TCP has them.

After the transport service of Mace (Killian et al., PLDI 2007), in which MaceMC found eleven bugs
(Killian et al., "Life, Death, and the Critical Transition", NSDI 2007). Connections are opened by
their first piece, so that no time is lost; and there the bugs are. Left out are real
times, and `flushed` notifications.
"""

from __future__ import annotations

from typing import Literal

from presage import Faults, System
from presage.systems.catalogue import missing
from presage.systems.mace_transport.bugs import PROFILES
from presage.systems.mace_transport.properties import LIVENESS, SAFETY
from presage.systems.mace_transport.service import App, StrictApp

BugName = Literal[
    "none",
    "MT-1",
    "MT-2",
    "MT-3",
    "MT-4",
    "MT-5",
    "MT-6",
    "MT-7",
    "MT-8",
    "MT-10",
    "MT-11",
    "MT-12",
    "MT-13",
]


def system(
    *,
    nodes: int = 2,
    messages: int = 2,
    driver: Literal["plain", "strict"] = "plain",
    traffic: Literal["one", "both"] = "one",
    fragments: int = 1,
    paced: bool = False,
    reorder: bool = True,
    drops: int = 0,
    resets: int = 0,
    bug: BugName = "none",
) -> System:
    """Nodes `n0`, `n1`, ...; `n0` sends to all others.

    nodes: how many nodes.
    messages: how many items a node sends to each target.
    driver: what takes the items; strict asserts their order.
    traffic: whether only n0 sends, or everyone to everyone.
    fragments: into how many pieces an item is cut.
    paced: whether the application asks for room before it sends.
    reorder: whether datagrams may overtake each other.
    drops: how many datagrams may be lost.
    resets: how many times a node may be reset.
    bug: the profile of fixes that are missing.
    """
    names = tuple(f"n{index}" for index in range(nodes))
    service = StrictApp if driver == "strict" else App
    lacking = missing(PROFILES, bug)
    return System(
        nodes={
            name: service(
                missing=lacking,
                targets=tuple(other for other in names if other != name)
                if traffic == "both" or name == names[0]
                else (),
                count=messages,
                fragments=fragments,
                paced=paced,
            )
            for name in names
        },
        network="unordered" if reorder else "ordered",
        faults=Faults(drop=drops, reset=resets),
        properties=[*SAFETY, *LIVENESS],
        skip_noops=False,
        name="MaceTransport",
    )
