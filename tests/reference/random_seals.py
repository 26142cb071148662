"""Random seals for random systems, most of them such that every sealed state can be left."""

import random

from reference.explorer import explore
from reference.random_systems import Flag, Note, Ping
from reference.sealed import Stuck

from presage import Seal

WORDS = (Ping, Note, Flag, "mail", "mail", "timer", "action", "call", object)
REPAIRS_MAX = 6


def look(world):
    """What tells states apart well enough: the nodes, and how much is in flight."""
    nodes = tuple(
        (node.presage.up, getattr(node, "a", 0), len(node.timers)) for node in world.nodes
    )
    return nodes, len(world.messages())


def condition(pick, exempt):
    """True in half of all states, or in all of a kind, but for those that are exempt."""
    share, salt = pick.choice((2, 4, 4)), pick.randrange(1000)
    types = pick.choice(((), (Ping,), (Note,), (Ping, Flag), None))

    def holds(world):
        if types is not None and not world.messages(*types):
            return False
        seen = look(world)
        return hash((salt, seen)) % 4 < share and seen not in exempt

    return holds


def sealed(system, seed, states, repair=True):
    """`system` with seals, and what the reference says of it: a result, or the seal that is stuck.

    With `repair` a seal is lifted in the states that it would hold for ever, while that helps.
    """
    pick = random.Random(seed)
    names = [f"seal{number}" for number in range(pick.choice((1, 1, 2)))]
    exempt = {name: set() for name in names}
    words = (*WORDS, *system.names)
    system.seals = tuple(
        Seal(
            when=condition(pick, exempt[name]),
            only=tuple(pick.sample(words, pick.choice((1, 1, 2, 3)))),
            first=pick.random() < 0.4,
            name=name,
        )
        for name in names
    )
    for left in reversed(range(REPAIRS_MAX if repair else 1)):
        try:
            return system, explore(system, states)
        except Stuck as stuck:
            name, world = stuck.args
            if left:
                exempt[name].add(look(world))
    return system, name
