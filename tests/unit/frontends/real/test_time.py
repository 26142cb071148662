"""Clocks, chance, turns of a loop and records of real nodes."""

import pytest
from real import programs

from presage import Call, Linearizable, Read, Register, Timed, Write, check, linearizable, sometimes
from presage.real import Node, RealSystem


class Order:
    """Keeps what was recorded, in order."""

    def initial(self):
        return ()

    def observe(self, state, node, record):
        return (*state, record)


def orders(clock):
    """Every order in which two nodes can tick, one every second and one every three."""
    found = set()

    def note(world):
        found.add(world.observer("order"))
        return False

    nodes = {"a": Node(programs.tick, 1), "b": Node(programs.tick, 3)}
    noted = sometimes(note, name="noted")
    system = RealSystem(nodes, observers={"order": Order()}, clock=clock, properties=[noted])
    assert check(system, traces=None).stopped_by is None
    return {order for order in found if len(order) == 4}


def test_timers_of_two_nodes_fire_in_any_order_unless_clocks_are_kept():
    assert len(orders(None)) == 6
    assert orders(Timed()) == {(("a", 0), ("a", 1), ("b", 0), ("b", 1))}
    assert len(orders(Timed(drift=2))) > 1


@pytest.mark.parametrize(("random", "reached"), [("branch", 4), ("seeded", 1)])
def test_chance_is_a_stream_or_every_result(random, reached):
    nodes = {"a": Node(programs.draw, random=random, view=programs.drawn)}
    properties = [
        sometimes(lambda world, n=n: world["a"].drawn == n, name=f"drawn {n}") for n in range(4)
    ]
    report = check(RealSystem(nodes, properties=properties), traces=None)
    assert list(report.properties.values()).count("reached") == reached


def test_messages_land_between_two_turns_of_a_loop_if_that_is_asked_for():
    def states(granularity):
        nodes = {
            "a": Node(programs.two_turns, granularity=granularity),
            "b": Node(programs.listen, view=programs.heard_texts),
        }
        report = check(RealSystem(nodes), traces=None)
        assert report.exhausted
        return report.unique

    assert states("iteration") > states("step")


def test_a_thread_that_polls_the_clock_goes_on_and_is_named():
    report = check(RealSystem({"a": Node(programs.spin)}), traces=None)
    assert report.exhausted
    assert any("threads that poll" in note for note in report.notes)


@pytest.mark.parametrize(("reads", "status"), [("read", "held"), ("read_badly", "violated")])
def test_calls_are_operations_of_a_history(reads, status):
    def operation(method, *args):
        return Write(*args) if method == "write" else Read()

    system = RealSystem(
        {"a": Node(programs.register, record=operation)},
        calls={"a": [Call(programs.write, 3), Call(getattr(programs, reads))]},
        observers={"history": Linearizable(Register(0))},
        properties=[linearizable("history")],
    )
    report = check(system, traces=None)
    assert status in report.properties.values()
