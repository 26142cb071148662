"""Random claims in words about many nodes: `forall`, `exactly` and the like, of a few functions.

The functions capture nothing, so what each says of one node is remembered by itself. Claims use
more than their answers: reasons, exceptions, and values that are read in between.
"""

import random
from copy import copy

from reference.random_systems import MODULUS

from presage import Verdict, at_least, at_most, exactly, exists, forall
from presage.props.property import always, eventually, sometimes


def idle(node):
    return node.a == 0


def small(node):
    return node.a < 2 if node.fuel else node.kept == 1


def armed(node):
    return not node.presage.up or bool(node.timers)


def with_reason(node):
    return Verdict.fails("x" * (node.a + 1)) if node.a != 1 else node.kept == 0


def raising(node):
    return bool(1 // node.a)


def alike(node):
    return forall([node], idle) or exists([node], small)


PLAIN = (idle, small, armed, alike)
FUNCTIONS = (*PLAIN, with_reason)


def _claim(pick):
    one, two = FUNCTIONS[pick(len(FUNCTIONS))], PLAIN[pick(len(PLAIN))]
    count, value = pick(3), pick(MODULUS)

    def by_reason(world):
        return forall(world.nodes, with_reason).why.count("x") != value + 1

    def by_exception(world):
        try:
            return bool(forall(world.nodes, raising))
        except ZeroDivisionError:
            return at_most(count, world.nodes, one)

    def between(world):
        function = one if exactly(count, world.nodes, two) else idle
        return bool(exists(world.nodes, function)) or world.nodes[0].a != value

    def by_capture(world):
        least = world.nodes[value % len(world.nodes)].a
        return forall(world.nodes, lambda node: node.a >= least)

    def by_default(world):
        least = world.nodes[value % len(world.nodes)].a
        return exactly(count, world.nodes, lambda node, least=least: node.a >= least)

    return (
        lambda world: forall(world.nodes, one),
        lambda world: exactly(count, world.nodes, one),
        lambda world: at_least(count, world.up(), one),
        lambda world: forall(world.nodes, one) or len(world.messages()) <= value,
        lambda world: world.nodes[-1].a == value or at_most(count, world.nodes, two),
        by_reason,
        by_exception,
        between,
        by_capture,
        by_default,
    )[pick(10)]


def worded(system, seed):
    """The same system, with claims in words instead of its own."""
    pick, made = random.Random(seed).randrange, copy(system)
    made.properties = tuple(
        kind(_claim(pick), name=f"{kind.__name__}_{at}")
        for at in range(4)
        for kind in (always, eventually, sometimes)
    )
    return made
