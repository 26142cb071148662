"""RandTree: nodes form a random tree of bounded degree, whose root is the smallest of them.

After the overlay service of Mace, in which MaceMC found seventeen bugs (Killian et al., "Life,
Death, and the Critical Transition", NSDI 2007) and CrystalBall seven more (Yabandeh et al., NSDI
2009). Runs over streams; what makes it hard are resets of which somebody learns late.
"""

from __future__ import annotations

from typing import Literal

from presage import Faults, Streams, System
from presage.systems.catalogue import missing
from presage.systems.randtree.bugs import PROFILES
from presage.systems.randtree.properties import LIVENESS, SAFETY, timers, timers_with_peers
from presage.systems.randtree.service import RandTree

BugName = Literal[
    "none",
    "RT-init",
    "RT-timer",
    "RT-10",
    "RT-15",
    "CB-RT1",
    "CB-RT2",
    "CB-RT4",
    "CB-RT5",
    "CB-RT6",
    "CB-RT7",
    "RT-m1",
    "RT-m2",
    "RT-m3",
]
Peers = Literal["next", "prev", "root", "empty"]


def contacts(peers: Peers, names: tuple[str, ...], index: int) -> frozenset[str]:
    """Whom the node of that index knows before it joins."""
    if peers == "next" or (peers == "empty" and index < len(names) - 1):
        return frozenset({names[(index + 1) % len(names)]})
    if peers == "prev" and index:
        return frozenset({names[index - 1]})
    if peers == "root" and index:
        return frozenset({names[0]})
    return frozenset()


def system(
    *,
    nodes: int = 3,
    peers: Peers = "next",
    degree: int = 2,
    recovery: Literal["always", "peers", "unclaimed"] = "always",
    resets: int = 0,
    silent: int = 0,
    cuts: int = 0,
    bug: BugName = "none",
) -> System:
    """Nodes `n0`, `n1`, ...; `n0` is the smallest.

    nodes: how many.
    peers: whom each knows before it joins: `next`, in a circle; `prev`, but n0 nobody; `root`, that
      is n0, but n0 nobody; `empty` is next, but the last knows nobody.
    degree: how many children a node may have.
    recovery: what is claimed of the timer that looks for other trees: that it is always armed, that
      it is where there are peers, or nothing.
    resets: how many times a node may be reset.
    silent: how many times a node may be reset without anyone being told.
    cuts: how many times a connection may break.
    bug: the profile of fixes that are missing.
    """
    width = len(str(nodes - 1))
    names = tuple(f"n{index:0{width}}" for index in range(nodes))
    claimed = {"always": (timers,), "peers": (timers_with_peers,), "unclaimed": ()}[recovery]
    return System(
        nodes={
            name: RandTree(
                contacts=contacts(peers, names, index),
                degree=degree,
                missing=missing(PROFILES, bug),
            )
            for index, name in enumerate(names)
        },
        streams=Streams(),
        faults=Faults(reset=resets, silent_reset=silent, cut=cuts),
        properties=[*claimed, *SAFETY, *LIVENESS],
        name="RandTree",
    )
