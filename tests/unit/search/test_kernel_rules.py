"""What can happen to messages and nodes in the kernel: each network, each fault, exactly."""

from dataclasses import dataclass

import pytest
from unit.search.looking import counts, explored

from presage import UNLIMITED, Call, Faults, Service, durable, ghost, on, state, timer


@dataclass(frozen=True)
class Item:
    n: int


@dataclass(frozen=True)
class Ignored:
    pass


class Sender(Service):
    to: str = "b"

    def send_all(self, *numbers: int) -> None:
        for n in numbers:
            self.send(self.to, Item(n) if n else Ignored())


class Receiver(Service):
    """Remembers the first three items it was given."""

    got: tuple[int, ...] = ()

    @on(Item)
    def take(self, item: Item) -> None:
        self.got = (*self.got, item.n)[:3]

    @on(Ignored)
    def ignore(self, message: Ignored) -> None:
        pass


def got(world) -> tuple[int, ...]:
    return world["b"].got


def in_flight(world) -> tuple[int, ...]:
    return tuple(sorted(envelope.message.n for envelope in world.messages(Item)))


def sent(*numbers: int, look=got, **arguments):
    """`a` sends all of these to `b` in one call."""
    nodes = {"a": Sender(), "b": Receiver()}
    return explored(nodes, look, calls={"a": [Call("send_all", *numbers)]}, **arguments)


# -- networks ------------------------------------------------------------------------------------


def test_an_unordered_network_delivers_in_any_order():
    seen, report = sent(1, 2)
    assert seen == {(), (1,), (2,), (1, 2), (2, 1)}
    # not yet sent, both in flight, either gone, both gone in either order
    assert counts(report) == (6, 6, 4)


def test_an_unordered_network_delivers_each_copy_once():
    seen, report = sent(1, 1)
    assert seen == {(), (1,), (1, 1)}
    assert counts(report) == (4, 4, 4)


def test_a_duplicating_network_delivers_again_and_again():
    seen, report = sent(1, network="duplicating")
    assert seen == {(), (1,), (1, 1), (1, 1, 1)}
    assert counts(report) == (5, 5, 5)  # the fifth delivery changes nothing
    messages, _ = sent(1, look=in_flight, network="duplicating")
    assert messages == {(), (1,)}


def test_a_duplicating_network_holds_equal_messages_once():
    assert counts(sent(1, 1, network="duplicating")[1]) == (5, 5, 5)


def test_an_ordered_network_delivers_in_the_order_of_sending():
    seen, report = sent(1, 2, 3, network="ordered")
    assert seen == {(), (1,), (1, 2), (1, 2, 3)}
    assert counts(report) == (5, 5, 5)


def test_an_ordered_network_orders_nothing_between_different_senders():
    nodes = {"a": Sender(), "c": Sender(), "b": Receiver()}
    calls = {"a": [Call("send_all", 1)], "c": [Call("send_all", 2)]}
    seen, _ = explored(nodes, got, calls=calls, network="ordered")
    assert seen == {(), (1,), (2,), (1, 2), (2, 1)}


@pytest.mark.parametrize(
    ("network", "skip_noops", "expected"),
    [
        ("unordered", None, (2, 2, 2)),
        ("unordered", True, (2, 2, 2)),
        ("unordered", False, (3, 3, 3)),
        ("duplicating", None, (2, 2, 2)),
        ("duplicating", False, (2, 3, 2)),  # the message stays: back to the same state
        ("ordered", None, (3, 3, 3)),
        ("ordered", True, (2, 2, 2)),
    ],
)
def test_a_delivery_that_does_nothing_counts_only_where_such_are_kept(
    network, skip_noops, expected
):
    _, report = sent(0, network=network, skip_noops=skip_noops)
    assert counts(report) == expected


# -- drop and duplicate --------------------------------------------------------------------------


def test_a_drop_takes_one_message_away():
    seen, report = sent(1, 2, faults=Faults(drop=1), look=lambda w: (got(w), in_flight(w)))
    assert ((), (1,)) in seen and ((), (2,)) in seen  # one of them lost
    assert ((), ()) in seen  # not yet sent; but never both lost:
    assert {gone for gone, left in seen if left == ()} == {(), (1,), (2,), (1, 2), (2, 1)}
    assert report.faults == {"drop": 4}


def test_a_drop_takes_one_copy_of_several():
    seen, _ = sent(1, 1, faults=Faults(drop=1), look=in_flight)
    assert seen == {(), (1,), (1, 1)}


def test_a_drop_on_a_duplicating_network_takes_the_message_for_good():
    look = lambda world: (got(world), in_flight(world))  # noqa: E731
    seen, _ = sent(1, network="duplicating", faults=Faults(drop=1), look=look)
    assert seen == {((1,) * n, flying) for n in range(4) for flying in ((), (1,))}


def test_a_drop_on_an_ordered_network_takes_the_head():
    seen, _ = sent(1, 2, 3, network="ordered", faults=Faults(drop=1))
    assert (2, 3) in seen and (1, 3) in seen
    assert (3,) not in seen


def test_a_duplicate_is_one_more_copy_on_an_unordered_network():
    seen, report = sent(1, 2, faults=Faults(duplicate=1))
    assert {(1, 1, 2), (1, 2, 1), (2, 2, 1)} <= seen
    assert (1, 1, 1) not in seen
    assert report.faults["duplicate"] > 0


def test_a_duplicate_comes_right_behind_its_original_on_an_ordered_network():
    seen, _ = sent(1, 2, network="ordered", faults=Faults(duplicate=1))
    assert {each for each in seen if len(each) == 3} == {(1, 1, 2), (1, 2, 2)}


def test_an_unlimited_fault_may_happen_to_every_message():
    seen, report = sent(
        1, 2, 3, faults=Faults(drop=UNLIMITED), look=lambda w: (got(w), in_flight(w))
    )
    assert {((), left) for left in [(1,), (2,), (3,), (1, 2), (1, 3), (2, 3), ()]} <= seen
    assert report.exhausted


# -- crash and restart ---------------------------------------------------------------------------


class Disk(Service):
    kept: tuple[str, ...] = durable(())
    lost: list[str] = state(list)
    hops: int = ghost(0)

    def start(self) -> None:
        self.kept = (*self.kept, "up")
        self.arm("tick")

    def write(self, text: str) -> None:
        self.kept = (*self.kept, text)
        self.lost.append(text)
        self.disarm("tick")
        self.arm("tock")

    @timer
    def tick(self) -> None:
        pass

    @timer
    def tock(self) -> None:
        self.lost.append("tock")


def of_disk(world):
    disk = world["d"]
    return (disk.up, disk.kept, tuple(disk.lost), frozenset(name for name, *_ in disk.timers))


def test_a_crash_keeps_what_is_durable_and_loses_fields_and_timers():
    seen, _ = explored({"d": Disk()}, of_disk, faults=Faults(crash=1), calls=CALLS)
    down = {each[1:] for each in seen if not each[0]}
    assert down == {(("up",), (), frozenset()), (("up", "x"), (), frozenset())}


def test_a_restart_runs_start_on_durable_fields_and_the_workload_goes_on_where_it_was():
    seen, report = explored({"d": Disk()}, of_disk, faults=Faults(crash=1, restart=1), calls=CALLS)
    again = {each for each in seen if each[0] and each[1].count("up") == 2}
    assert (True, ("up", "x", "up"), (), frozenset({"tick"})) in again
    assert (True, ("up", "up", "x"), ("x",), frozenset({"tock"})) in again
    assert not any(kept.count("x") > 1 for _, kept, _, _ in seen)  # a call is made once
    assert report.faults["crash"] > 0 and report.faults["restart"] > 0


CALLS = {"d": [Call("write", "x")]}


class Idle(Service):
    pass


def ups(world):
    return tuple(node.up for node in world.nodes)


def test_crashes_and_restarts_are_as_many_as_their_budgets():
    seen, report = explored({"a": Idle()}, ups, faults=Faults(crash=2, restart=2))
    assert seen == {(True,), (False,)}
    assert counts(report) == (5, 5, 5)  # up, down, up, down, up: budgets are part of the state
    assert report.faults == {"crash": 2, "restart": 2}


def test_unlimited_crashes_and_restarts_lead_back():
    faults = Faults(crash=UNLIMITED, restart=UNLIMITED)
    assert counts(explored({"a": Idle()}, ups, faults=faults)[1]) == (2, 3, 2)


def test_without_a_budget_to_restart_a_node_stays_down():
    _, report = explored({"a": Idle()}, ups, faults=Faults(crash=2))
    assert counts(report) == (2, 2, 2)


def test_one_budget_is_shared_by_all_nodes():
    seen, _ = explored({"a": Idle(), "b": Idle()}, ups, faults=Faults(crash=1))
    assert seen == {(True, True), (False, True), (True, False)}


def test_only_the_named_nodes_crash():
    seen, _ = explored({"a": Idle(), "b": Idle()}, ups, faults=Faults(crash=2, nodes=["b"]))
    assert seen == {(True, True), (True, False)}


@pytest.mark.parametrize("network", ["unordered", "ordered"])
def test_a_message_that_reaches_a_node_that_is_down_is_lost(network):
    def look(world):
        return (world["b"].up, world["b"].got, in_flight(world))

    faults = Faults(crash=1, restart=1, nodes=["b"])
    seen, _ = sent(1, network=network, faults=faults, look=look, skip_noops=False)
    assert (False, (), ()) in seen
    assert (True, (), ()) in seen
    assert (True, (1,), ()) in seen  # it may also come later, or before


def test_what_happens_to_a_node_that_is_down_is_no_step_of_it():
    class Ticking(Service):
        n: int = durable(0)

        def start(self) -> None:
            self.arm("tick")

        @timer(periodic=True)
        def tick(self) -> None:
            self.n = min(self.n + 1, 2)

    def look(world):
        return (world["a"].up, world["a"].n)

    seen, _ = explored({"a": Ticking()}, look, faults=Faults(crash=1))
    assert seen == {(up, n) for up in (True, False) for n in range(3)}
    seen, report = explored({"a": Ticking()}, look, faults=Faults(crash=1, restart=1))
    assert report.exhausted
