"""Random small systems, to compare two ways of exploring.

A node is a little machine: its `program` says, for every trigger (a message, a timer, an action, a
call, the start), which operations to do. Numbers are kept below `MODULUS` and sends are paid from
`fuel`, so state spaces stay small, though not always: callers bound them.

`build(pick)` makes a system out of integers: `pick(n)` gives one below n. `random_system(seed)`
draws them from a seeded generator, `systems()` from Hypothesis, which can then make them smaller.
With `wired`, nodes use streams too, and there are the faults that happen to connections; `more`
says what else nodes do (see `random_features`).
"""

import random
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from hypothesis import strategies as st
from reference.random_faults import plain_faults, slow_too, wired_faults

from presage.model.service.declare import action, broken, durable, ghost, on, state, timer
from presage.model.service.service import Service
from presage.model.service.stream import Connect, Streams
from presage.model.world.system import Call, System
from presage.props.property import always, eventually, no_deadlock, sometimes, step

MODULUS = 3
TRIGGERS = ("start", "ping", "note", "flag", "once", "beat", "poke", "nudge", "work")


@dataclass(frozen=True)
class Ping:
    n: int


class Note(NamedTuple):
    n: int
    words: tuple[str, ...] = ()


class Flag(Enum):
    LOW = 0
    HIGH = 1


@dataclass(frozen=True)
class Program:
    rules: dict[str, tuple[tuple, ...]]  # trigger -> operations
    guards: dict[str, int]  # trigger -> the value of `a` at which it is not enabled

    def __deepcopy__(self, memo):
        return self  # nothing ever changes it, and copying states is what exploring them costs


class Machine(Service):
    """Does what its program says."""

    program: Program
    over: int = 0  # how many values the action `poke` has
    a: int = 0
    kept: int = durable(0)
    fuel: int = durable(0)
    bag: set[int] = state(set)
    hops: int = ghost(0)

    def start(self):
        self.run("start", 0)

    @on(Ping)
    def ping(self, message, source):
        self.run("ping", message.n, source)

    @on(Note, when=lambda self, message: self.allows("note", message.n))
    def note(self, message):
        self.run("note", message.n)

    @on(Flag, when=lambda self, message, source: source == self.name or self.allows("flag"))
    def flag(self, message, source):
        self.run("flag", message.value, source)

    @timer
    def once(self, n):
        self.run("once", n)

    @timer(periodic=True)
    def beat(self):
        self.run("beat", 1)

    @action(when=lambda self, n: self.allows("poke", n), over=lambda self: range(self.over))
    def poke(self, n):
        self.run("poke", n)

    @action(when=lambda self: "nudge" in self.program.rules and self.allows("nudge"))
    def nudge(self):
        self.run("nudge", 2)

    @broken
    def lost(self, peer):
        self.run("lost", 1, peer)

    def work(self, n):
        self.run("work", n)

    def allows(self, trigger, n=0):
        return self.program.guards.get(trigger) != (self.a + n) % MODULUS

    def run(self, trigger, n, source=None):
        self.hops += 1
        for operation, *args in self.program.rules.get(trigger, ()):
            OPERATIONS[operation](self, n, source, *args)


class Keeper(Machine):
    """A second class of node: keeps `a` over a crash, and cares who connects."""

    a: int = durable(1)

    @on(Connect, when=lambda self: self.allows("ping", 1))
    def connected(self, connect, source):
        self.run("ping", 0, source)


def _send(self, n, source, target, kind, value):
    if self.fuel > 0:
        self.fuel -= 1
        to = source if target is None and source is not None else target or self.name
        number = (n + value) % MODULUS
        self.send(to, _message(kind, number))


def _message(kind, number):
    return (Ping(number), Note(number, ("w",) * (number % 2)), Flag(number % 2))[kind]


def _flow(self, n, source, target, kind, value):
    """Send on a stream, and remember a refusal."""
    if self.fuel > 0:
        self.fuel -= 1
        to = source if target is None and source is not None else target or self.name
        number = (n + value) % MODULUS
        stream = self.stream
        if not (stream.connect(to) if kind == 3 else stream.send(to, _message(kind, number))):
            self.a = (self.a + 1) % MODULUS
            self.fuel += 1


def _close(self, n, source, target):
    self.stream.close(source if target is None and source is not None else target or self.name)


def _fail(self, n, source, value):
    if (self.a + n) % MODULUS == value:
        raise ValueError(f"{self.name} does not like {value}, {self.bag}")


def _choose(self, n, source, count):
    self.a = (self.a + self.choose(range(count))) % MODULUS


def _draw(self, n, source, count):
    self.bag = set(self.random.sample(range(count), self.random.randint(0, 1)))


def _set(self, n, source, value):
    self.a = (n + value) % MODULUS


def _keep(self, n, source, value):
    self.kept = (self.kept + value) % MODULUS


def _toggle(self, n, source, value):
    self.bag ^= {value}


def _arm(self, n, source, name):
    self.arm(name, *((n,) if name == "once" else ()))


def _disarm(self, n, source, name):
    self.disarm(name, *((n,) if name == "once" else ()))


def _record(self, n, source, value):
    self.record((n + value) % MODULUS)


def _log(self, n, source):
    self.log(f"{n} at {self.name}")


OPERATIONS = {
    "send": _send,
    "fail": _fail,
    "choose": _choose,
    "draw": _draw,
    "set": _set,
    "keep": _keep,
    "toggle": _toggle,
    "arm": _arm,
    "disarm": _disarm,
    "record": _record,
    "log": _log,
    "flow": _flow,
    "close": _close,
}


class Sum:
    """An observer: the records added up."""

    def initial(self):
        return 0

    def observe(self, state, node, record):
        return (state + record) % 4


class Last:
    """An observer: the last record of each node, in a dict that it changes in place."""

    def initial(self):
        return {}

    def observe(self, state, node, record):
        state[node] = record
        return state


def _operation(pick, names, wired, more=None):
    if more and pick(3) == 0:
        return more.operation(pick, names)
    if wired and pick(5) < 3:
        to = (*names, None)[pick(len(names) + 1)]
        return ("close", to) if pick(6) == 0 else ("flow", to, pick(4), pick(MODULUS))
    kind = pick(14)
    if kind < 5:
        target = pick(len(names) + 1)
        to = None if target == len(names) else names[target]
        return ("send", to, pick(3), pick(MODULUS))
    if kind == 5:
        return ("choose", 1 + pick(3))
    if kind == 6:
        return ("draw", 1 + pick(2))
    if kind in (7, 8):
        return (("set", "keep")[kind - 7], pick(MODULUS))
    if kind == 9:
        return ("toggle", pick(2))
    if kind == 10:
        return (("arm", "arm", "disarm")[pick(3)], ("once", "beat")[pick(2)])
    if kind == 11:
        return ("fail", pick(MODULUS + 2))  # values above MODULUS - 1 never fail
    return (("record", pick(MODULUS)), ("log",))[kind - 12]


def _machine(pick, names, wired, more=None):
    known = TRIGGERS + more.triggers if more else TRIGGERS
    present = [trigger for trigger in known if pick(5) < 2]
    present += ["lost"] if wired and pick(3) else []
    rules = {
        trigger: tuple(_operation(pick, names, wired, more) for _ in range(1 + pick(3)))
        for trigger in present
    }
    guards = {trigger: pick(MODULUS) for trigger in present if pick(3) == 0}
    cls = (more.classes if more else (Machine, Keeper))[pick(4) == 0]
    over = pick(3) if "poke" in rules else 0
    return cls(program=Program(rules, guards), over=over, fuel=(0, 1, 1, 2)[pick(4)])


def _wired_predicate(pick, names):
    """The same about streams."""
    node, peer, value = names[pick(len(names))], names[pick(len(names))], pick(MODULUS)
    return (
        lambda world: not world.connection(node, peer).open,
        lambda world: not world.connection(node, peer).broken,
        lambda world: len(world.connection(node, peer).queued) <= value,
        lambda world: Ping(value) not in world.connection(node, peer).queued,
        lambda world: len(world.messages(Connect)) == 0,
        lambda world: world.partition is None,
    )[pick(6)]


def _predicate(pick, names, wired=False):
    """A function of a world that is true in most."""
    if wired and pick(2):
        return _wired_predicate(pick, names)
    node, value = names[pick(len(names))], pick(MODULUS)
    return (
        lambda world: world[node].a != value,
        lambda world: sum(each.kept for each in world.up()) != value + 1,
        lambda world: len(world.messages()) <= value + 1,
        lambda world: not any(each.message.n == value for each in world.messages(Note)),
        lambda world: len(world.messages(Ping, Flag)) != value + 1,
        lambda world: world.observer("sum") != value + 1,
        lambda world: world.observer("last").get(node) != value,
        lambda world: all(value not in each.bag for each in world.of(Machine)),
        lambda world: not all(each.timers for each in world.of(Keeper)),
        lambda world: world[node].up,
    )[pick(10)]


def _step_predicate(pick):
    value = pick(MODULUS)
    return (
        lambda before, after: after.a >= before.a or before.a != value,
        lambda before, after: after.kept >= before.kept,
        lambda before, after: before.bag <= after.bag,
        lambda before, after: len(after.timers) <= value,
    )[pick(4)]


def _negated(predicate):
    return lambda world: not predicate(world)


def _properties(pick, names, wired):
    properties = [
        always(_predicate(pick, names, wired), name="always_one"),
        always(_predicate(pick, names), name="always_two"),
        sometimes(_negated(_predicate(pick, names, wired)), name="sometimes"),
        eventually(_predicate(pick, names, wired), name="eventually"),
        step(_step_predicate(pick), name="step"),
        step(_step_predicate(pick), of=Keeper, name="step_of_keeper"),
    ]
    if pick(2):
        properties.append(no_deadlock(unless=_predicate(pick, names)))
    return properties


def build(pick, wired=False, more=None, **settings):
    """A system made of the integers that `pick(n)` gives."""
    names = [f"n{index}" for index in range((2, 2, 2, 3, 3 if wired else 4)[pick(5)])]
    network = ("unordered", "duplicating", "ordered")[pick(3)]
    nodes = {name: _machine(pick, names, wired, more) for name in names}
    faults = (wired_faults if wired else plain_faults)(pick, names, network)
    return System(
        nodes=nodes,
        network=network,
        faults=slow_too(pick, faults) if more else faults,
        streams=Streams((None, 1, 1, 2)[pick(4)]) if wired else None,
        calls={
            name: [Call("work", pick(MODULUS)) for _ in range(1 + pick(2))]
            for name in names
            if pick(3) == 0
        },
        observers={"sum": Sum(), "last": Last()},
        properties=_properties(pick, names, wired) + (more.properties(pick, names) if more else []),
        skip_noops=(None, True, False)[pick(3)],
        **settings,
    )


def random_system(seed, wired=False):
    """The system of a seed."""
    return build(random.Random(seed).randrange, wired)


def systems(wired=False):
    """A Hypothesis strategy of systems."""

    @st.composite
    def drawn(draw):
        return build(lambda n: draw(st.integers(0, n - 1)), wired)

    return drawn()
