"""Picking what happens next, going back, and taking another way."""

import time
from pathlib import Path

import msgspec
import pytest

from presage import (
    Call,
    Faults,
    Process,
    Program,
    Service,
    System,
    action,
    no_deadlock,
    on,
    state,
    timer,
)
from presage.debug import explore
from presage.debug.explore import Explorer
from presage.errors import GuardError, Impure
from presage.execution.replay import replay
from presage.execution.sandbox import Sandbox
from presage.mailbox import Mailbox, choose, publish
from presage.systems import randtree, two_phase_commit


class Chooser(Service):
    picked: str = ""

    def start(self):
        self.picked = self.choose(["a", "b"])
        self.arm("go")
        self.arm("idle")

    @timer
    def go(self):
        self.picked = self.choose(["c", "d"])

    @timer(periodic=True)
    def idle(self):
        pass


@pytest.fixture
def explorer():
    with Sandbox(10.0, None) as sandbox:
        yield Explorer(System({"n0": Chooser()}, faults=Faults(crash=1)), sandbox)


def texts(explorer):
    return explore.texts(explorer.options)


def test_every_way_is_an_option_and_those_that_change_nothing_are_marked(explorer):
    assert texts(explorer) == [
        "n0 timer go, choosing 0",
        "n0 timer go, choosing 1",
        "n0 timer idle",
        "n0 crash",
    ]
    assert [option.idle for option in explorer.options] == [False, False, True, False]


def test_going_back_leaves_a_branch_and_a_way_is_taken_once(explorer):
    explorer.take(0)
    assert explorer.scenes[-1].state["n0"]["picked"] == "c"
    explorer.go(0)
    assert explorer.branches == {1: "step 1: n0 timer go"}
    explorer.take(1)
    assert explorer.scenes[-1].state["n0"]["picked"] == "d"
    assert (explorer.path, list(explorer.branches)) == ((0, 2), [1])
    explorer.go(0)
    explorer.take(0)
    assert explorer.here == 1 and len(explorer.places) == 3


@pytest.mark.parametrize("module", [two_phase_commit, randtree])
def test_what_was_explored_is_a_trace_that_replays(module):
    system = module.system()
    system.properties = ()
    with Sandbox(10.0, None) as sandbox:
        explorer = Explorer(system, sandbox)
        for step in range(12):
            moving = [k for k, option in enumerate(explorer.options) if not option.idle]
            if not moving:
                break
            explorer.take(moving[step * 7 % len(moving)])
            if step == 5:
                explorer.go(explorer.path[2])
        told, scenes = explorer.trace(), explorer.scenes
    assert len(told.steps) == len(scenes) - 1 > 3
    told = msgspec.structs.replace(told, prop="no_exception", kind="exception")
    assert [step.fingerprint for step in replay(system, told).steps] == [
        step.fingerprint for step in told.steps
    ]


def receiver():
    first = Mailbox.by_name("in").get()
    publish(first=first)
    print("got", first)
    assert choose(2) == 0


def sender(number):
    Mailbox.by_name("in").put(number)


@pytest.fixture
def race():
    bodies = {"r": Process(receiver), "a": Process(sender, 1), "b": Process(sender, 2)}
    with Sandbox(10.0, None) as sandbox:
        yield Explorer(Program(bodies, name="race"), sandbox)


def take(explorer, *names):
    for name in names:
        explorer.take(texts(explorer).index(name))


def test_processes_go_on_in_any_order_and_each_way_is_kept(race):
    assert texts(race) == ["r recv at `in`", "a send 1 to `in`", "b send 2 to `in`"]
    take(race, "b send 2 to `in`", "r recv at `in`", "r receive 2 b -> r")
    line = receiver.__code__.co_firstlineno + 1
    assert race.scenes[-1].source == f"{Path(__file__).relative_to(Path.cwd())}:{line}"
    take(race, "r publish first = 2")
    assert race.scenes[-1].state["r"]["first"] == 2
    assert race.scenes[-1].logs == ("got 2",)
    assert texts(race)[:2] == ["r choose 0 of 2", "r choose 1 of 2"]
    take(race, "r choose 1 of 2")
    assert not race.scenes[-1].verdicts["no_exception"].holds
    race.go(race.path[-2])
    take(race, "r choose 0 of 2")
    assert race.scenes[-1].verdicts["no_exception"].holds
    assert list(race.branches.values()) == ["step 5: r choose 1 of 2"]
    race.go(0)
    take(race, "a send 1 to `in`")
    assert race.scenes[-1].sends[0].to == "in" and len(race.branches) == 2


def test_a_message_is_told_to_go_to_whom_it_met(race):
    take(race, "b send 2 to `in`", "r recv at `in`")
    [sent] = race.scenes[1].sends
    assert (sent.source, sent.to) == ("b", "r")


def test_what_was_explored_of_a_program_replays(race):
    for step in range(9):
        if race.options:
            race.take(step * 5 % len(race.options))
    told = msgspec.structs.replace(race.trace(), prop="no_exception", kind="exception")
    assert told.door == "process" and told.nodes == ("r", "a", "b") and len(told.steps) > 6
    bodies = {"r": Process(receiver), "a": Process(sender, 1), "b": Process(sender, 2)}
    again = replay(Program(bodies, name="race"), told).steps
    assert [step.fingerprint for step in again] == [step.fingerprint for step in told.steps]


class Clocked(Service):
    read: float = 0.0
    ticks: int = 0

    def start(self):
        self.arm("go")
        self.arm("tick")

    @timer
    def go(self):
        self.read = time.time()

    @timer
    def tick(self):
        self.ticks += 1


def test_a_refused_handler_is_an_option_that_says_so_and_others_are_taken():
    with Sandbox(10.0, None) as sandbox:
        explorer = Explorer(System({"n0": Clocked()}), sandbox)
        refused, other = texts(explorer)
        assert other == "n0 timer tick"
        assert refused.startswith("n0 timer go (refused: ")
        assert "a handler calls `time.time`" in refused
        with pytest.raises(Impure, match=r"time\.time"):
            explorer.take(0)
        explorer.take(1)
        assert explorer.scenes[-1].state["n0"]["ticks"] == 1


class Guarded(Service):
    ticks: int = 0
    met: dict[str, int] = state(dict)

    def start(self):
        self.send("n0", "hello")

    @action(when=lambda self: time.time() > 0)
    def late(self):
        self.ticks += 100

    @action(when=lambda self: self.met["nobody"] > 0)
    def lost(self):
        self.ticks += 100

    @action
    def tick(self):
        self.ticks += 1

    @on(str, when=lambda self, text: self.met[text] > 0)
    def hear(self, text):
        self.ticks += 100

    def call(self):
        self.ticks += 10


@pytest.mark.parametrize("faults", [Faults(), Faults(crash=1)])
def test_a_guard_that_cannot_be_asked_is_named_and_the_other_options_are_taken(faults):
    calls = {"n0": [Call("call", when=lambda self: self.met["nobody"])]}
    with Sandbox(10.0, None) as sandbox:
        system = System({"n0": Guarded()}, calls=calls, faults=faults, properties=[no_deadlock])
        explorer = Explorer(system, sandbox)
        told = texts(explorer)
        told = told[:-1] if faults.crash else told
        for text, event in zip(told, ("deliver", "late", "lost", "tick", "call"), strict=True):
            assert event in text and ("(refused: " in text) == (event != "tick"), text
        assert "KeyError" in told[0] and "time.time" in told[1] and "KeyError" in told[2]
        with pytest.raises(GuardError, match="KeyError"):
            explorer.take(2)
        with pytest.raises(Impure, match=r"time\.time"):
            explorer.take(1)
        for times in (1, 2):
            explorer.take(3)
            assert explorer.scenes[-1].state["n0"]["ticks"] == times
            assert texts(explorer)[3].endswith("tick")


class Ranging(Service):
    ticks: int = 0
    peers: dict[str, int] = state(dict)

    @action(over=lambda self: self.peers["nobody"])
    def lost(self, peer):
        self.ticks += 100

    @action(over=lambda self: range(int(time.time())))
    def late(self, peer):
        self.ticks += 100

    @action(over=lambda self: [object(), object()])
    def odds(self, peer):
        self.ticks += 100

    @action(when=lambda self, peer: peer < 9, over=lambda self: 7)
    def none(self, peer):
        self.ticks += 100

    @action(over=lambda self: [1, 2])
    def tick(self, count):
        self.ticks += count


def test_values_that_cannot_be_asked_for_are_named_and_the_other_options_are_taken():
    with Sandbox(10.0, None) as sandbox:
        explorer = Explorer(System({"n0": Ranging()}), sandbox)
        told = dict(zip(("late", "lost", "none", "odds"), texts(explorer), strict=False))
        for name, text in told.items():
            assert text.startswith(f"n0 action {name}") and "(refused: " in text, text
        assert "time.time" in told["late"] and "KeyError" in told["lost"]
        assert "TypeError" in told["none"] and "holds a `object`" in told["odds"]
        with pytest.raises(GuardError, match="KeyError"):
            explorer.take(1)
        with pytest.raises(Impure, match=r"time\.time"):
            explorer.take(0)
        assert [text.endswith(("tick(1)", "tick(2)")) for text in texts(explorer)][-2:] == [
            True
        ] * 2
        explorer.take(5)
        assert explorer.scenes[-1].state["n0"]["ticks"] == 2
