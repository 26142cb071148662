"""Random small systems whose handlers say which fields they use: for what two deliveries share.

Each handler is made of plain statements on `self`, so that its code tells which fields it can read
or set. `fielded_system(seed)` draws them from a seeded generator.
"""

import random
import re
from dataclasses import dataclass
from functools import cache

from reference.random_events import Order
from reference.random_systems import Sum

from presage.model.service.declare import action, on, state, timer
from presage.model.service.service import Service
from presage.model.world.faults import Faults
from presage.model.world.system import Call, System
from presage.props.property import always, eventually, no_deadlock, sometimes, step


@dataclass(frozen=True)
class One:
    n: int


@dataclass(frozen=True)
class Two:
    n: int
    lane = "a"  # these matter on the network `lanes` alone


@dataclass(frozen=True)
class Three:
    n: int
    lane = "a"


@dataclass(frozen=True)
class Four:
    n: int

    @property
    def lane(self):
        return "a" if self.n else ("b", 0)


MESSAGES = (One, Two, Three, Four)
STATEMENTS = (
    "self.x = n",
    "self.y = n",
    "self.z += 1",
    "self.x = max(self.x, n)",
    "self.y = self.x",
    "self.bag.add(n)",
    "self.send(self.peer, {reply}(self.x))",
    "self.send(self.peer, {reply}(n + 1)) if n < 1 else None",
    "self.send(self.peer, {reply}(len(self.bag))) if self.y == {value} else None",
    "self.record(n)",
    "self.z = self.choose([0, 1])",
    "self.arm('bell')",
    "self.fail() if self.y == {value} else None",
    "pass",
)
GUARDS = (None, None, None, "self.x != {value}", "self.y != {value}", "self.x < 2 and self.y < 2")


@cache
def _compiled(source):
    return compile(source, "<fields>", "exec")


def _function(source):
    names = {message.__name__: message for message in MESSAGES}
    exec(_compiled(source), names)  # the code tells what it reads
    names["made"].fields = set(re.findall(r"self\.(peer|x|y|z|bag)\b", source))
    return names["made"]


def _text(pick, statements, names):
    reply = MESSAGES[pick(4)].__name__
    return statements[pick(len(statements))].format(reply=reply, value=pick(2), peer=names)


def _handler(pick, names, parameters, first):
    lines = [_text(pick, STATEMENTS, names) for _ in range(1 + pick(2))]
    body = "\n    ".join([first, *lines])
    return _function(f"def made({parameters}):\n    {body}")


def _guard(pick, names):
    text = GUARDS[pick(len(GUARDS))]
    if text is None:
        return None
    return _function(f"def made(self, *_):\n    return {text.format(value=pick(2))}")


def _fail(self):
    raise ValueError(self.name)


def _class(pick, names):
    """A service with handlers of its own."""
    body = {
        "__annotations__": {"peer": str, "x": int, "y": int, "z": int, "bag": set[int]},
        "x": 0,
        "y": 0,
        "z": 0,
        "bag": state(set),
        "fail": _fail,
    }
    for message in MESSAGES:
        handler = _handler(pick, names, "self, message", "n = message.n")
        handler.__name__ = f"on_{message.__name__.lower()}"
        guard = _guard(pick, names)
        given = {"when": guard} if guard else {}
        body[handler.__name__] = on(message, **given)(handler)
    bell = _handler(pick, names, "self", "n = 1")
    bell.__name__ = "bell"
    body["bell"] = timer(bell)
    if pick(3) == 0:
        act = _handler(pick, names, "self", "self.z += 1; n = 0")
        act.__name__ = "act"
        body["act"] = action(when=_function("def made(self):\n    return self.z < 1"))(act)
    begin = _handler(pick, names, "self", "n = 0")
    begin.__name__ = "work"
    body["work"] = begin
    return type("Fielded", (Service,), body)


def fields_used(cls):
    """Which fields each kind of message, and what the node starts by itself, reads or sets."""
    shape, used = cls._presage_shape, {None: set()}
    for message, handler in shape.handlers.items():
        guard = handler.guard.fields if handler.guard else set()
        used[message] = handler.function.fields | guard
    for own in (*shape.actions.values(), *shape.timers.values()):
        used[None] |= own.function.fields
    for acting in shape.actions.values():
        used[None] |= acting.guard.fields
    return used


def _predicate(pick, names):
    one, other, value = names[pick(len(names))], names[pick(len(names))], pick(2)
    return (
        lambda world: world[one].x != value + 1,
        lambda world: not (world[one].x == value and world[other].y == 1),
        lambda world: world[one].x + world[one].z != value + 1,
        lambda world: value not in world[one].bag or world[one].y == 0,
        lambda world: len(world.messages()) <= value + 2,
        lambda world: world.observer("order")[:1] != (one,),
    )[pick(6)]


def _properties(pick, names):
    found = [eventually(_predicate(pick, names), name="eventually")]
    found += [always(_predicate(pick, names), name=f"always_{at}") for at in range(pick(3))]
    if pick(3) == 0:
        reached = _predicate(pick, names)
        found.append(sometimes(lambda world: not reached(world), name="sometimes"))
    if pick(5) == 0:
        found.append(step(lambda before, after: after.x >= before.x, name="step"))
    if pick(2):
        found.append(no_deadlock(unless=_predicate(pick, names)))
    return found


def _some_faults(pick, names, struck):
    return Faults(
        crash=int(struck and pick(2) == 0),
        restart=int(struck and pick(2) == 0),
        reset=int(struck and pick(3) == 0),
        slow=int(struck and pick(4) == 0),
        nodes=names,
    )


def _strikes(pick, names, struck):
    """Nearly always some."""
    return Faults(
        crash=(0, 1, 1, 2)[pick(4)],
        restart=(0, 0, 1)[pick(3)],
        reset=(0, 0, 1)[pick(3)],
        slow=(0, 0, 1)[pick(3)],
        nodes=names,
    )


def fielded_system(seed, network=None, faults=_some_faults):
    """The system of a seed: some calls send the first messages, to nodes that use their fields."""
    pick = random.Random(seed).randrange
    names = [f"n{at}" for at in range(2 + pick(2))]
    made = {name: _class(pick, names) for name in names}
    first = [(name, MESSAGES[pick(4)](pick(2))) for name in names for _ in range(1 + pick(2))]

    class Starter(Service):
        def start(self):
            for to, message in first:
                self.send(to, message)

    nodes = {name: cls(peer=names[pick(len(names))]) for name, cls in made.items()}
    struck = pick(3) == 0
    drawn = ("unordered", "unordered", "ordered", "duplicating")[pick(4)]
    return System(
        nodes={"starter": Starter(), **nodes},
        network=network or drawn,
        faults=faults(pick, names, struck),
        calls={name: [Call("work")] for name in names if pick(5) == 0},
        observers={"sum": Sum(), "order": Order()},
        properties=_properties(pick, names),
        skip_noops=(None, True, False)[pick(3)],
    )


def struck_fielded_system(seed):
    """One whose nodes crash, restart, are reset and slow."""
    return fielded_system(seed, faults=_strikes)
