"""Slow nodes: they take no step, and miss nothing but time."""

from dataclasses import dataclass

from presage import (
    Faults,
    Service,
    System,
    World,
    action,
    always,
    check,
    eventually,
    no_deadlock,
    on,
    timer,
)


@dataclass(frozen=True)
class Hello:
    pass


class Sleeper(Service):
    heard: int = 0
    acted: bool = False

    def start(self) -> None:
        self.arm("tick")
        self.send(self.name, Hello())

    @timer
    def tick(self) -> None: ...

    @action(when=lambda self: not self.acted)
    def act(self) -> None:
        self.acted = True

    @on(Hello)
    def hello(self, message: Hello) -> None:
        self.heard += 1


def system(*properties, **faults) -> System:
    return System(nodes={"n": Sleeper()}, faults=Faults(**faults), properties=properties)


def test_a_slow_node_takes_no_step_but_to_wake_or_crash():
    world = World.initial(system(slow=1, crash=1))
    world.apply(next(event for event in world.enabled() if event.kind == "slow"))
    assert [event.kind for event in world.enabled()] == ["wake", "crash"]
    assert world.view()["n"].up
    world.apply(next(event for event in world.enabled() if event.kind == "wake"))
    assert [event.kind for event in world.enabled()] == ["deliver", "timer", "action", "crash"]


def test_messages_and_timers_wait_for_a_slow_node():
    @eventually
    def all_done(world) -> bool:
        node = world["n"]
        return node.heard == 1 and node.acted and not node.timers

    report = check(system(all_done, no_deadlock(unless=lambda world: True), slow=1), traces=None)
    report.assert_holds()
    # Three things to do in any order: 8 states, each before, while and after it was slow.
    assert (report.unique, report.faults) == (24, {"slow": 8})


def test_a_property_can_break_because_a_node_is_slow():
    @always
    def listens(world) -> bool:
        node = world["n"]
        return not world.messages(Hello) or node.up

    check(system(listens, slow=1), traces=None).assert_holds()


def test_only_the_named_nodes_become_slow():
    both = System(nodes={"a": Sleeper(), "b": Sleeper()}, faults=Faults(slow=1, nodes=["b"]))
    world = World.initial(both)
    assert [event.node for event in world.enabled() if event.kind == "slow"] == ["b"]


def test_unlimited_slowness_keeps_the_space_finite():
    report = check(system(slow=float("inf")), traces=None)
    assert report.exhausted
    assert report.unique == 16
