"""Random systems on the network `lanes`: those of others, whose messages are given lanes.

Every `send` of a program is turned into one with a lane, or without. So each family of random
systems has one with lanes, and two that must behave like it on another network: where no message
has a lane, and where all between two nodes have the same.
"""

import random
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from reference.random_systems import MODULUS, OPERATIONS, Note, Ping, Program

from presage.model.world.system import System

LANES = (None, None, "a", "b", ("a", 1))


@dataclass(frozen=True)
class Routed(Ping):
    """Its lane is a field."""

    lane: Any = None


class Worded(Note):
    """Its lane is its first word; nodes may be closed to it."""

    @property
    def lane(self):
        return self.words[0] if self.words else None


@dataclass(frozen=True)
class Split(Ping):
    """Its lane depends on what it says."""

    @property
    def lane(self):
        return ("a", self.n) if self.n else None


def _message(kind, number, lane):
    if kind == 1:
        return Worded(number, () if lane is None else (lane,))
    return Split(number) if kind == 2 and lane == "b" else Routed(number, lane)


def _route(self, n, source, target, kind, value, lane):
    if self.fuel > 0:
        self.fuel -= 1
        to = source if target is None and source is not None else target or self.name
        self.send(to, _message(kind, (n + value) % MODULUS, lane))


OPERATIONS["route"] = _route


def routed(system, lanes, network="lanes", fuel=lambda: 0, **more):
    """`system` on another network; each `send` becomes one in each of the lanes of `lanes()`.

    Each node has so much more `fuel()` for them. Most go to the first node: lanes get longer.
    """

    def operations(each):
        if each[0] != "send":
            return [each]
        _, to, kind, value = each
        to = system.names[0] if value else to
        return [("route", to, kind, value, lane) for lane in lanes()]

    def node(prototype):
        rules = prototype.program.rules.items()
        rules = {trigger: tuple(chain(*map(operations, each))) for trigger, each in rules}
        changed = copy(prototype)
        changed.program = Program(rules, prototype.program.guards)
        changed.fuel += fuel()
        return changed

    settings = {
        "faults": system.faults,
        "calls": system.calls,
        "observers": system.observers,
        "properties": system.properties,
        "streams": system.streams,
        "skip_noops": system.skip_noops,
        **more,
    }
    nodes = {name: node(prototype) for name, prototype in system.nodes.items()}
    return System(nodes, network=network, **settings)


def mixed(make, seed, loses=False):
    """A system of the family `make`, some of whose messages have lanes.

    Faults lose and repeat some of the others, always if it `loses`.
    """
    pick = random.Random(seed).randrange
    system = make(seed)
    lost = {"drop": (0, 1, 1, 2)[pick(4)], "duplicate": (0, 0, 1)[pick(3)]}
    if loses:
        lost = {"drop": 1, "duplicate": seed % 2}
    faults = replace(system.faults, **lost) if pick(2) or loses else system.faults

    def lanes():
        return [LANES[pick(len(LANES))] for _ in range((1, 2, 2, 3)[pick(4)])]

    return routed(system, lanes, fuel=lambda: pick(2), faults=faults)


def alike(make, seed, lane, other, faults):
    """Two systems: with the same lane for all, and on the network that this is the same as."""
    system = make(seed)
    settings = {"faults": replace(system.faults, **faults)} if faults else {}
    if other == "ordered":  # it skips what does nothing only if asked to, and lanes never do
        settings["skip_noops"] = False
    settings["fuel"] = lambda: seed % 3
    lanes = [lane] * (1 + seed % 2)
    return (routed(system, lambda: lanes, network, **settings) for network in ("lanes", other))


NO_LOSSES = {"drop": 0, "duplicate": 0}
LOSSES = {"drop": 1, "duplicate": 1}
