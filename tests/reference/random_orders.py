"""Random systems of which it is known whether they depend on the order of a set or dict.

One node holds, or is given, a container, reads it in some way and lets the world know what it read.
Whether that depends on an order is known from how the system was made, not from running it.

Sets that handlers derive from others are not made here: their order follows from the hashes of
their elements alone, which a second order does not change.
"""

import random
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass
from typing import Any

from presage import Call, Service, System, action, durable, on, state, timer

UNORDERED = ("set", "frozenset", "dict", "counter", "names", "timers_too")
ORDERED = ("list", "tuple", "deque", "ordered_dict")
DEPENDENT = ("first", "last", "listed", "numbered", "popped")
INDEPENDENT = ("least", "most", "sorted", "size", "member", "equal", "rebuilt")
USES = ("keep", "send", "arm", "record")
PLACES = ("field", "durable", "in_a_list", "in_a_dict", "in_a_box", "grown")
GIVEN = ("message", "call", "timer")


class Names(set):
    """A set of the user's own class."""


@dataclass(frozen=True)
class Box:
    content: Any


@dataclass(frozen=True)
class Given:
    content: Any


@dataclass(frozen=True)
class Read:
    value: Any


@dataclass(frozen=True)
class Case:
    """How a system is made."""

    kind: str
    elements: tuple[Any, ...]
    place: str
    read: str  # one of the above, or `each`, `choice`
    use: str
    network: str
    trigger: str

    @property
    def is_dependent(self) -> bool:
        if self.kind in ORDERED or len(self.elements) < 2:
            return False
        return self.read in DEPENDENT or self.read == "each" and self.network == "ordered"


def make(kind: str, elements: tuple[Any, ...]) -> Any:
    """A container of `elements`."""
    counts = {element: at for at, element in enumerate(elements, 1)}
    return {
        "set": lambda: set(elements),
        "frozenset": lambda: frozenset(elements),
        "names": lambda: Names(elements),
        "dict": lambda: counts,
        "timers_too": lambda: counts,
        "counter": lambda: Counter(counts),
        "ordered_dict": lambda: OrderedDict(counts),
        "list": lambda: list(elements),
        "tuple": lambda: elements,
        "deque": lambda: deque(elements),
    }[kind]()


def read(how: str, content: Any, elements: tuple[Any, ...]) -> Any:
    """What a handler makes of a container."""
    if how == "popped" and isinstance(content, dict):
        return content.popitem()[0]
    if how == "popped" and isinstance(content, set | list | deque):
        return content.pop()
    return {
        "first": lambda: next(iter(content)),
        "last": lambda: list(content)[-1],
        "listed": lambda: tuple(content),
        "numbered": lambda: frozenset(enumerate(content)),
        "popped": lambda: next(iter(content)),
        "least": lambda: min(content),
        "most": lambda: max(content),
        "sorted": lambda: tuple(sorted(content)),
        "size": lambda: len(content),
        "member": lambda: elements[0] in content,
        "equal": lambda: frozenset(content) == frozenset(elements),
        "rebuilt": lambda: frozenset(element for element in content),
    }[how]()


class Reader(Service):
    """Reads a container, once, as `case` says."""

    case: Case
    held: Any = state(lambda: None)
    kept: Any = durable(None)
    out: Any = None
    n: int = 0
    is_done: bool = False

    def start(self) -> None:
        case = self.case
        content = make(case.kind, case.elements) if case.place in GIVEN else None
        if case.kind == "timers_too":
            self.arm("idle", 1)
            self.arm("idle", 2)
        if case.trigger == "start":
            self.go(self.container())
        elif case.trigger == "message":
            self.send(self.name, Given(content))
        elif case.trigger == "timer":
            self.arm("due", content)

    def container(self) -> Any:
        if self.case.place == "durable":
            return self.kept
        take = {"in_a_list": lambda: self.held[1], "in_a_dict": lambda: self.held["k"]}
        take["in_a_box"] = lambda: self.held.content[0]
        return take.get(self.case.place, lambda: self.held)()

    def is_grown(self) -> bool:
        return self.case.place != "grown" or self.n == len(self.case.elements)

    @action(when=lambda self: not self.is_grown())
    def grow(self) -> None:
        element = self.case.elements[self.n]
        self.n += 1
        if isinstance(self.held, dict):
            self.held[element] = self.n
        elif isinstance(self.held, set):
            self.held.add(element)
        elif isinstance(self.held, list | deque):
            self.held.append(element)
        else:
            self.held = type(self.held)([*self.held, element])

    @action(when=lambda self: self.case.trigger == "action" and self.is_grown())
    def act(self) -> None:
        self.go(self.container())

    @on(Given)
    def given(self, given: Given) -> None:
        self.go(self.container() if given.content is None else given.content)

    @timer
    def due(self, content: Any) -> None:
        self.go(self.container() if content is None else content)

    @timer
    def idle(self, n: int) -> None:
        pass

    def work(self, content: Any) -> None:
        self.go(content)

    @timer
    def later(self, value: Any) -> None:
        pass

    def go(self, content: Any) -> None:
        if self.is_done:
            return
        self.is_done = True
        case = self.case
        if case.read == "each":
            for element in content:
                self.send("peer", Read(element))
        elif case.read == "choice":
            self.out = self.choose(list(content))
        else:
            self.tell(read(case.read, content, case.elements))

    def tell(self, value: Any) -> None:
        use = self.case.use
        if use == "keep":
            self.out = value
        elif use == "send":
            self.send("peer", Read(value))
        elif use == "arm":
            self.arm("later", value)
        else:
            self.record(value)


class Peer(Service):
    is_met: bool = False

    @on(Read)
    def take(self, read: Read) -> None:
        self.is_met = True


class Log:
    """An observer that keeps what was recorded."""

    def initial(self) -> Any:
        return ()

    def observe(self, state: Any, node: str, record: Any) -> Any:
        return (*state, record)


def elements_of(chance: random.Random) -> tuple[Any, ...]:
    make_one = chance.choice(
        [
            lambda: f"{chance.randrange(10_000)}",
            lambda: chance.choice("abcdefghijklm"),
            lambda: chance.randrange(12),
            lambda: chance.randrange(10**6),
            lambda: (chance.randrange(5), chance.choice("xyz")),
        ]
    )
    size = chance.choice([1, 2, 2, 2, 3, 3, 4, 5])
    return tuple(dict.fromkeys(make_one() for _ in range(size)))


def random_case(seed: int) -> Case:
    """The case of a seed."""
    chance = random.Random(seed)
    place = chance.choice(PLACES + GIVEN)
    frozen = ("frozenset", "tuple")
    kinds = frozen if place in GIVEN else UNORDERED * 2 + ORDERED
    reads = DEPENDENT + INDEPENDENT + ("each", "choice")
    trigger = "action" if place == "grown" else chance.choice(["start", "action", *GIVEN[::2]])
    return Case(
        kind=chance.choice(kinds),
        elements=elements_of(chance),
        place=place,
        read=chance.choice(reads),
        use=chance.choice(USES),
        network=chance.choice(["unordered", "duplicating", "ordered"]),
        trigger=place if place in GIVEN else trigger,
    )


def system_of(case: Case) -> System:
    """The system that a case describes."""
    calls = {"n": [Call("work", make(case.kind, case.elements))]} if case.place == "call" else {}
    nodes = {"n": Reader(case=case, **fields(case)), "peer": Peer()}
    return System(nodes, network=case.network, calls=calls, observers={"log": Log()})


def fields(case: Case) -> dict[str, Any]:
    """Where the container is in the beginning."""
    content = make(case.kind, () if case.place == "grown" else case.elements)
    if case.place in GIVEN:
        return {}
    if case.place == "durable":
        return {"kept": content}
    wrapped = {"in_a_list": [1, content], "in_a_dict": {"k": content}}
    wrapped["in_a_box"] = Box((content, "x"))
    return {"held": wrapped.get(case.place, content)}
