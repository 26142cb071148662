"""Chord: nodes on a circle that find their place in a ring, and keep it together.

The version of Mace that MaceMC and CrystalBall found bugs in, with all its fixes. Which of them
are missing is told by `bug`; the catalogue is in `presage.systems.chord.bugs`.
"""

from __future__ import annotations

from typing import Literal

from presage import Faults, Streams, System
from presage.systems.catalogue import missing
from presage.systems.chord.bugs import PROFILES
from presage.systems.chord.circle import IDENTIFIERS, name_of
from presage.systems.chord.properties import LATER, LIVENESS, SAFETY
from presage.systems.chord.service import Chord

BugName = Literal[
    "none",
    "CH-succ",
    "CH-2",
    "CH-8",
    "CH-13",
    "CH-17",
    "CH-18",
    "CH-HP1",
    "CH-HP2",
    "CH-1132",
    "CH-rec",
    "CH-Aimin",
    "CB-CH1",
    "CB-CH2",
    "CH-Z1",
    "CH-Z2",
    "CH-Z3",
]

ERAS = {
    "2006": frozenset({"recovery", "push", "ask_first", "order"}),
    "2010": frozenset({"ask_first"}),
    "2017": frozenset[str](),
}


def system(
    *,
    nodes: int = 3,
    bug: BugName = "none",
    era: Literal["2006", "2010", "2017"] = "2010",
    keeps: int = 2,
    resets: int = 0,
    silent_resets: int = 0,
    cuts: int = 0,
    idle_closes: int = 0,
    crashes: int = 0,
    queue: int | None = None,
    victims: Literal["all", "joiners"] = "all",
) -> System:
    """A ring that the first node begins; the others join through any node before them.

    nodes: how many, 1 to 5.
    bug: the profile of a bug, such as `CH-17`.
    era: `2006` has neither the recovery timer nor the push to an old predecessor; `2017` asks a
        node whether it is there before it believes others that say so.
    keeps: how many successors a node remembers.
    resets: how often a node may lose all it knows and begin again.
    silent_resets: the same, without anybody being told.
    cuts: how often a connection may break.
    idle_closes: how often a connection may be closed for want of use.
    crashes: how many joiners may go down for good; all then join through the first node.
    queue: how many messages fit on the way from one node to another; more are lost.
    victims: who may be reset: everybody, or everybody but the first node.
    """
    names = tuple(map(name_of, IDENTIFIERS[:nodes]))
    lacks = missing(PROFILES, bug) | ERAS[era]
    return System(
        nodes={
            name: Chord(
                contacts=names[:1] if crashes or not i else names[:i], keeps=keeps, missing=lacks
            )
            for i, name in enumerate(names)
        },
        streams=Streams(queue_size=queue),
        faults=Faults(
            reset=resets,
            silent_reset=silent_resets,
            cut=cuts,
            idle_close=idle_closes,
            crash=crashes,
            nodes=names[1:] if crashes or victims == "joiners" else None,
        ),
        properties=[*SAFETY, *(LATER if era != "2006" else ()), *LIVENESS],
        name="Chord",
    )
