"""Pastry: nodes on a circle that route by prefix, and know those nearest to them.

The version of Mace that MaceMC found bugs in, with all its fixes. Which of them are missing is
told by `bug`; the catalogue is in `presage.systems.pastry.bugs`.
"""

from __future__ import annotations

from typing import Literal

from presage import Faults, Streams, System
from presage.systems.catalogue import missing
from presage.systems.pastry.bugs import PROFILES
from presage.systems.pastry.circle import NAMES
from presage.systems.pastry.properties import LIVENESS, SAFETY
from presage.systems.pastry.service import Pastry

BugName = Literal["none", "PA-4", "PA-5", "PA-tie", "PA-rec", "PA-size", "PA-lu"]


def system(
    *,
    nodes: int = 3,
    bug: BugName = "none",
    half: int = 1,
    resets: int = 0,
    silent_resets: int = 0,
    cuts: int = 0,
    idle_closes: int = 0,
    crashes: int = 0,
    queue: int | None = None,
) -> System:
    """A ring that the first node begins; the others join through it.

    nodes: how many, 1 to 5.
    bug: the profile of a bug, such as `PA-4`.
    half: how many leaves a node keeps on each side.
    resets: how often a node may lose all it knows and begin again.
    silent_resets: the same, without anybody being told.
    cuts: how often a connection may break.
    idle_closes: how often a connection may be closed for want of use.
    crashes: how many nodes, but not the first, may go down for good.
    queue: how many messages fit on the way from one node to another; more are lost.
    """
    names = NAMES[:nodes]
    lacks = missing(PROFILES, bug)
    return System(
        nodes={
            name: Pastry(contact=names[0] if i else None, half=half, missing=lacks)
            for i, name in enumerate(names)
        },
        streams=Streams(queue_size=queue),
        faults=Faults(
            reset=resets,
            silent_reset=silent_resets,
            cut=cuts,
            idle_close=idle_closes,
            crash=crashes,
            nodes=names[1:] if crashes else None,
        ),
        properties=[*SAFETY, *LIVENESS],
        name="Pastry",
    )
