"""Wall time: comparisons are choices, times are one value; counters only grow."""

from dataclasses import dataclass

import pytest

from presage import (
    Counter,
    Faults,
    Moment,
    Service,
    System,
    always,
    check,
    counter,
    on,
    sometimes,
    timer,
)
from presage.errors import BadCall


@dataclass(frozen=True)
class Beat:
    sent: Moment


class Peer(Service):
    other: str
    heard: Moment | None = None
    suspects: bool = False

    def start(self) -> None:
        self.arm("beat")
        self.heard = self.now()

    @timer(periodic=True)
    def beat(self) -> None:
        self.send(self.other, Beat(self.now()))
        if self.now().after(self.heard + 3, likely=False):
            self.suspects = True

    @on(Beat)
    def hear(self, beat: Beat) -> None:
        self.heard = beat.sent


@always
def trusts(world) -> bool:
    return not world["a"].suspects


def pair(*properties) -> System:
    return System(
        nodes={"a": Peer(other="b"), "b": Peer(other="a")},
        network="duplicating",
        properties=properties,
    )


def test_a_search_tries_both_answers():
    (found,) = check(pair(trusts), traces=None).violations
    assert found.trace is not None
    assert [step.choices for step in found.trace.steps] == [((1, 2),)]


def test_time_makes_no_state_new():
    report = check(pair(), traces=None)
    # Who suspects (4), and which of the two beats is in flight (4): a suspicion comes with a beat.
    assert report.exhausted and report.unique == 9


def test_a_calm_walk_takes_the_likely_answer_only():
    report = check(pair(trusts), search="walk", calm=True, walks=50, depth=50, traces=None)
    report.assert_holds()
    assert check(pair(trusts), search="walk", walks=50, depth=50, traces=None).violations


class Comparing(Service):
    how: str
    at: Moment | None = None
    answer: bool | None = None

    def start(self) -> None:
        self.at = self.now()
        self.answer = {
            "<": lambda: self.now() < self.at,
            "<=": lambda: self.now() <= self.at,
            ">": lambda: self.now() > self.at - 1,
            ">=": lambda: self.now() >= self.at + 1.5,
            "before": lambda: self.now().before(self.at),
            "after": lambda: self.now().after(self.at, likely=True),
            "lapse": lambda: self.now() - self.at > 5,
            "longer": lambda: (self.now() - self.at).longer(5, likely=False),
            "shorter": lambda: (self.now() - self.at).shorter(self.at - self.now()),
        }[self.how]()


@pytest.mark.parametrize(
    "how", ["<", "<=", ">", ">=", "before", "after", "lapse", "longer", "shorter"]
)
def test_every_comparison_has_two_answers(how):
    @sometimes
    def yes(world) -> bool:
        return world["n"].answer is True

    @sometimes
    def no(world) -> bool:
        return world["n"].answer is False

    report = check(System(nodes={"n": Comparing(how=how)}, properties=[yes, no]), traces=None)
    assert report.unique == 2
    report.assert_holds()


class Equal(Service):
    at: Moment | None = None

    def start(self) -> None:
        self.at = self.now()
        if self.at == self.now():
            self.at = None


def test_equality_of_times_is_refused_in_a_handler():
    with pytest.raises(BadCall, match="compared for equality"):
        check(System(nodes={"n": Equal()}), traces=None)
    assert Moment() == Moment()


class Waiting(Service):
    since: Moment = Moment()

    @on(Beat, when=lambda self, beat: beat.sent > self.since)
    def hear(self, beat: Beat) -> None: ...

    def start(self) -> None:
        self.send(self.name, Beat(self.now()))


def test_a_guard_cannot_ask_the_clock():
    with pytest.raises(BadCall, match="outside a handler"):
        check(System(nodes={"n": Waiting()}), traces=None)


def test_a_property_cannot_ask_the_clock():
    @always
    def late(world) -> bool:
        return world["a"].heard > world["b"].heard

    report = check(pair(late), traces=None)
    assert report.properties["late"] == "error"


@pytest.mark.parametrize("wrong", ["soon", True, None])
def test_a_time_is_compared_with_times_only(wrong):
    with pytest.raises(TypeError):
        Moment().after(wrong)
    with pytest.raises(TypeError):
        Moment() + wrong


class Stamped(Service):
    stamp: Counter = counter()
    first: int = 0

    def start(self) -> None:
        self.first = self.stamp.next()


def test_a_counter_grows_over_a_crash():
    @sometimes
    def third_life(world) -> bool:
        return world["n"].first == 3

    system = System(
        nodes={"n": Stamped()}, faults=Faults(crash=2, restart=2), properties=[third_life]
    )
    report = check(system, traces=None)
    report.assert_holds()
    assert report.unique == 5  # up and down in turn
