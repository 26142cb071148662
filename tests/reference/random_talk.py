"""Random systems that talk a lot: streams, datagrams, closes, and every fault, more than once.

For snapshots, which are about what is under way: nodes have much fuel, and nothing ends for long.
"""

import random

from reference.random_systems import MODULUS, Keeper, Machine, Program

from presage.model.service.stream import Streams
from presage.model.world.faults import Faults
from presage.model.world.system import System


def _operation(pick, names):
    to = (*names, None)[pick(len(names) + 1)]
    return (
        ("flow", to, pick(4), pick(MODULUS)),
        ("flow", to, pick(3), pick(MODULUS)),
        ("flow", to, pick(3), pick(MODULUS)),
        ("send", to, pick(3), pick(MODULUS)),
        ("arm", "once"),
        ("set", pick(MODULUS)),
        ("keep", 1),
        ("close", to) if pick(3) == 0 else ("keep", 1),
    )[pick(8)]


def _machine(pick, names):
    triggers = ("start", "ping", "note", "flag", "once", "work", "lost")
    rules = {
        trigger: tuple(_operation(pick, names) for _ in range(1 + pick(3))) for trigger in triggers
    }
    rules["start"] += (("arm", "once"),)
    guards = {trigger: pick(MODULUS) for trigger in ("note", "flag") if pick(2)}
    cls = (Machine, Keeper)[pick(4) == 0]
    return cls(program=Program(rules, guards), fuel=10 + pick(30))


def talking_system(seed):
    """The system of a seed."""
    pick = random.Random(seed).randrange
    names = [f"n{index}" for index in range(2 + pick(3))]
    network = ("unordered", "unordered", "ordered", "duplicating")[pick(4)]

    def amount():
        return (0, 0, 1, 2)[pick(4)]

    faults = Faults(
        crash=amount(),
        restart=amount(),
        reset=amount(),
        silent_reset=amount(),
        cut=amount(),
        slow=int(pick(4) == 0),
        drop=0 if network == "duplicating" else amount(),
        duplicate=0 if network == "duplicating" else int(pick(4) == 0),
    )
    return System(
        nodes={name: _machine(pick, names) for name in names},
        network=network,
        faults=faults,
        streams=Streams((None, 1, 2, 3)[pick(4)]),
    )
