"""The nearest good run of a safety violation: where it is decided, and what keeps the property."""

import pytest

from presage import (
    Faults,
    Service,
    System,
    action,
    always,
    check,
    no_deadlock,
    on,
    replay,
    step,
    timer,
)
from presage.execution.nearest import WALKS, longest
from presage.ui.explanation import of
from presage.ui.theme import Theme
from presage.ui.violation import render


class Voter(Service):
    """Votes once, for whoever asks first; a restart forgets it."""

    vote: str = ""
    leads: bool = False

    def start(self):
        self.send("a", "vote for me")

    @on(str)
    def heard(self, word, source):
        if word == "elected":
            self.leads = True
        elif not self.vote:
            self.vote = source
            self.send(source, "elected")


one_leader = always(lambda world: sum(n.leads for n in world.nodes) <= 1, name="one_leader")


class Doomed(Service):
    """Once it has sent a 1, a 1 will arrive, however long it ticks before."""

    sent: int = 0
    got: int = 0
    ticks: int = 0

    def start(self):
        self.arm("tick")

    @timer(periodic=True)
    def tick(self):
        self.ticks = (self.ticks + 1) % 7

    @action(when=lambda self: not self.sent)
    def decide(self):
        self.sent = self.choose([1, 2])
        self.send("n", self.sent)

    @on(int)
    def receive(self, number):
        self.got = number


def violation(system, **options):
    found = check(system, traces=None, **options).violations
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("last", range(8))
def test_the_last_place_of_which_something_comes_is_found(last):
    for place in range(last + 1):
        assert longest(last, lambda at, place=place: "kept" if at <= place else None) == (
            place,
            "kept",
        )


def test_where_nothing_comes_of_any_place_there_is_none():
    assert longest(5, lambda _: None) is None


def test_a_violation_is_told_with_the_nearest_good_run():
    faults = Faults(crash=1, restart=1)
    system = System({n: Voter() for n in "abc"}, faults=faults, properties=[one_leader])
    found = violation(system)
    assert found.step == 6
    assert found.differs_at == 4  # `a` has voted for `b` then, and both will lead
    assert found.live.steps[:3] == found.trace.steps[:3]
    assert found.to_json()["differs_at"] == 4
    text = " ".join(render(found, Theme(width=100)).split())
    assert "nearest good run: step 4 decides: after deliver 'elected' a -> a instead of" in text
    assert "it is kept to the end, step 5; after step 4 none of 12 random runs kept it" in text


def test_a_good_run_replays_and_one_that_breaks_is_not_reproduced():
    system = System({"n": Doomed()}, properties=[always(lambda w: w["n"].got != 1, name="no_one")])
    found = violation(system)
    assert replay(system, found.live).message == found.live.message
    strict = System({"n": Doomed()}, properties=[always(lambda w: not w["n"].sent, name="no_one")])
    assert replay(strict, found.live).message is None


def test_putting_off_the_bad_step_is_not_keeping_a_property():
    system = System({"n": Doomed()}, properties=[always(lambda w: w["n"].got != 1, name="no_one")])
    found = violation(system)
    assert [step.label for step in found.trace.steps] == ["decide", "1 n -> n"]
    assert found.differs_at == 1
    assert found.live.steps[-1].changes  # it went on, and did not wait for ever
    assert any(step.detail == "2" for step in found.live.steps)
    assert "as far as was looked" in found.live.message


def test_where_the_last_step_decides_no_walk_is_told_of():
    system = System({"n": Doomed()}, properties=[always(lambda w: w["n"].sent != 1, name="no_one")])
    found = violation(system)
    assert found.differs_at == found.step == 1
    assert found.live.evidence == "exact"


def test_without_a_fault_after_which_nothing_happens_a_property_is_kept():
    prop = always(lambda world: world["a"].up, name="stays_up")
    system = System({"a": Voter()}, faults=Faults(crash=1), properties=[prop])
    found = violation(system)
    assert found.trace.steps[-1].kind == "crash"
    assert "crash" not in {step.kind for step in found.live.steps}


def test_what_breaks_whatever_happens_has_no_good_run():
    prop = always(lambda world: world["n"].ticks < 3, name="few_ticks")

    class Ticking(Service):
        ticks: int = 0

        def start(self):
            self.arm("tick")

        @timer(periodic=True)
        def tick(self):
            self.ticks += 1

    assert violation(System({"n": Ticking()}, properties=[prop])).live is None


def test_a_good_run_breaks_no_other_property_that_is_always_to_hold():
    no_one = always(lambda world: world["n"].got != 1, name="no_one")
    no_two = always(lambda world: world["n"].got != 2, name="no_two")
    assert violation(System({"n": Doomed()}, properties=[no_one])).live is not None
    found = check(System({"n": Doomed()}, properties=[no_one, no_two]), traces=None)
    assert found.violations[0].live is None


def test_exceptions_deadlocks_and_steps_have_good_runs_too():
    class Picky(Service):
        got: int = 0

        @action(when=lambda self: not self.got)
        def pick(self):
            self.got = self.choose([1, 2, 3])
            if self.got == 1:
                raise ValueError("one")
            if self.got == 2:
                self.send(self.name, "on")

        @on(str)
        def hear(self, _):
            self.got = 4

    grows = step(lambda before, after: after.got < 4, name="small")
    stuck = no_deadlock(unless=lambda world: world["n"].got in (1, 4))
    report = check(System({"n": Picky()}, properties=[grows, stuck]), traces=None, keep_going=True)
    kinds = {each.prop: each for each in report.violations}
    assert set(kinds) == {"no_exception", "small", "no_deadlock"}
    assert kinds["no_exception"].differs_at == 1
    assert kinds["small"].live is not None
    assert kinds["no_deadlock"].live is not None


def test_the_same_good_run_is_found_every_time():
    system = System({"n": Doomed()}, properties=[always(lambda w: w["n"].got != 1, name="no_one")])
    assert len({repr(violation(system).live) for _ in range(3)}) == 1


def test_explain_names_the_first_step_that_differs(tmp_path):
    system = System({"n": Doomed()}, properties=[always(lambda w: w["n"].got != 1, name="no_one")])
    found = violation(system)
    told = of(system, found.trace, tmp_path / "absent.trace")  # no file beside: it is looked for
    assert told.difference.step == 1
    assert "The nearest good run takes action decide at n as step 1 instead" in told.text
    assert "and `no_one` is kept for" in told.text


def test_walks_are_counted():
    assert WALKS == 12  # the docs name it
