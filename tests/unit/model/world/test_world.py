"""The live world: the three networks, faults and budgets, choices, and what a step tells."""

import threading
from dataclasses import dataclass

import pytest

from presage.errors import BadChoice, NotEnabled, NotState, ObserverError
from presage.model.service.declare import action, durable, ghost, on, timer
from presage.model.service.service import Service
from presage.model.world.event import (
    Act,
    Crash,
    Deliver,
    Drop,
    Duplicate,
    Envelope,
    Fire,
    Made,
    Restart,
)
from presage.model.world.system import UNLIMITED, Call, Faults, System
from presage.model.world.world import World


@dataclass(frozen=True)
class Hello:
    n: int


@dataclass(frozen=True)
class Flip:
    pass


class Greeter(Service):
    to: str | None = None
    greetings: int = 0
    last: int | None = None
    saved: int = durable(0)
    hops: int = ghost(0)

    def start(self):
        for n in range(self.greetings):
            self.send(self.to, Hello(n))

    @on(Hello)
    def hello(self, message, source):
        self.hops += 1
        if message.n >= 0:
            self.last = self.saved = message.n
            self.record((source, message.n))
            self.log(f"hello {message.n}")

    @on(Flip)
    def flip(self, message):
        self.last = self.choose([0, 1, None])

    @timer
    def tick(self, n):
        self.last = n

    @action(when=lambda self: self.last == 1, over=[5, 6])
    def act(self, n):
        self.last = n

    def say(self, n):
        self.send(self.to, Hello(n) if n != 9 else Flip())

    def fail(self):
        raise ValueError("never")

    def hold(self):
        self.last = threading.Lock()

    def utter(self):
        self.send(self.to, Hello(threading.Lock()))


class Lister:
    def initial(self):
        return []

    def observe(self, state, node, record):
        if record[1] == 3:
            raise KeyError("three")
        state.append((node, *record))
        return state


def greeting(*numbers, network="unordered", **arguments):
    """`a` sends these to `b`, one after another, and then nothing more is to be called."""
    system = System(
        {"a": Greeter(to="b"), "b": Greeter(to="a")},
        network=network,
        calls={"a": [Call("say", n) for n in numbers]},
        **arguments,
    )
    world = World.initial(system)
    for n in numbers:
        world.apply(Made("a", "say", (n,)))
    return world


def hello(n, kind=Deliver):
    return kind("b", "a", Hello(n))


def texts(world):
    return [f"{event.kind} {event}" for event in world.enabled()]


def test_on_an_unordered_network_any_message_is_next_and_each_copy_is_delivered_once():
    world = greeting(2, 4, 2)
    assert world.enabled() == [hello(2), hello(4)]
    world.apply(hello(2))
    assert world.enabled() == [hello(2), hello(4)]
    world.apply(hello(2))
    assert world.enabled() == [hello(4)]


def test_on_a_duplicating_network_messages_stay_until_they_are_dropped():
    world = greeting(1, 2, network="duplicating", faults=Faults(drop=1))
    world.apply(hello(1))
    world.apply(hello(1))
    assert len(world.view().messages()) == 2
    world.apply(hello(1, Drop))
    assert [each.message for each in world.view().messages()] == [Hello(2)]


def test_on_an_ordered_network_only_the_oldest_message_of_a_pair_is_next():
    world = greeting(2, 1, network="ordered")
    assert world.enabled() == [hello(2)]
    with pytest.raises(NotEnabled, match="no such message is next"):
        world.apply(hello(1))
    world.apply(hello(2))
    assert world.enabled() == [hello(1)]


def test_a_dropped_message_is_gone_and_its_receiver_is_not_told():
    world = greeting(1, faults=Faults(drop=1))
    dropped = world.apply(hello(1, Drop))
    assert (dropped.changes, dropped.sends, world.enabled()) == ({}, (), [])


def test_a_duplicate_is_delivered_twice_on_an_ordered_network_before_what_follows():
    world = greeting(1, 2, network="ordered", faults=Faults(duplicate=1))
    world.apply(hello(1, Duplicate))
    for n in (1, 1, 2):
        world.apply(hello(n))
    assert world.enabled() == []


def test_a_budget_is_spent_and_an_unlimited_one_is_not():
    world = greeting(1, 2, 3, faults=Faults(drop=1, duplicate=UNLIMITED))
    world.apply(hello(1, Drop))
    assert not any(isinstance(event, Drop) for event in world.enabled())
    with pytest.raises(NotEnabled, match="budget"):
        world.apply(hello(2, Drop))
    before = world.save()
    world.apply(hello(2, Duplicate))
    assert world.save().budgets == before.budgets


def test_a_delivery_that_does_nothing_is_no_step_unless_such_are_kept():
    world = greeting(-1)
    assert world.enabled() == []
    with pytest.raises(NotEnabled, match="would do nothing"):
        world.apply(hello(-1))
    kept = greeting(-1, skip_noops=False)
    assert kept.enabled() == [hello(-1)]
    kept.apply(hello(-1))
    assert kept.view().messages() == ()


def test_crash_and_restart_keep_what_is_durable_and_mail_to_the_dead_is_lost():
    world = greeting(2, 1, network="ordered", faults=Faults(crash=1, restart=1, nodes=["b"]))
    assert [event for event in world.enabled() if isinstance(event, Crash)] == [Crash("b")]
    world.apply(hello(2))
    crash = world.apply(Crash("b"))
    assert crash.changes == {"b": {"up": (True, False), "last": (2, None), "hops": (1, 0)}}
    assert Restart("b") in world.enabled()
    swallowed = world.apply(hello(1))
    assert swallowed.changes == {}
    world.apply(Restart("b"))
    assert (world.view()["b"].last, world.view()["b"].saved) == (None, 2)
    assert world.enabled() == []
    with pytest.raises(NotEnabled, match="not in a state for it"):
        world.apply(Restart("b"))


def test_a_step_tells_what_happened():
    world = greeting(4, observers={"list": Lister()})
    step = world.apply(hello(4))
    assert (step.index, step.event, step.choices) == (2, hello(4), ())
    assert step.records == (("a", 4),)
    assert step.logs == ("hello 4",)
    assert step.changes == {"b": {"last": (None, 4), "saved": (0, 4), "hops": (0, 1)}}
    assert step.fingerprint == world.fingerprint
    assert str(step) == "2 b deliver Hello a -> b"
    assert world.view().observer("list") == [("b", "a", 4)]


def test_a_call_is_made_in_its_order_only():
    system = System({"a": Greeter(to="a")}, calls={"a": [Call("say", 1), Call("say", 2)]})
    world = World.initial(system)
    assert world.enabled() == [Made("a", "say", (1,))]
    with pytest.raises(NotEnabled, match="another call is next"):
        world.apply(Made("a", "say", (2,)))
    step = world.apply(Made("a", "say", (1,)))
    assert step.sends == (Envelope("a", "a", Hello(1)),)
    world.apply(world.next_call("a"))
    with pytest.raises(NotEnabled, match="no more calls"):
        world.next_call("a")


def test_choices_are_given_and_neither_too_few_nor_too_many():
    world = greeting(9)
    flip = Deliver("b", "a", Flip())
    assert world.runs(flip) == [(0,), (1,)]  # the third would change nothing
    for choices in ((), (3,), (0, 0)):
        with pytest.raises(BadChoice):
            world.apply(flip, choices)
    step = world.apply(flip, (1,))
    assert step.choices == ((1, 3),)
    assert world.enabled() == [Act("b", "act", (5,)), Act("b", "act", (6,))]


def test_a_failure_is_told_and_the_node_does_nothing_more():
    system = System({"a": Greeter()}, calls={"a": [Call("fail"), Call("fail")]})
    world = World.initial(system)
    step = world.apply(Made("a", "fail"))
    assert step.failure.startswith("ValueError: never at ")
    assert step.changes == {"a": {"up": (True, False)}}
    assert (world.enabled(), world.at_rest()) == ([], True)


def test_events_come_in_canonical_order():
    class Busy(Greeter):
        def start(self):
            self.arm("tick", 2)
            self.arm("tick", 1)
            self.last = 1
            self.send("b", Hello(1))

    system = System(
        {"a": Busy(to="b"), "b": Busy(to="a")},
        calls={"b": [Call("say", 0)]},
        faults=Faults(crash=1, drop=1, duplicate=1),
    )
    assert texts(World.initial(system)) == [
        "deliver Hello a -> b",
        "deliver Hello b -> b",
        *["timer tick(1)", "timer tick(2)"] * 2,
        *["action act(5)", "action act(6)"] * 2,
        "call say(0)",
        *["crash crash"] * 2,
        "drop Hello a -> b",
        "drop Hello b -> b",
        "duplicate Hello a -> b",
        "duplicate Hello b -> b",
    ]


def test_the_start_handlers_run_in_node_order_with_their_choices():
    class Chooser(Service):
        picked: int = 0

        def start(self):
            self.picked = self.choose([10, 20, 30])
            self.send("b", Hello(self.picked))
            self.log("up")

        @on(Hello)
        def hello(self, message):
            raise ValueError

    system = System({"a": Chooser(), "b": Chooser()})
    world = World.initial(system, (2, 0))
    assert [node.picked for node in world.view().nodes] == [30, 10]
    assert world.opening.choices == ((2, 3), (0, 3))
    assert world.opening.logs == (("a", "up"), ("b", "up"))
    assert [each.source for each in world.opening.sends] == ["a", "b"]
    with pytest.raises(BadChoice, match="ends before a choice among 3"):
        World.initial(system, (1,))
    with pytest.raises(BadChoice, match="nobody asks for"):
        World.initial(system, (1, 1, 1))


def test_a_start_that_raises_is_a_failure_of_the_initial_world():
    class Broken(Service):
        def start(self):
            raise ValueError("at once")

    world = World.initial(System({"a": Broken()}))
    assert world.start_failure.startswith("ValueError: at once at ")
    assert not world.view()["a"].up


def test_a_world_can_be_saved_and_come_back_to():
    world = greeting(1, 2, network="ordered", observers={"list": Lister()})
    saved, fingerprint = world.save(), world.fingerprint
    seen = world.view()
    world.apply(hello(1))
    assert world.fingerprint != fingerprint
    assert (seen["b"].last, world.view()["b"].last) == (None, 1)
    world.restore(saved)
    assert (world.fingerprint, world.enabled(), world.steps) == (fingerprint, [hello(1)], 2)


def test_ghosts_are_told_to_people_but_do_not_distinguish_worlds():
    class Hopper(Service):
        hops: int = ghost(0)

        @action
        def hop(self):
            self.hops += 1

    world = World.initial(System({"a": Hopper()}))
    before = world.fingerprint
    world.apply(Act("a", "hop"))
    step = world.apply(Act("a", "hop"))
    assert step.changes == {"a": {"hops": (1, 2)}}
    assert step.fingerprint == before
    assert world.at_rest()


def test_a_world_is_at_rest_when_only_faults_lead_elsewhere():
    class Idle(Service):
        n: int = 0

        @action
        def nothing(self):
            self.n = 0

    idle = World.initial(System({"a": Idle()}, faults=Faults(crash=1)))
    assert idle.enabled() == [Act("a", "nothing"), Crash("a")]
    assert idle.at_rest()
    assert idle.steps == 0
    assert not greeting(1).at_rest()


@pytest.mark.parametrize(
    ("call", "text"),
    [("hold", "`a: Greeter.last` holds"), ("utter", r"test_world.py:\d+: message Hello\.n` holds")],
)
def test_what_cannot_be_state_is_named_with_its_place(call, text):
    world = World.initial(System({"a": Greeter(to="a")}, calls={"a": [Call(call)]}))
    with pytest.raises(NotState, match=text):
        world.apply(Made("a", call))


def test_an_observer_that_raises_is_an_error_with_its_line():
    world = greeting(3, observers={"list": Lister()})
    with pytest.raises(ObserverError, match=r"test_world.py:\d+: observer `list` raised KeyError"):
        world.apply(hello(3))


def test_a_timer_fires_by_event():
    class Timed(Greeter):
        def start(self):
            self.arm("tick", 7)

    world = World.initial(System({"a": Timed()}))
    step = world.apply(Fire("a", "tick", (7,)))
    assert step.changes["a"]["timers"] == (frozenset({("tick", 7)}), frozenset())
    assert world.view()["a"].last == 7
