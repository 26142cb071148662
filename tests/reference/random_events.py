"""Random small systems whose executions end, for exploring executions one by one.

The machines of `random_systems` without periodic timers: each starts by sending something, reacts
to most messages, and pays for sends from its fuel. `build(pick)` makes a system out of integers, as
there; `lively_system(seed)` draws them from a seeded generator.
"""

import random

from reference.random_systems import MODULUS, Keeper, Last, Machine, Program, Sum

from presage.model.world.faults import UNLIMITED, Faults
from presage.model.world.system import Call, System
from presage.props.property import always, eventually, no_deadlock, sometimes, step

TRIGGERS = ("ping", "note", "flag", "once", "nudge", "work")


def _send(pick, names):
    return ("send", (*names, None)[pick(len(names) + 1)], pick(3), pick(MODULUS))


def _operation(pick, names):
    kind = pick(16)
    if kind < 5:
        return _send(pick, names)
    if kind < 11:
        value = pick(MODULUS)
        return (("set", "set", "keep", "toggle", "record", "fail")[kind - 5], value + (kind == 10))
    if kind < 13:
        return ("choose", 2)
    return (("arm", "arm", "disarm")[kind - 13], "once")


def machine(pick, names, wire=lambda rules: rules):
    """A node; `wire` has the last word on what it does."""
    rules = {"start": tuple(_send(pick, names) for _ in range(pick(3)))}
    if pick(4) == 0:
        rules["start"] += (("arm", "once"),)
    for trigger in TRIGGERS:
        if pick(5) < (1 if trigger == "nudge" else 4):
            rules[trigger] = tuple(_operation(pick, names) for _ in range(1 + pick(2)))
    guards = {trigger: pick(MODULUS) for trigger in rules if pick(3) == 0}
    if "nudge" in rules:  # an action that nothing ends would go on for ever
        rules["nudge"] = (("set", pick(MODULUS)), *rules["nudge"])
    cls = (Machine, Keeper)[pick(5) == 0]
    return cls(program=Program(wire(rules), guards), fuel=1 + pick(3))


def _predicate(pick, names):
    one, other, value = names[pick(len(names))], names[pick(len(names))], pick(MODULUS)
    return (
        lambda world: world[one].a != value,
        lambda world: world[one].a != value or world[other].kept != 1,
        lambda world: not (world[one].a == value and world[other].a == 1),
        lambda world: sum(each.kept for each in world.up()) != value + 1,
        lambda world: len(world.messages()) <= value + 2,
        lambda world: world.observer("sum") != value + 1,
        lambda world: world.observer("last").get(one) != value,
        lambda world: world.observer("order")[:1] != (one,),
        lambda world: world.observer("order")[1:3] != (one, other),
        lambda world: all(value not in each.bag for each in world.of(Machine)),
        lambda world: world[one].up,
    )[pick(11)]


def _negated(predicate):
    return lambda world: not predicate(world)


def _step_predicate(pick):
    value = pick(MODULUS)
    return (
        lambda before, after: after.a >= before.a or before.a != value,
        lambda before, after: before.bag <= after.bag,
    )[pick(2)]


class Order:
    """An observer: whose records came first, in order."""

    def initial(self):
        return ()

    def observe(self, state, node, record):
        return (*state, node)[:4]


def judged(pick, names):
    properties = [
        eventually(_predicate(pick, names), name="eventually"),
        eventually(_predicate(pick, names), name="eventually_too"),
        step(_step_predicate(pick), name="step"),
    ]
    properties += [always(_predicate(pick, names), name=f"always_{at}") for at in range(pick(3))]
    if pick(3) == 0:
        properties.append(sometimes(_negated(_predicate(pick, names)), name="sometimes"))
    if pick(2):
        properties.append(no_deadlock(unless=_predicate(pick, names)))
    return properties


def _faults(pick, names, network):
    if pick(3):
        return Faults()
    lossy = network == "unordered"
    return Faults(
        crash=int(pick(3) == 0),
        restart=int(pick(3) == 0),
        reset=int(pick(4) == 0),
        slow=int(pick(5) == 0),
        drop=(0, 1, 1, 2)[pick(4)] if lossy else 0,
        duplicate=int(pick(3) == 0) if lossy else 0,
        nodes=None if pick(2) else names[: 1 + pick(len(names))],
    )


def _strikes(pick, names, network):
    """Faults of nodes, nearly always some."""

    def amount(*amounts):
        return amounts[pick(len(amounts))]

    return Faults(
        crash=amount(0, 1, 1, 2),
        restart=amount(0, 0, 1, 2),
        reset=amount(0, 0, 0, 1, 1, UNLIMITED if pick(8) == 0 else 2),
        slow=amount(0, 0, 1),
        nodes=None if pick(2) else names[: 1 + pick(len(names))],
    )


def build(pick, faults=_faults, node=machine, properties=judged, **more):
    """A system made of the integers that `pick(n)` gives."""
    names = [f"n{index}" for index in range(2 + pick(3))]
    network = ("unordered", "unordered", "ordered", "duplicating")[pick(4)]
    return System(
        nodes={name: node(pick, names) for name in names},
        network=network,
        faults=faults(pick, names, network),
        calls={name: [Call("work", pick(MODULUS))] for name in names if pick(4) == 0},
        observers={"sum": Sum(), "last": Last(), "order": Order()},
        properties=properties(pick, names),
        skip_noops=(network != "ordered", True, False)[pick(3)],
        **more,
    )


def lively_system(seed):
    """The system of a seed."""
    return build(random.Random(seed).randrange)


def struck_system(seed):
    """One whose nodes crash, restart, are reset and slow."""
    return build(random.Random(seed).randrange, _strikes)
