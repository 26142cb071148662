"""Choices inside handlers branch the search; a list of them replays an execution exactly."""

from itertools import permutations

import pytest
from unit.search.looking import counts, explored

from presage import Call, Service, System, World, always, check, on, replay
from presage.errors import BadCall, NotEnumerable, PresageError
from presage.model.world.event import Made


class Chooser(Service):
    result: object = None


def results(draw, *, method="go"):
    """Every result of a call that does `draw(self)`, and the report."""

    class Drawing(Chooser):
        def go(self):
            self.result = draw(self)

    return explored({"a": Drawing()}, lambda w: w["a"].result, calls={"a": [Call(method)]})


DRAWS = {
    "choose": (lambda self: self.choose(["x", "y", "z"]), {"x", "y", "z"}),
    "a choice among one": (lambda self: self.choose(["only"]), {"only"}),
    "two choices": (
        lambda self: (self.choose("ab"), self.choose((1, 2))),
        {("a", 1), ("a", 2), ("b", 1), ("b", 2)},
    ),
    "a choice that depends on another": (
        lambda self: self.choose(range(self.choose([1, 3]))),
        {0, 1, 2},
    ),
    "random.choice": (lambda self: self.random.choice("abc"), {"a", "b", "c"}),
    "random.randint": (lambda self: self.random.randint(3, 5), {3, 4, 5}),
    "random.randrange": (lambda self: self.random.randrange(0, 10, 4), {0, 4, 8}),
    "random.sample": (
        lambda self: tuple(self.random.sample(range(4), 2)),
        set(permutations(range(4), 2)),
    ),
}


@pytest.mark.parametrize(("draw", "expected"), DRAWS.values(), ids=DRAWS.keys())
def test_every_result_of_a_draw_is_tried(draw, expected):
    seen, report = results(draw)
    assert seen == expected | {None}
    assert report.unique == len(expected) + 1


def test_every_order_of_a_shuffle_is_tried():
    def draw(self):
        items = [1, 2, 3]
        self.random.shuffle(items)
        return tuple(items)

    seen, report = results(draw)
    assert seen == {None, *permutations((1, 2, 3))}
    assert counts(report) == (7, 7, 2)


@pytest.mark.parametrize(
    ("draw", "error"),
    [
        (lambda self: self.random.random(), NotEnumerable),
        (lambda self: self.random.uniform(0, 1), NotEnumerable),
        (lambda self: self.random.gauss(0, 1), NotEnumerable),
        (lambda self: self.choose(range(1001)), NotEnumerable),
        (lambda self: self.choose([]), BadCall),
        (lambda self: self.choose({1, 2}), BadCall),
    ],
    ids=["random", "uniform", "gauss", "too many options", "none", "set"],
)
def test_what_cannot_be_tried_is_refused(draw, error):
    with pytest.raises(error, match="test_choices.py:"):
        results(draw)


def test_a_refused_draw_cannot_be_caught():
    def draw(self):
        try:
            return self.random.random()
        except Exception:
            return 0.5

    with pytest.raises(PresageError):
        results(draw)


def test_a_branch_may_send_and_another_not():
    class Coin(Service):
        heard: tuple[str, ...] = ()

        def toss(self):
            if self.choose([True, False]):
                self.send("b", "heads")

        @on(str)
        def hear(self, text):
            self.heard = (*self.heard, text)

    calls = {"a": [Call("toss"), Call("toss")]}
    seen, _ = explored({"a": Coin(), "b": Coin()}, lambda w: w["b"].heard, calls=calls)
    assert seen == {(), ("heads",), ("heads", "heads")}


def test_branches_that_end_alike_are_one_state_and_two_transitions():
    _, report = results(lambda self: self.choose([1, 2]) > 0)
    assert counts(report) == (2, 3, 2)


class Starting(Service):
    colour: str = ""
    number: int = 0

    def start(self):
        self.colour = self.choose(["red", "blue"])
        if self.colour == "blue":
            self.number = self.random.randint(0, 2)

    @on(str)
    def hear(self, text):
        pass


def test_choices_in_start_give_several_initial_states():
    look = lambda w: tuple((n.colour, n.number) for n in w.nodes)  # noqa: E731
    seen, report = explored({"a": Starting(), "b": Starting()}, look)
    each = [("red", 0), ("blue", 0), ("blue", 1), ("blue", 2)]
    assert seen == {(one, other) for one in each for other in each}
    assert counts(report) == (16, 16, 1)


def test_a_violation_in_an_initial_state_names_its_choices():
    @always
    def fine(world):
        return (world["a"].number, world["b"].colour) != (2, "blue")

    system = System({"a": Starting(), "b": Starting()}, properties=[fine])
    [violation] = check(system, traces=None).violations
    assert (violation.step, violation.trace.choices[:2]) == (0, (1, 2))
    assert violation.trace.choices[2] == 1
    assert replay(system, violation.trace).message is not None
    world = World.initial(system, violation.trace.choices)
    assert world.fingerprint == violation.trace.initial


def test_a_list_of_choices_replays_a_step_exactly():
    class Dealing(Service):
        hand: tuple[int, ...] = ()

        def deal(self):
            cards = list(range(5))
            self.random.shuffle(cards)
            self.hand = (*cards[:2], self.choose([10, 20]))

    @always
    def not_that_hand(world):
        return world["a"].hand != (3, 1, 20)

    system = System({"a": Dealing()}, calls={"a": [Call("deal")]}, properties=[not_that_hand])
    [violation] = check(system, traces=None).violations
    [taken] = violation.trace.steps
    assert [n for _, n in taken.choices] == [5, 4, 3, 2, 2]
    for _ in range(3):
        world = World.initial(system)
        world.apply(Made("a", "deal"), tuple(k for k, _ in taken.choices))
        assert world.view()["a"].hand == (3, 1, 20)
        assert world.fingerprint == taken.fingerprint
