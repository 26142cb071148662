"""Fields and methods called like what presage has: the user's wins, `self.presage` has both."""

from dataclasses import dataclass

import pytest

from presage import Faults, always, check, forall, replay
from presage.errors import BadField, ReadOnly
from presage.model.service.declare import durable, on, state, timer
from presage.model.service.facilities import PROVIDED
from presage.model.service.service import Service
from presage.model.world.system import Call, System
from presage.model.world.world import World


@dataclass(frozen=True)
class Entry:
    text: str


class Replica(Service):
    """Every natural name at once."""

    name: str
    log: list[str] = state(list)
    record: int = durable(0)
    up: bool = False
    timers: int = 0
    send: tuple[str, ...] = ()

    def start(self):
        self.presage.arm("tick")
        self.up = True

    @timer
    def tick(self):
        self.timers += 1
        for peer in self.send:
            self.presage.send(peer, Entry(self.name))
        self.presage.log(f"{self.presage.name} is {self.name}")
        self.presage.record(self.record)

    @on(Entry)
    def entry(self, message, source):
        self.log.append(f"{source}: {message.text}")
        self.record += 1


class Count:
    def initial(self):
        return 0

    def observe(self, state, node, record):
        return state + 1


def replicas(**more):
    nodes = {"a": Replica(name="Anna", send=("b",)), "b": Replica(name="Bert", send=("a",))}
    return System(nodes, observers={"count": Count()}, **more)


def test_a_field_wins_and_presage_is_the_way_to_the_other():
    world = World.initial(replicas())
    fired, _ = (world.apply(event) for event in world.enabled())
    assert fired.logs == ("a is Anna",)
    assert fired.records == (0,)
    assert [(each.to, each.message) for each in fired.sends] == [("b", Entry("Anna"))]
    view = world.view()
    assert (view["a"].name, view["a"].timers, view["a"].up) == ("Anna", 1, True)
    assert (view["a"].presage.name, view["a"].presage.timers) == ("a", frozenset())
    assert view.observer("count") == 2
    world.apply(world.enabled()[0])
    assert world.view()["a"].log == ["b: Bert"]


def test_a_node_that_is_down_is_down_whatever_its_fields_say():
    world = World.initial(replicas(faults=Faults(crash=1)))
    crash = next(event for event in world.enabled() if event.kind == "crash")
    step = world.apply(crash)
    view = world.view()
    assert view["a"].up is False  # the field, back at its default
    assert [node.presage.name for node in view.up()] == ["b"]
    assert step.changes["a"]["(up)"] == (True, False)
    assert step.changes["a"]["up"] == (True, False)


def test_what_is_said_of_nodes_names_nodes():
    @always
    def short(world):
        return forall(world.nodes, lambda node: len(node.log) < 1)

    (found,) = check(replicas(properties=[short]), traces=None).violations
    assert "not for a" in found.message or "not for b" in found.message
    assert replay(replicas(properties=[short]), found.trace).message is not None


@pytest.mark.parametrize("name", sorted(PROVIDED))
@pytest.mark.parametrize("how", ["plain", "default", "state", "durable", "inherited"])
def test_every_name_of_a_facility_can_be_a_field(name, how):
    value = {"default": 3, "state": state(int), "durable": durable(3)}
    base = type("Base", (Service,), {"__annotations__": {name: int}, name: 7})
    body = {"__annotations__": {name: int}}
    if how in value:
        body[name] = value[how]
    if how == "inherited":
        body = {}
    bases = (base,) if how == "inherited" else (Service,)
    good = type("Good", bases, body)

    def bump(self):
        setattr(self, name, getattr(self, name) + 1)

    good.bump = bump
    start = 0 if how == "state" else 5
    prototype = good() if how == "state" else good(**{name: 5})
    assert getattr(prototype, name) == start
    system = System({"a": prototype}, calls={"a": [Call("bump")] * 2})
    world = World.initial(system)
    world.apply(world.next_call("a"))
    assert getattr(world.view()["a"], name) == start + 1
    assert world.view()["a"].presage.name == "a"
    assert check(system).unique == 3


def test_a_method_wins_too_in_handlers_and_in_properties():
    class Journal(Service):
        lines: tuple[str, ...] = ()

        def log(self, *texts):
            self.lines += texts

        def record(self):
            return len(self.lines)

        @timer
        def send(self):
            self.log("one", "two")

        def start(self):
            self.arm("send")

    @always
    def few(world):
        return world["j"].record() < 2

    (found,) = check(System({"j": Journal()}, properties=[few])).violations
    assert found.steps == 1


def test_a_call_may_name_a_method_of_the_users_called_like_a_facility():
    class Journal(Service):
        lines: tuple[str, ...] = ()

        def log(self, text):
            self.lines += (text,)

    assert check(System({"j": Journal()}, calls={"j": [Call("log", "x")]})).unique == 2


def test_a_property_may_do_nothing_behind_presage_either():
    view = World.initial(replicas()).view()
    with pytest.raises(ReadOnly, match="send"):
        view["a"].presage.send("b", Entry("x"))
    assert view["a"].presage.armed("tick")


@pytest.mark.parametrize("name", ["start", "presage", "_run", "_presage_x", "__x"])
def test_names_that_presage_needs_cannot_be_fields(name):
    with pytest.raises(BadField, match=f"`Bad.{name}`"):
        type("Bad", (Service,), {"__annotations__": {name: int}})


def test_a_constant_called_like_a_facility_is_a_field_without_its_type():
    with pytest.raises(BadField, match=r"`name: str = ...`.*`self.presage.name`"):

        class Bad(Service):
            name = "x"


def test_presage_itself_cannot_be_redefined():
    with pytest.raises(BadField, match="redefines"):

        class Bad(Service):
            def presage(self):
                pass


def test_outside_a_run_the_names_of_presage_are_refused_behind_presage_too():
    from presage.errors import BadCall

    with pytest.raises(BadCall, match="outside a run"):
        _ = Replica(name="x").presage.name
