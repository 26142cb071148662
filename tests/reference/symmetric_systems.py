"""Random small systems whose nodes are interchangeable, and what exchanging nodes makes of a state.

Members of a group run the same program, and know each other by name: in messages, in fields, in
timers and in records. Nothing in a program depends on which name it is.
"""

import random
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import ClassVar

import msgspec
from reference.random_systems import Last, Sum

from presage.model.service.declare import action, durable, on, state, timer
from presage.model.service.service import Service
from presage.model.world.faults import Partition
from presage.model.world.system import UNLIMITED, Call, Faults, System
from presage.props.property import always, eventually, no_deadlock, sometimes, step

MODULUS = 3


@dataclass(frozen=True)
class Word:
    n: int
    about: str | None = None

    @property
    def lane(self):
        """On the network `lanes`: some are about a node, some for all, some datagrams."""
        return (None, ("about", self.about), "all")[self.n]


@dataclass(frozen=True)
class Program:
    rules: dict[str, tuple[tuple, ...]]
    guard: int

    def __deepcopy__(self, memo):
        return self


class Member(Service):
    triggers: ClassVar = ("start", "word", "once", "poke", "work")
    program: Program
    peers: tuple[str, ...]  # in another order for each node
    crowd: frozenset[str]
    a: int = 0
    fuel: int = durable(1)
    friend: str | None = durable(None)
    known: set[str] = state(set)
    heard: list[str] = state(list)

    def start(self):
        self.run("start", 0, None, None)

    @on(Word, when=lambda self, word: (self.a + word.n) % MODULUS != self.program.guard)
    def word(self, word, source):
        self.run("word", word.n, source, word.about)

    @timer
    def once(self, about):
        self.run("once", 1, about, None)

    @action(when=lambda self: "poke" in self.program.rules and self.a < 2)
    def poke(self):
        self.run("poke", 1, None, None)

    def work(self, n):
        self.run("work", n, None, None)

    def run(self, trigger, n, source, about):
        for operation, value in self.program.rules.get(trigger, ()):
            getattr(self, "op_" + operation)((n + value) % MODULUS, source, about)

    def op_add(self, n, source, about):
        self.a = (self.a + n) % MODULUS

    def op_reply(self, n, source, about):
        self.pay(source or self.name, Word(n, self.friend))

    def op_tell(self, n, source, about):
        self.pay(self.friend, Word(n, source))

    def op_hub(self, n, source, about):
        self.pay("hub", Word(n, about))

    def op_all(self, n, source, about):
        if self.fuel:
            self.fuel -= 1
            for peer in self.peers:
                self.send(peer, Word(n, about or self.name))

    def op_some(self, n, source, about):
        self.pay(self.choose(self.peers), Word(n))

    def op_befriend(self, n, source, about):
        self.friend = about or source

    def op_note(self, n, source, about):
        self.known |= {source or self.name}

    def op_hear(self, n, source, about):
        if len(self.heard) < 2:
            self.heard.append(source or self.name)

    def op_arm(self, n, source, about):
        self.arm("once", source)

    def op_record(self, n, source, about):
        self.record(n)

    def op_fail(self, n, source, about):
        if self.a == n and self.known:
            raise ValueError(f"{self.name} has had enough of {source}")

    def pay(self, to, word):
        if self.fuel and to is not None:
            self.fuel -= 1
            self.send(to, word)


def _program(pick, member):
    operations = [name[3:] for cls in (Member, member) for name in vars(cls) if name[:3] == "op_"]

    def operation():
        return operations[pick(len(operations))], pick(MODULUS)

    present = [trigger for trigger in member.triggers if pick(5) < 3]
    rules = {trigger: tuple(operation() for _ in range(1 + pick(3))) for trigger in present}
    return Program(rules, pick(MODULUS + 1))


def _faults(pick, names, network):
    apart = pick(4) == 0
    return Faults(
        reset=(0, 0, 0, 1)[pick(4)],
        partition=int(apart),
        heal=int(apart),
        partitions=[Partition({"hub": ["hub"], "others": names})] if apart else [],
        crash=(0, 0, 1, 2, UNLIMITED)[pick(5)],
        restart=(0, 1, UNLIMITED)[pick(3)],
        drop=(0, 0, 1, UNLIMITED)[pick(4)],
        duplicate=0 if network == "duplicating" else (0, 0, 1)[pick(3)],
        nodes=(None, names, ("hub",))[pick(3)],
    )


def _predicate(pick):
    """A function of a world that does not ask which node is which, and is true in most worlds."""
    value = pick(MODULUS)
    return (
        lambda world: sum(each.a for each in world.nodes) != value + 2,
        lambda world: len({each.friend for each in world.nodes}) <= value + 1,
        lambda world: not any(each.name in each.known for each in world.nodes),
        lambda world: not any(world[each.friend].friend == each.name for each in _in_love(world)),
        lambda world: len(world.messages()) <= value + 1,
        lambda world: not any(each.message.about == each.to for each in world.messages(Word)),
        lambda world: world.observer("sum") != value + 1,
        lambda world: len(world.observer("last")) <= value,
        lambda world: all(each.up for each in world.nodes),
        lambda world: not any(each.timers for each in world.up()),
    )[pick(10)]


def _in_love(world):
    return [each for each in world.nodes if each.friend not in (None, each.name)]


def _negated(predicate):
    return lambda world: not predicate(world)


def build(pick, member=Member, slow=(0,), lanes=False):
    """A system made of the integers that `pick(n)` gives; `slow`: how often nodes may be that."""
    names = tuple(f"n{index}" for index in range((2, 3, 3, 4)[pick(4)]))
    groups = [names] if len(names) < 4 or pick(2) else [names[:2], names[2:]]
    everyone = (*names, "hub")
    network = ("unordered", "duplicating", "ordered")[pick(3)]
    network = "lanes" if lanes else network
    programs = [_program(pick, member) for _ in groups]
    nodes = {
        name: member(
            program=next(p for p, group in zip(programs, groups, strict=True) if name in group),
            peers=tuple(sorted(set(names) - {name}, key=lambda _: pick(100))),
            crowd=frozenset(names),
        )
        for name in names
    }
    nodes["hub"] = member(program=_program(pick, member), peers=names, crowd=frozenset(everyone))
    calls = {name: [Call("work", 1)] for name in everyone} if pick(3) == 0 else {}
    return System(
        nodes=nodes,
        network=network,
        faults=replace(_faults(pick, names, network), slow=slow[pick(len(slow))]),
        calls=calls,
        observers={"sum": Sum(), "last": Last()},
        properties=[
            always(_predicate(pick), name="always_one"),
            always(_predicate(pick), name="always_two"),
            sometimes(_negated(_predicate(pick)), name="sometimes"),
            eventually(_predicate(pick), name="eventually"),
            step(lambda before, after: before.known <= after.known, name="step"),
            no_deadlock(unless=_predicate(pick)),
        ],
        skip_noops=(None, True, False)[pick(3)],
        symmetric=groups,
    )


def symmetric_system(seed, **how):
    """The system of a seed."""
    return build(random.Random(seed).randrange, **how)


def renamed(value, names):
    """A plain value with names exchanged."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, dict):
        return {renamed(key, names): renamed(each, names) for key, each in value.items()}
    if isinstance(value, (tuple, list, set, frozenset)):
        return type(value)(renamed(each, names) for each in value)
    if is_dataclass(value) and not isinstance(value, (type, Program)):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return replace(value, **{name: renamed(part, names) for name, part in parts.items()})
    if isinstance(value, msgspec.Struct):
        parts = msgspec.structs.asdict(value)
        return type(value)(**{name: renamed(part, names) for name, part in parts.items()})
    return value
