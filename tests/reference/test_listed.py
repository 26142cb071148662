"""The loop for plain systems against the general one, on random systems of some thousand states.

A step property that every step breaks keeps the kernel to the general loop, and changes nothing
else. Where states are many, the plain loop also leaves out what leads to states met lately.
"""

import random

import pytest
from reference.batches import batches, portion
from reference.random_systems import Ping, Sum

from presage import check
from presage.model.service.declare import action, on
from presage.model.service.service import Service
from presage.model.world.system import System
from presage.props.property import always, no_deadlock, sometimes, step

VALUES = 4
KINDS = 3
DEPTH = 12
SYSTEMS = 24


class Table(Service):
    """Looks up what to do: the next value, a record, and messages as long as there is fuel."""

    rows: tuple[tuple, ...]
    a: int = 0
    fuel: int = 3

    @on(Ping)
    def ping(self, message):
        self.do(message.n)

    @action(when=lambda self: self.a % 2 == 0)
    def poke(self):
        self.do(KINDS)

    def do(self, kind):
        self.a, record, sends = self.rows[self.a][kind]
        if record:
            self.record(record)
        for to, number in sends if self.fuel else ():
            self.send(to, Ping(number))
        self.fuel -= bool(sends and self.fuel)


def tables(seed):
    """A system without faults, on a network that is a bag or a set."""
    pick = random.Random(seed).randrange
    names = ["x", "y", "z"]

    def row():
        sends = [(names[pick(3)], pick(KINDS)) for _ in range(pick(3))]
        return pick(VALUES), pick(4) // 3, tuple(sends)

    def rows():
        return tuple(tuple(row() for _ in range(KINDS + 1)) for _ in range(VALUES))

    name, value = names[pick(3)], pick(VALUES)
    return {
        "nodes": {name: Table(rows=rows()) for name in names},
        "network": ("unordered", "duplicating")[pick(2)],
        "observers": {"sum": Sum()} if pick(2) else {},
        "skip_noops": (None, True, False)[pick(3)],
    }, [
        always(lambda world: world[name].a != value, name="always"),
        always(lambda world: sum(each.a for each in world.up()) != 2 * value, name="sum"),
        sometimes(lambda world: world[name].a == value, name="sometimes"),
        no_deadlock,
    ]


def said(nodes, properties):
    report = check(
        System(**nodes, properties=properties),
        search="bfs",
        depth=DEPTH,
        keep_going=True,
        traces=None,
        liveness="rest",
    )
    kept = [found for found in report.violations if found.prop != "never"]
    broken = {found.prop: found.steps for found in kept}
    return report, broken


@pytest.mark.parametrize("batch", batches(1, 4))
def test_the_plain_loop_lists_what_the_general_one_lists(batch):
    many = 0
    for seed in range(batch * 1000, batch * 1000 + portion(batch, SYSTEMS)):
        nodes, properties = tables(seed)
        plain, broken = said(nodes, properties)
        never = step(lambda before, after: False, name="never")
        general, expected = said(nodes, [*properties, never])
        assert general.properties["never"] == "violated"
        assert broken == expected
        for name in ("unique", "generated", "depth"):
            assert getattr(plain, name) == getattr(general, name), (seed, name)
        many += plain.unique > 10_000
    assert many
