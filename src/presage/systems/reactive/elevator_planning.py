"""Planning an elevator for people of whom some must not meet, and some not be alone in it.

After the planning problem Miconic-10 (AIPS 2000) and the model `elevator_planning` of the BEEM
benchmark. A planner tells people to get in or out, and the cabin where to go. The cabin has room
for a few. People of class A and people of class B never ride together, and some never ride alone.
The goal is that all are on the ground floor.

BEEM's model is the planner alone: each of its transitions is here an order, what the person does,
and an answer. Between orders the two have the same states. With `mode="serve"` there is no goal:
people go home and want to go down again, for ever, and the planner serves one after the other.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from presage import (
    Service,
    System,
    Verdict,
    WorldView,
    action,
    always,
    eventually,
    on,
    sometimes,
)

Bug = Literal["none", "capacity", "nearest"]
INSIDE = -1  # the floor of those in the cabin


class Puzzle(Struct, frozen=True):
    """How many floors, how many fit in; of each person: floor, class A, class B, not alone."""

    floors: int
    capacity: int
    start: tuple[int, ...]
    in_a: tuple[int, ...]
    in_b: tuple[int, ...]
    not_alone: tuple[int, ...]


PUZZLES = {
    1: Puzzle(4, 2, (0, 1, 2), (0,), (1,), (0,)),
    2: Puzzle(5, 3, (0, 1, 2, 3, 4), (0, 3, 4), (1, 2), (0, 1)),
    3: Puzzle(7, 3, (0, 1, 2, 3, 4, 0, 3), (0, 3, 4), (1, 2, 5), (0, 1)),
    4: Puzzle(8, 4, (7, 2, 6, 5), (), (), ()),
    5: Puzzle(6, 2, (1, 2, 3, 4, 5), (), (), ()),  # not BEEM's: only room is scarce
}


class GetIn(Struct, frozen=True):
    """To a person; and from the person to the cabin."""


class GetOut(Struct, frozen=True):
    """The same, on this floor."""

    floor: int


class MoveTo(Struct, frozen=True):
    """To the cabin."""

    floor: int


class Done(Struct, frozen=True):
    """From the cabin: the order was carried out; for moves, `person` is None."""

    person: int | None


class Request(Struct, frozen=True):
    """From a person who wants to go down."""

    floor: int


class Person(Service):
    """Obeys. With `returns`, goes home from the ground floor, and wants to go down again."""

    home: int
    returns: bool
    floor: int = 0

    def start(self) -> None:
        self.floor = self.home
        if self.returns:
            self.send("planner", Request(self.home))

    @on(GetIn)
    def get_in(self, order: GetIn) -> None:
        self.floor = INSIDE
        self.send("cabin", order)

    @on(GetOut)
    def get_out(self, order: GetOut) -> None:
        self.floor = order.floor
        self.send("cabin", order)

    @action(when=lambda self: self.returns and self.floor == 0)
    def go_home(self) -> None:
        self.floor = self.home
        self.send("planner", Request(self.home))


class Cabin(Service):
    """Carries those who get in."""

    floor: int = 0
    inside: frozenset[int] = frozenset()

    @on(GetIn)
    def enter(self, order: GetIn, source: str) -> None:
        self._changed(source, self.inside | {number(source)})

    @on(GetOut)
    def leave(self, order: GetOut, source: str) -> None:
        self._changed(source, self.inside - {number(source)})

    @on(MoveTo)
    def move(self, order: MoveTo) -> None:
        self.floor = order.floor
        self.send("planner", Done(None))

    def _changed(self, person: str, inside: frozenset[int]) -> None:
        self.inside = inside
        self.send("planner", Done(number(person)))


class Planner(Service):
    """Gives any order that is allowed, one at a time."""

    puzzle: Puzzle
    bug: Bug = "none"
    floor: int = 0
    where: tuple[int, ...] = ()
    moving: int | None = None  # the floor to which the cabin is on its way
    orders: tuple[tuple[int, int], ...] = ()  # people under way, and the floor they will be on

    def start(self) -> None:
        self.where = self.puzzle.start

    def count(self, people: tuple[int, ...]) -> int:
        return sum(self.where[person] == INSIDE for person in people)

    def idle(self) -> bool:
        return self.moving is None and not self.orders

    def people(self) -> range:
        return range(len(self.puzzle.start))

    def may_enter(self, person: int) -> bool:
        puzzle, inside = self.puzzle, self.where.count(INSIDE)
        known = self.idle()
        if self.bug == "capacity":  # does not wait for those who are getting in
            known = self.moving is None and person not in [who for who, _ in self.orders]
        return (
            known
            and self.where[person] == self.floor
            and inside < puzzle.capacity
            and not (person in puzzle.in_a and self.count(puzzle.in_b))
            and not (person in puzzle.in_b and self.count(puzzle.in_a))
            and not (person in puzzle.not_alone and inside == 0)
        )

    @action(when=lambda self, person: self.may_enter(person), over=lambda self: self.people())
    def admit(self, person: int) -> None:
        self.orders = (*self.orders, (person, INSIDE))
        self.send(f"p{person}", GetIn())

    def may_leave(self, person: int) -> bool:
        protected = self.count(self.puzzle.not_alone) - (person in self.puzzle.not_alone)
        inside = self.where[person] == INSIDE
        return self.idle() and inside and (self.where.count(INSIDE) > 2 or protected == 0)

    @action(when=lambda self, person: self.may_leave(person), over=lambda self: self.people())
    def dismiss(self, person: int) -> None:
        self.orders = ((person, self.floor),)
        self.send(f"p{person}", GetOut(self.floor))

    @action(
        when=lambda self, floor: self.idle() and floor != self.floor and any(self.where),
        over=lambda self: range(self.puzzle.floors),
    )
    def move(self, floor: int) -> None:
        self.moving = floor
        self.send("cabin", MoveTo(floor))

    @on(Done)
    def done(self, done: Done) -> None:
        if done.person is None:
            assert self.moving is not None
            self.floor, self.moving = self.moving, None
            return
        for person, place in self.orders:
            if person == done.person:
                self.where = (*self.where[:person], place, *self.where[person + 1 :])
        self.orders = tuple(order for order in self.orders if order[0] != done.person)


class Server(Service):
    """Fetches one person after the other: in the order of their requests, or the nearest first."""

    bug: Bug = "none"
    waiting: tuple[tuple[str, int], ...] = ()  # requests, the oldest first
    script: tuple[tuple[str, Any], ...] = ()  # orders that follow: to whom, what

    @on(Request)
    def request(self, request: Request, source: str) -> None:
        self.waiting = (*self.waiting, (source, request.floor))
        if not self.script:
            self._serve()

    @on(Done)
    def done(self, done: Done) -> None:
        self.script = self.script[1:]
        if self.script:
            self.send(*self.script[0])
        elif self.waiting:
            self._serve()

    def _serve(self) -> None:
        chosen = self.waiting[0]
        if self.bug == "nearest":
            chosen = min(self.waiting, key=lambda request: request[1])
        person, floor = chosen
        self.waiting = tuple(request for request in self.waiting if request != chosen)
        trip = (("cabin", MoveTo(floor)), (person, GetIn()), ("cabin", MoveTo(0)))
        self.script = (*trip, (person, GetOut(0)))
        self.send(*self.script[0])


def number(person: str) -> int:
    """Of the node `p3`: 3."""
    return int(person[1:])


@always
def allowed_inside(world: WorldView) -> Verdict | bool:
    """The cabin is not too full, and nobody is with people whom it must not meet."""
    [planner], [cabin] = world.of(Planner), world.of(Cabin)
    puzzle = planner.puzzle
    if len(cabin.inside) > puzzle.capacity:
        return Verdict.fails(f"{len(cabin.inside)} are in the cabin")
    return not (cabin.inside & {*puzzle.in_a} and cabin.inside & {*puzzle.in_b})


@sometimes
def all_down(world: WorldView) -> bool:
    """All people come to the ground floor."""
    return all(person.floor == 0 for person in world.of(Person))


def comes_down(name: str) -> Any:
    """The claim that somebody is served again and again."""

    def down(world: WorldView) -> bool:
        return bool(world[name].floor == 0)

    return eventually(down, name=f"{name}_comes_down")


def system(
    *,
    puzzle: Literal[1, 2, 3, 4, 5] = 1,
    mode: Literal["plan", "serve"] = "plan",
    people: int = 2,
    bug: Bug = "none",
) -> System:
    """A planner, the cabin, and people.

    puzzle: which instance, for `plan`; 1 to 4 are BEEM's.
    mode: `plan` tries all orders, `serve` does what people want.
    people: how many there are, on floors 1, 2, ..., for `serve`.
    bug: `capacity` does not wait for those who are getting in, for `plan`; `nearest` serves the
        nearest first, for `serve`.
    """
    chosen = PUZZLES[puzzle]
    homes = chosen.start if mode == "plan" else range(1, people + 1)
    persons = {f"p{n}": Person(home=h, returns=mode == "serve") for n, h in enumerate(homes)}
    planner: Service = Planner(puzzle=chosen, bug=bug) if mode == "plan" else Server(bug=bug)
    claims = [allowed_inside, all_down] if mode == "plan" else [comes_down(n) for n in persons]
    return System(
        {"planner": planner, "cabin": Cabin(), **persons},
        network="ordered",
        properties=claims,
        name="elevator planning",
    )
