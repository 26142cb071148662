"""Paxos as CrystalBall ran it: every node leads, accepts and learns, and learns by itself.

After the baseline Paxos of Mace in the experiments of CrystalBall (Yabandeh et al., "CrystalBall:
Predicting and Preventing Inconsistencies in Deployed Distributed Systems", NSDI 2009, section
4.4.2). Certain: the five steps, that acceptors send Learn to all learners, three nodes that play
all roles, the property, the two bugs, the scenario. Reconstructed: the numbers of rounds, that a
node does on the spot what it would send to itself, and what is written to disk.

`paxos` is another: there one leader counts votes and says what was decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from presage import Call, Faults, System
from presage.systems.catalogue import missing
from presage.systems.mace_paxos.bugs import PROFILES, NoDisk
from presage.systems.mace_paxos.messages import Learn
from presage.systems.mace_paxos.properties import chosen, one_value
from presage.systems.mace_paxos.service import Paxos

BugName = Literal["none", "PX-bug1", "PX-bug2", "PX-maj", "PX-resp", "PX-acc", "PX-learn"]
NAMES = ("a", "b", "c")
ROUND = 1.0  # seconds that a round of the scenario is given


def system(
    *,
    proposers: int = 2,
    crashes: int = 0,
    retries: int = 0,
    bug: BugName = "none",
) -> System:
    """Three nodes, `a`, `b` and `c`.

    proposers: how many of them propose, each its own number, once, at any time.
    crashes: how many times a node may crash and come back.
    retries: how many times a node may propose again.
    bug: the profile of rules that are missing.
    """
    lacks = missing(PROFILES, bug)
    node = NoDisk if "disk" in lacks else Paxos
    return System(
        nodes={name: node(members=NAMES, retries=retries, missing=lacks) for name in NAMES},
        network="unordered",
        faults=Faults(crash=crashes, restart=crashes),
        calls={name: [Call("propose", at)] for at, name in enumerate(NAMES[:proposers])},
        properties=[one_value, chosen],
        name="Paxos with learners",
    )


@dataclass(frozen=True)
class Act:
    """What a scenario does at a moment: `do` is a command, `args` what it is about."""

    at: float  # seconds since the beginning
    do: Literal["cut", "heal", "lose", "keep", "call", "kill", "start"]
    args: tuple[Any, ...] = ()


def scenario(*, gap: float, reset: bool = False) -> tuple[Act, ...]:
    """The two rounds of the paper's Figure 8, for a driver of nodes or of a network.

    In the first, `c` is cut off, and no Learn from `a` reaches `b`; `a` proposes 0. In the second,
    `a` is cut off; `b` proposes 1. Between them, all are connected for `gap` seconds, which the
    paper draws from 0 to 20. With `reset`, as for PX-bug2, `b` is reset in the meantime.

    gap: seconds between the rounds.
    reset: whether `b` is killed and started when the first round is over.

    "cut" and "heal" have the name of the node, "lose" and "keep" the class of a message, its source
    and its receiver, "call" the node, the method and its arguments, "kill" and "start" the node.
    """
    over = ROUND
    again = over + gap
    first = (
        Act(0.0, "cut", ("c",)),
        Act(0.0, "lose", (Learn, "a", "b")),
        Act(0.0, "call", ("a", "propose", 0)),
        Act(over, "heal", ("c",)),
        Act(over, "keep", (Learn, "a", "b")),
    )
    reborn = (Act(over, "kill", ("b",)), Act(over, "start", ("b",))) if reset else ()
    second = (Act(again, "cut", ("a",)), Act(again, "call", ("b", "propose", 1)))
    return (*first, *reborn, *second)
