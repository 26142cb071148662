"""Notices of crashes: who is told, when, and what may happen to them on the way."""

from dataclasses import dataclass

import pytest

from presage import Down, Faults, Service, Streams, System, World, always, check, eventually, on
from presage.errors import BadCall, BadSystem, NotEnabled
from presage.model.world.event import Crash, Deliver, Drop, Duplicate, Reset, Restart


@dataclass(frozen=True)
class Hello:
    pass


class Deaf(Service):
    def start(self) -> None:
        if self.name == "a":
            self.send("b", Hello())

    @on(Hello)
    def hello(self, message: Hello) -> None: ...


class Hearing(Deaf):
    down: tuple[str, ...] = ()
    told: int = 0

    @on(Down)
    def peer_down(self, notice: Down, source: str) -> None:
        assert notice.node == source
        self.down += (source,)


def system(network="unordered", properties=(), **faults) -> System:
    nodes = {"a": Hearing(), "b": Hearing(), "c": Hearing(), "d": Deaf()}
    settings = {"crash": 2, "notices": True} | faults
    return System(nodes, network=network, faults=Faults(**settings), properties=properties)


def crashed(node="a", **how) -> World:
    world = World.initial(system(**how))
    world.apply(Crash(node))
    return world


def flying(world) -> list[tuple[str, str, str]]:
    return [(e.source, e.to, type(e.message).__name__) for e in world.view().messages()]


def test_a_crash_tells_every_other_node_that_has_a_handler():
    world = World.initial(system())
    step = world.apply(Crash("a"))
    assert [(each.to, each.message) for each in step.sends] == [("b", Down("a")), ("c", Down("a"))]
    assert world.apply(Crash("d")).sends[0].message == Down("d")
    assert ("d", "a", "Down") in flying(world)


def test_a_crash_tells_nobody_without_notices():
    assert flying(crashed(notices=False)) == [("a", "b", "Hello")]


def test_a_notice_is_heard_with_the_name_of_the_node():
    world = crashed()
    world.apply(Deliver("b", "a", Down("a")))
    assert world.view()["b"].down == ("a",)


def test_on_an_ordered_network_a_notice_stands_behind_what_is_in_flight():
    world = crashed(network="ordered")
    arriving = [str(event) for event in world.enabled() if event.kind == "deliver"]
    assert arriving == ["Hello a -> b", "Down a -> c"]
    world.apply(Deliver("b", "a", Hello()))
    assert Deliver("b", "a", Down("a")) in world.enabled()


@pytest.mark.parametrize("network", ["unordered", "ordered"])
def test_a_notice_is_neither_lost_nor_repeated(network):
    world = crashed(network=network, drop=3, duplicate=3)
    spoilt = {str(event) for event in world.enabled() if event.kind in ("drop", "duplicate")}
    assert spoilt == {"Hello a -> b"}
    for mishap in (Drop, Duplicate):
        with pytest.raises(NotEnabled, match="a notice is neither lost nor repeated"):
            world.apply(mishap("c", "a", Down("a")))


def test_on_a_duplicating_network_a_notice_may_come_again_but_not_be_dropped():
    world = crashed(network="duplicating", drop=1)
    notice = Deliver("b", "a", Down("a"))
    world.apply(notice)
    world.apply(notice)
    assert world.view()["b"].down == ("a", "a")
    assert Drop("b", "a", Down("a")) not in world.enabled()


def test_a_restart_overtakes_a_notice_and_a_second_crash_sends_its_own():
    world = crashed(restart=1)
    world.apply(Restart("a"))
    world.apply(Crash("a"))
    assert flying(world).count(("a", "b", "Down")) == 2


def test_a_node_that_is_down_loses_a_notice():
    world = crashed()
    world.apply(Crash("b"))
    world.apply(Deliver("b", "a", Down("a")))
    assert ("a", "b", "Down") not in flying(world)


def test_a_reset_sends_none():
    world = World.initial(system(reset=1))
    world.apply(Reset("a"))
    assert "Down" not in {name for _, _, name in flying(world)}


def test_a_guard_lets_a_notice_wait():
    class Busy(Deaf):
        @on(Down, when=lambda self: False)
        def peer_down(self, notice: Down) -> None: ...

    world = World.initial(System({"a": Busy(), "b": Busy()}, faults=Faults(crash=1, notices=True)))
    world.apply(Crash("a"))
    assert [event.kind for event in world.enabled()] == []


def test_a_notice_that_nothing_holds_up_is_heard_in_the_end():
    @eventually
    def heard(world) -> bool:
        gone = {node.name for node in world.nodes if not node.up}
        return all(gone <= {*each.down, each.name} for each in world.of(Hearing) if each.up)

    lossy = {"drop": 1, "duplicate": 1}
    check(system(properties=[heard], **lossy)).assert_holds()


def test_notices_without_crashes_are_refused():
    with pytest.raises(BadSystem, match="without a budget for `crash`"):
        Faults(notices=True)
    with pytest.raises(BadSystem, match="neither true nor false"):
        Faults(crash=1, notices=2)


@pytest.mark.parametrize(
    ("nodes", "exposed"),
    [({"a": Deaf(), "b": Deaf()}, None), ({"a": Hearing(), "b": Deaf()}, ["a"])],
)
def test_notices_that_nobody_would_get_are_refused(nodes, exposed):
    with pytest.raises(BadSystem, match="no node handles the notice"):
        System(nodes, faults=Faults(crash=1, notices=True, nodes=exposed))


@pytest.mark.parametrize("streams", [False, True])
def test_a_handler_that_sends_a_notice_is_refused(streams):
    class Liar(Service):
        def start(self) -> None:
            (self.stream.send if streams else self.send)("a", Down("a"))

    with pytest.raises(BadCall, match="a handler sends `Down`"):
        check(System({"a": Liar()}, streams=Streams() if streams else None), traces=None)


def all_trusted(world) -> bool:
    return not any("a" in each.down for each in world.of(Hearing) if world["a"].up)


@pytest.mark.parametrize("reduction", ["none", "sleep", "dpor", "odpor"])
def test_each_reduction_meets_a_notice_that_comes_late(reduction):
    late = system(properties=[always(all_trusted)], restart=1)
    [found] = check(late, reduction=reduction, traces=None).violations
    assert {"crash", "restart"} <= {step.kind for step in found.trace.steps}


@pytest.mark.parametrize("how", [{"search": "walk"}, {"search": "tree"}, {"search": "dfs"}])
def test_in_one_execution_there_are_as_many_faults_as_each_budget_says(how):
    """Observed from within: `Hearing` notes what it is told, and each crash tells once."""

    def few(world) -> bool:
        lost = [each for each in world.messages(Down) if each.to == "b"]
        return len(world["b"].down) + len(lost) <= 2

    report = check(
        system(properties=[always(few)], restart=2, nodes=["a", "c"]), traces=None, depth=8, **how
    )
    assert report.violations == ()
    assert report.faults["crash"] > 2
