"""One ordinary run: by a seed, with what was asked of it, and told as it was."""

import pytest

from presage import (
    Faults,
    Process,
    Program,
    Service,
    System,
    always,
    eventually,
    on,
    replay,
    sometimes,
    timer,
)
from presage.errors import BadSystem
from presage.mailbox import Mailbox
from presage.search.once import run_once
from presage.search.settings import Settings
from presage.trace.trace import ORDINARY
from presage.ui.once import render
from presage.ui.theme import Theme


class Relay(Service):
    """Passes a number on until it is used up."""

    got: int = 0
    first: int = 0

    def start(self):
        self.first = self.choose([1, 2, 3])
        if self.name == "a":
            self.send("b", 3)

    @on(int)
    def take(self, number, source):
        self.got += 1
        if number:
            self.send(source, number - 1)


class Clock(Service):
    ticks: int = 0

    def start(self):
        self.arm("tick")

    @timer(periodic=True)
    def tick(self):
        self.ticks += 1


def relay(*properties, **faults):
    return System({"a": Relay(), "b": Relay()}, faults=Faults(**faults), properties=properties)


def put(number):
    Mailbox.by_name("box").put(number)


def take():
    first, second = Mailbox.by_name("box").get(), Mailbox.by_name("box").get()
    assert first < second


def race():
    one, two = Process(put, 1), Process(put, 2)
    return Program({"one": one, "two": two, "taker": Process(take)})


def test_an_ordinary_run_goes_on_until_nothing_happens_and_replays():
    system = relay()
    done = run_once(system, Settings())
    assert done.at_rest and not done.is_broken
    assert [step.detail for step in done.trace.steps] == ["3", "2", "1", "0"]
    assert done.trace.prop == ORDINARY
    assert done.trace.message == "nothing more happens after 4 steps"
    assert replay(system, done.trace).message == done.trace.message


def test_a_seed_stands_for_one_run_and_another_seed_for_another():
    runs = [run_once(relay(), Settings(seed=seed)).trace for seed in (*range(6), *range(6))]
    assert runs[:6] == runs[6:]
    assert len({trace.choices for trace in runs}) > 1  # those of `start`


def test_a_run_that_would_not_end_is_cut_where_it_is_told_to():
    done = run_once(System({"n": Clock()}), Settings(), steps=7)
    assert len(done.trace.steps) == 7
    assert not done.at_rest
    assert done.trace.message == "7 steps, and it goes on"


def test_no_fault_happens_unless_it_is_asked_for():
    system = relay(crash=2, drop=2)

    def kinds(**asked):
        runs = [run_once(system, Settings(seed=seed), **asked) for seed in range(20)]
        return {step.kind for done in runs for step in done.trace.steps}

    assert kinds() == {"deliver"}
    assert {"crash", "drop"} <= kinds(faults=True)


def test_a_run_ends_where_a_property_breaks_and_its_trace_is_that_of_the_violation():
    system = relay(always(lambda world: world["b"].got < 2, name="few"))
    done = run_once(system, Settings())
    assert done.is_broken and len(done.trace.steps) == 3
    assert (done.trace.prop, done.trace.kind) == ("few", "safety")
    assert done.properties == {"few": "violated"}
    assert replay(system, done.trace).message == done.trace.message
    assert done.trace.message == "`world['b'].got < 2` is false: world['b'].got is 2"


def test_what_was_not_to_happen_at_rest_breaks_there():
    system = relay(eventually(lambda world: world["b"].got > 5, name="many"))
    done = run_once(system, Settings())
    assert done.is_broken and (done.trace.prop, done.trace.kind) == ("many", "liveness")
    assert replay(system, done.trace).message == done.trace.message


def test_each_property_is_told_for_what_was_seen_of_it():
    props = [
        always(lambda world: world["n"].ticks < 99, name="few"),
        sometimes(lambda world: world["n"].ticks == 3, name="three"),
        sometimes(lambda world: world["n"].ticks == 30, name="thirty"),
        eventually(lambda world: world["n"].ticks > 50, name="fifty"),
    ]
    done = run_once(System({"n": Clock()}, properties=props), Settings(), steps=5)
    told = {"few": "held", "three": "reached", "thirty": "unreached", "fifty": "open"}
    assert done.properties == told


def test_programs_are_run_once_too_and_end_well_or_not():
    runs = [run_once(race(), Settings(seed=seed)) for seed in range(12)]
    assert {done.is_broken for done in runs} == {True, False}
    for done in runs:
        again = replay(race(), done.trace)
        assert again.message is not None
        assert len(again.steps) == len(done.trace.steps)


def test_processes_have_no_faults():
    with pytest.raises(BadSystem, match="`faults` was given for a program"):
        run_once(race(), Settings(), faults=True)


def test_the_text_shows_arguments_what_was_sent_and_how_to_go_on():
    done = run_once(relay(), Settings())
    text = render(done, "presage check relay.py", "x.trace", Theme(width=100))
    assert "one run of Relay, seed 0" in text
    assert "a sends 3 -> b" in text  # at the start
    assert "1  b  deliver    3 a -> b" in text
    assert "sends 2 -> a" in text
    assert "nothing more happens after 4 steps" in text
    assert "presage replay x.trace" in text
    assert "`--seed 1` shows another, `presage check relay.py` looks at all" in text
