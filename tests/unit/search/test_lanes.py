"""What a search makes of lanes beside states: fairness, orders, schedulers, saved states."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from presage import Call, Delay, Faults, Rules, Service, System, World, check, eventually, on, state
from presage._core import Steps
from presage.errors import NotSymmetric, WrongRule
from presage.execution.origin import opened, saved_origin
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.model.world.origin import begun_in
from presage.search.check import build
from presage.search.delay.scheduler import Scheduler
from presage.search.kernel.bridge import Bridge


@dataclass(frozen=True)
class Part:
    text: str
    lane: Any = None


class Echo(Service):
    """Sends some parts at first, and sends each `again` once more, for ever."""

    sends: tuple[Part, ...] = ()
    done: bool = False

    def start(self) -> None:
        for part in self.sends:
            self.send("b", part)

    @on(Part)
    def take(self, part: Part) -> None:
        if part.text == "again":
            self.send("b", part)
        else:
            self.done = True


def echoes(*parts: Part, network: str = "lanes", **more: Any) -> System:
    return System({"a": Echo(sends=parts), "b": Echo()}, network=network, **more)


@eventually
def done(world: Any) -> bool:
    return bool(world["b"].done)


@pytest.mark.parametrize(("lane", "holds"), [("other", True), (None, False), ("own", False)])
def test_fairness_is_owed_to_each_lane(lane, holds):
    """In one unit with what is sent again and again, it may be passed over for ever."""
    parts = (Part("once", lane), Part("again", None if lane is None else "own"))
    sent_by_b = System({"a": Echo(), "b": Echo(sends=parts)}, network="lanes", properties=[done])
    report = check(sent_by_b, traces=None)
    assert report.exhausted or not holds
    assert bool(report.violations) != (holds or lane == "own")


class Table(Service):
    lanes: ClassVar[dict[str, Any]] = {"apart": lambda name: name, "alone": lambda name: None}
    mode: str = ""
    names: set[str] = state(lambda: {"x", "y", "z"})
    got: tuple[str, ...] = ()

    def start(self) -> None:
        lane = self.lanes.get(self.mode, lambda name: "one")
        for name in self.names if self.presage.name == "a" else ():
            self.send("b", Part(name, lane(name)))

    @on(Part)
    def take(self, part: Part) -> None:
        self.got += (part.text,)


@pytest.mark.parametrize(("mode", "depends"), [("apart", 0), ("alone", 0), ("together", 1)])
def test_the_order_of_sends_matters_within_a_lane(mode, depends):
    system = System({"a": Table(mode=mode), "b": Table()}, network="lanes")
    found = check(system, traces=None).orders
    assert len(found) == depends
    assert all("what it sent" in each.difference for each in found)


class Fan(Service):
    """Sends in several lanes at once."""

    def start(self) -> None:
        if self.presage.name == "a":
            self.send("b", Part("0"))

    @on(Part)
    def take(self, part: Part) -> None:
        for text, lane in (("1", "x"), ("2", "y"), ("3", None), ("4", "x")) * (part.text == "0"):
            self.send("a", Part(text, lane))


def test_a_step_has_one_digest_whichever_message_was_met_first():
    """Another process meets messages in another order, and must say the same of each step."""
    with Sandbox() as sandbox:
        system = System({"a": Fan(), "b": Fan()}, network="lanes")
        first, second = (build(system, Bridge(system, sandbox)) for _ in range(2))
        first.search("bfs", Limits(keep_going=True))
        _, steps = Steps(first).met(1_000, 1_000_000)
        for step in sorted(steps, key=lambda step: step[3], reverse=True):
            assert Steps(second).digest(*step[:-1]) == step[-1]


class Lanes(Scheduler):
    """Notes what there is to be ranked."""

    met: ClassVar[set[tuple[str, Any]]] = set()

    def rank(self, task: Any) -> int:
        self.met.add((task.kind, task.args or task.message))
        return 0


def test_a_lane_is_one_task_of_a_scheduler():
    parts = (Part("1", "x"), Part("2", "x"), Part("3", "y"), Part("4"))
    report = check(echoes(*parts), search="delay", delay=Delay(Lanes()), traces=None)
    assert report.exhausted
    assert Lanes.met == {("channel", ("x",)), ("channel", ("y",)), ("deliver", parts[3])}


def test_a_saved_state_has_the_messages_of_each_lane_in_their_order():
    parts = (Part("2", "x"), Part("1", "x"), Part("3", "y"), Part("4"), Part("4"))
    system = echoes(*parts)
    begun = begun_in(system, World.initial(system).save())
    again = opened(echoes(*parts), saved_origin(begun))
    assert World.initial(again).fingerprint == World.initial(system).fingerprint
    assert World.initial(again).save().transport == World.initial(system).save().transport


class Relay(Service):
    """Sends what it gets on: all in one lane, or each in its own."""

    got: int = 0
    apart: bool = False

    def start(self) -> None:
        for text in ("first", "second") if self.presage.name == "a" else ():
            self.send("b", Part(text))

    @on(Part)
    def take(self, part: Part) -> None:
        self.got += 1
        if self.presage.name == "b":
            self.send("c", Part(part.text, part.text if self.apart else "one"))


def relays(apart: bool = False, **more: Any) -> System:
    return System({name: Relay(apart=apart) for name in "abc"}, network="lanes", **more)


def test_a_rule_that_two_messages_are_independent_is_held_to_their_lanes():
    rules = [Rules(of=Relay, independent=lambda node, one, other: True)]
    assert check(relays(apart=True, rules=rules), traces=None).exhausted
    with pytest.raises(WrongRule) as wrong:
        check(relays(rules=rules), traces=None)
    assert "what it sent" in wrong.value.difference


def test_two_steps_that_send_in_one_lane_do_not_change_places():
    """Their order shows in the lane, and nowhere else."""
    plain = check(relays(), traces=None)
    assert plain.unique == 9 + 1  # three places of each, and both orders where both are in it
    assert check(relays(), reduction="sleep", traces=None).unique == plain.unique
    tree = check(relays(), search="tree", reduction="odpor", traces=None)
    assert tree.executions == 2


@pytest.mark.parametrize("reduction", ["odpor", "sdpor", "dpor", "none"])
@pytest.mark.parametrize("fault", ["drop", "duplicate"])
def test_executions_lose_and_repeat_datagrams_and_nothing_in_a_lane(fault, reduction):
    with Sandbox() as sandbox:
        system = relays(faults=Faults(**{fault: 1}))
        kernel = build(system, Bridge(system, sandbox))
        explored = kernel.explore(reduction, Limits(depth=20, keep_going=True), classes=True)
    assert len(explored.rests) == 2  # b and c get equally many: two, or one fewer or more
    assert check(system, search="tree", reduction=reduction, traces=None).exhausted


def test_a_class_has_one_name_whichever_message_of_a_lane_was_met_first():
    limits = Limits(depth=20, walks=100, keep_going=True)
    with Sandbox() as sandbox:
        system = relays()
        first, second = (build(system, Bridge(system, sandbox)) for _ in range(2))
        classes = first.explore("odpor", limits, classes=True).classes
        _, steps = Steps(first).met(1_000, 1_000_000)
        delivered = sorted((step for step in steps if b"second" in step[3]), key=str)
        for step in delivered:
            Steps(second).digest(*step[:-1])  # so these are met before the first
        assert sorted(second.explore("odpor", limits, classes=True).classes) == sorted(classes)


class Roll(Service):
    """Tells `c` of all peers: by their names in one lane, or each in its own."""

    apart: bool = False
    peers: tuple[str, ...] = ("n0", "n1")

    def tell(self) -> None:
        for peer in sorted(self.peers):
            self.send("c", Part(peer, peer if self.apart else "one"))

    @on(Part)
    def take(self, part: Part) -> None:
        pass


@pytest.mark.parametrize("apart", [True, False])
def test_interchangeable_nodes_are_told_apart_by_an_order_in_a_lane_alone(apart):
    nodes = {name: Roll(apart=apart) for name in ("n0", "n1", "hub", "c")}
    calls = {"hub": [Call("tell")]}
    system = System(nodes, network="lanes", symmetric=[["n0", "n1"]], calls=calls)
    if apart:
        assert check(system, symmetry=True, traces=None).exhausted
    else:
        with pytest.raises(NotSymmetric):
            check(system, symmetry=True, traces=None)


class Gate(Service):
    """Is open to `enter` until it gets `close`; `knock` does nothing."""

    sends: tuple[Part, ...] = ()
    closed: bool = False
    entered: bool = False

    def start(self) -> None:
        for part in self.sends:
            self.send("b", part)

    @on(Part, when=lambda self, part: part.text != "enter" or not self.closed)
    def take(self, part: Part) -> None:
        self.closed |= part.text == "close"
        self.entered |= part.text == "enter"


@pytest.mark.parametrize("reduction", ["odpor", "sdpor", "dpor", "none"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("lane", [None, "other"])
def test_what_a_step_disables_is_tried_also_behind_another_in_its_lane(reduction, first, lane):
    """That `knock` is let in does not say that what comes next in its lane is."""
    queued = (Part("knock", "one"), Part("enter", "one"))
    closing = (Part("close", lane),)
    parts = closing + queued if first else queued + closing
    system = System({"a": Gate(sends=parts), "b": Gate()}, network="lanes")
    with Sandbox() as sandbox:
        kernel = build(system, Bridge(system, sandbox))
        explored = kernel.explore(reduction, Limits(depth=20, keep_going=True), classes=True)
    assert len(explored.rests) == 2  # entered, or not


@dataclass(frozen=True)
class Left:
    pass


@dataclass(frozen=True)
class Right:
    pass


class Joint(Service):
    """`b` uses other fields for `Left` than for `Right`, and tells `c` of both."""

    left: int = 0
    right: int = 0
    read: tuple[str, ...] = ()

    def start(self) -> None:
        for message in (Left(), Right()) if self.presage.name == "a" else ():
            self.send("b", message)

    @on(Left)
    def on_left(self, message: Left) -> None:
        self.left = 1
        self.send("c", Part("left", "one"))

    @on(Right)
    def on_right(self, message: Right) -> None:
        self.right = 1
        self.send("c", Part("right", "one"))

    @on(Part)
    def take(self, part: Part) -> None:
        self.read += (part.text,)


@pytest.mark.parametrize("reduction", ["odpor", "sdpor", "dpor", "none"])
def test_deliveries_that_share_a_lane_alone_do_not_change_places(reduction):
    system = System({name: Joint() for name in "abc"}, network="lanes")
    with Sandbox() as sandbox:
        kernel = build(system, Bridge(system, sandbox))
        explored = kernel.explore(reduction, Limits(depth=20, keep_going=True), classes=True)
    assert len(explored.rests) == 2  # `c` has read them in either order
