"""More random systems: nodes with disks, clocks, counters and weighted choices, and slow ones.

The machines of `random_systems` with more operations. `featured_system(seed)` draws one.
"""

import random
from dataclasses import dataclass

from reference.random_systems import MODULUS, OPERATIONS, Keeper, Machine, build

from presage.model.service.declare import action, counter, disk, durable, on, timer, written
from presage.model.service.disk import Disk
from presage.model.service.moment import Counter, Moment
from presage.props.property import always, step

triggers = ("stored", "stamp", "rare")
PENDING_MAX = 2
COUNT_MAX = 3


@dataclass(frozen=True)
class Stamp:
    at: Moment


class Featured(Machine):
    """Has a disk, a counter and a time it has seen."""

    disk: Disk = disk()
    count: Counter = counter()
    seen: Moment | None = None

    @on(Stamp)
    def stamp(self, message):
        if message.at.before(self.now(), likely=True):
            self.run("stamp", 1)

    @written
    def stored(self, key, value):
        self.run("stored", (key + value) % MODULUS)

    @timer(periodic=True, weight=3)
    def beat(self):
        self.run("beat", 1)

    @action(when=lambda self: "rare" in self.program.rules and self.disk.idle, weight=0.5)
    def rare(self):
        self.run("rare", 0)


class Prefixed(Featured):
    """Some of what its disk was still to write may survive a crash."""

    a: int = durable(1)
    disk: Disk = disk(prefix=True)


class FeaturedKeeper(Prefixed, Keeper):
    """For the properties that ask about keepers."""


classes = (Featured, FeaturedKeeper)


def _write(self, n, source, key, value):
    if len(self.disk.pending) < PENDING_MAX:
        self.disk.write(key, (n + value) % MODULUS)


def _read(self, n, source, key):
    self.a = self.disk.read(key, self.a)


def _stored(self, n, source, key):
    self.a = self.disk.stored.get(key, self.a)


def _look(self, n, source, likely):
    if self.seen is not None and self.now().after(self.seen + 5, likely=likely):
        self.a = (self.a + 1) % MODULUS
        if self.now() - self.seen > 2.5:
            self.bag ^= {n}
    self.seen = self.now()


def _count(self, n, source):
    if self.count.value < COUNT_MAX:
        self.kept = self.count.next() % MODULUS


def _weigh(self, n, source, weights):
    self.a = self.choose(range(len(weights)), weights=weights)


def _stamp(self, n, source, target):
    if self.fuel > 0:
        self.fuel -= 1
        self.send(target, Stamp(self.now()))


def _delay(self, n, source, name, after):
    self.arm(name, *((n,) if name == "once" else ()), after=after)


OPERATIONS |= {
    "delay": _delay,
    "write": _write,
    "read": _read,
    "stored": _stored,
    "look": _look,
    "count": _count,
    "weigh": _weigh,
    "stamp": _stamp,
}


def operation(pick, names):
    kind = pick(10)
    if kind < 3:
        return ("write", pick(2), pick(MODULUS))
    if kind < 5:
        return (("read", "stored")[kind - 3], pick(2))
    if kind == 5:
        return ("look", (None, True, False)[pick(3)])
    if kind == 6:
        return ("count",)
    if kind == 7:
        return ("weigh", ((1, 1), (0, 1), (3, 1, 0))[pick(3)])
    if kind == 8:
        return ("delay", ("once", "beat")[pick(2)], (0, 1, 2.5)[pick(3)])
    return ("stamp", names[pick(len(names))])


def properties(pick, names):
    node, key, value = names[pick(len(names))], pick(2), pick(MODULUS)
    claims = (
        lambda world: world[node].disk.read(key) != value,
        lambda world: len(world[node].disk.pending) <= value,
        lambda world: world[node].disk.stored.get(0) == world[node].disk.stored.get(1),
        lambda world: world[node].count.value <= value,
    )
    return [
        always(claims[pick(4)], name="always_featured"),
        step(lambda before, after: after.count.value >= before.count.value, name="monotone"),
    ]


class _More:
    """What `build` asks for."""

    triggers = triggers
    classes = classes
    operation = staticmethod(operation)
    properties = staticmethod(properties)


def featured_system(seed, wired=False, **settings):
    """The system of a seed."""
    return build(random.Random(seed).randrange, wired, _More, **settings)
