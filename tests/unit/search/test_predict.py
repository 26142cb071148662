"""Predictions: lanes, known paths, what is remembered, and what is never claimed."""

from dataclasses import dataclass

import pytest

from presage import (
    Faults,
    Service,
    Streams,
    System,
    action,
    always,
    broken,
    eventually,
    on,
    timer,
)
from presage._core import forget_stop, request_stop
from presage._results import StopReason
from presage.errors import BadSystem, UnknownNode
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.filters import Filter, filter_of
from presage.model.world.origin import begun_in, offered
from presage.model.world.world import World
from presage.search.predict import KNOWN, Predictor, predict, traced
from presage.search.prediction import UNBOUNDED, Lane, Prediction


@dataclass(frozen=True)
class Add:
    amount: int


class Counter(Service):
    """Counts what it is sent; each tick sends one more."""

    other: str
    total: int = 0
    sent: int = 0

    @timer(periodic=True)
    def tick(self) -> None:
        if self.sent < 6:
            self.sent += 1
            self.send(self.other, Add(1))

    def start(self) -> None:
        self.arm("tick")

    @on(Add)
    def add(self, message: Add) -> None:
        self.total += message.amount


def counting(most: int, **how: object) -> System:
    small = always(lambda world: all(n.total <= most for n in world.nodes), name="small")
    nodes = {"a": Counter(other="b"), "b": Counter(other="a")}
    return System(nodes, properties=[small], **how)


def begun(system: System) -> World:
    return World.initial(system)


def test_a_violation_ahead_is_found_confirmed_and_told_by_its_lane() -> None:
    system = counting(1)
    found = predict(system, begun(system).save(), seconds=5, threads=1)
    assert found.path is not None and found.path.prop is not None
    assert found.path.prop.name == "small"
    assert found.found_by.startswith("k = ")
    assert not found.exhausted
    assert found.lanes[0].own_events == 1


def test_what_needs_an_event_twice_in_one_local_state_takes_a_larger_bound() -> None:
    """With k = 1 each effect of a tick is tried once, so one total can be 2 at most."""
    system = counting(3)
    found = predict(system, begun(system).save(), seconds=20, threads=1)
    assert found.path is not None
    bounds = [lane.own_events for lane in found.lanes]
    assert bounds == [2**at for at in range(len(bounds))]
    ended = found.lanes[:-1]
    assert all(lane.stopped_by is None and lane.left_out for lane in ended)


def test_a_search_that_leaves_nothing_out_is_exhausted_and_only_that() -> None:
    system = counting(100)
    found = predict(system, begun(system).save(), seconds=20, threads=1)
    assert found.path is None
    assert found.exhausted
    assert found.lanes[-1].complete
    assert not any(lane.complete for lane in found.lanes[:-1])


def test_a_prediction_cut_short_claims_nothing() -> None:
    system = counting(100)
    found = predict(system, begun(system).save(), seconds=0, threads=1)
    assert (found.path, found.exhausted, found.bound) == (None, False, None)


def test_two_threads_find_what_one_finds() -> None:
    system = counting(1)
    found = predict(system, begun(system).save(), seconds=20, threads=2)
    assert found.path is not None
    assert found.found_by == UNBOUNDED or found.found_by.startswith("k = ")
    assert found.lanes[0].own_events in (1, 2)


def test_a_second_thread_begins_with_two_and_goes_on_without_a_bound() -> None:
    system = counting(100)
    found = predict(system, begun(system).save(), seconds=20, threads=2)
    bounds = [lane.own_events for lane in found.lanes]
    assert found.path is None and found.exhausted
    assert {1, 2} <= set(bounds) and len(set(bounds)) == len(bounds)


def test_a_bound_holds_only_if_all_smaller_ones_do() -> None:
    def prediction(*stopped: StopReason | None) -> Prediction:
        lanes = [Lane(1 << at, 1, 1, 1, 0.1, 1, each, True) for at, each in enumerate(stopped)]
        return Prediction(counting(1), None, "", tuple(reversed(lanes)))

    assert prediction(None, None, StopReason.SECONDS).bound == 2
    assert prediction(StopReason.SECONDS, None).bound is None


def test_a_filter_keeps_the_violation_away() -> None:
    system = counting(1)
    saved = begun(system).save()
    filters = [Filter(node, "deliver", "Add") for node in ("a", "b")]
    found = predict(system, saved, filters=filters, seconds=20, threads=1)
    assert found.path is None
    assert found.exhausted
    ticks = [Filter(node, "timer", "tick") for node in ("a", "b")]
    found = predict(system, saved, filters=ticks, seconds=20, threads=1)
    assert (found.states, found.exhausted) == (1, True)


def test_a_filter_of_the_first_event_of_a_path_refuses_it() -> None:
    system = counting(0)
    found = predict(system, begun(system).save(), seconds=20)
    assert found.path is not None
    last = found.path.steps[-1].event
    refused = filter_of(last)
    assert refused is not None and refused.refuses(last)
    assert refused.action == "drop"
    again = predict(system, begun(system).save(), filters=[refused], seconds=20)
    assert again.path is not None
    assert again.path.steps[-1].event.node != last.node


def test_a_known_path_is_tried_before_anything_is_searched() -> None:
    system = counting(1)
    world = begun(system)
    with Predictor(system) as predictor:
        first = predictor.predict(world.save(), seconds=20)
        assert first.path is not None
        tick = next(event for event in world.enabled() if event.kind == "timer")
        world.apply(tick)
        again = predictor.predict(world.save(), known=[first.path], seconds=20)
    assert again.found_by == KNOWN
    assert again.lanes == ()
    assert again.path is not None and again.path.prop is first.path.prop


def test_a_state_that_was_found_clean_is_not_searched_again() -> None:
    system = counting(100)
    saved = begun(system).save()
    with Predictor(system) as predictor:
        first = predictor.predict(saved, seconds=20)
        again = predictor.predict(saved, seconds=20)
        filtered = [Filter("a", "timer", "tick")]
        other = predictor.predict(saved, filters=filtered, seconds=20)
    assert (first.remembered, again.remembered, other.remembered) == (False, True, False)
    assert again.exhausted


def test_a_short_look_does_not_stand_for_a_long_one() -> None:
    system = counting(100)
    saved = begun(system).save()
    with Predictor(system) as predictor:
        predictor.predict(saved, seconds=0)
        assert not predictor.predict(saved, seconds=20).remembered


def test_what_is_broken_where_it_begins_is_told_and_not_looked_for() -> None:
    system = counting(0)
    world = begun(system)
    for kind in ("timer", "deliver"):
        world.apply(next(event for event in world.enabled() if event.kind == kind))
    found = predict(system, world.save(), seconds=20, threads=1)
    assert found.broken == ("small",)
    assert found.path is None


# -- nodes outside -------------------------------------------------------------------------------


class Follower(Service):
    leader: str
    heard: int = 0

    @action(when=lambda self: self.heard < 2)
    def ask(self) -> None:
        self.heard += 1
        self.send(self.leader, Add(1))

    @on(Add)
    def answer(self, message: Add) -> None:
        self.heard += message.amount


def following() -> System:
    agree = always(lambda w: w["a"].heard <= 1 or w[w["a"].leader].heard == 9, name="agree")
    settles = eventually(lambda w: False, name="settles")
    nodes = {"a": Follower(leader="b"), "b": Follower(leader="a")}
    return System(nodes, properties=[agree, settles])


def test_a_property_that_needs_a_node_outside_says_nothing_where_it_does() -> None:
    system = following()
    saved = begun(system).save()
    inside = predict(system, saved, seconds=20, threads=1)
    assert inside.path is not None
    outside = predict(system, saved, outside=["b"], seconds=20, threads=1)
    assert outside.path is None
    assert outside.unjudged == ("settles",)  # b may still send something
    assert outside.states < 10  # and what is sent there is gone
    assert outside.complete and not outside.exhausted


def test_an_unknown_verdict_does_not_end_the_judging() -> None:
    """In some state the property needs b; in a later one it does not, and fails."""

    def predicate(world: World) -> bool:
        return world["b"].heard >= 0 if world["a"].heard == 1 else world["a"].heard < 2

    claims = [always(predicate, name="claims")]
    system = System({"a": Follower(leader="b"), "b": Follower(leader="a")}, properties=claims)
    found = predict(system, begun(system).save(), outside=["b"], seconds=20, threads=1)
    assert found.path is not None
    assert len(found.path.steps) == 2


def test_a_node_outside_must_be_one_of_the_system() -> None:
    system = following()
    with pytest.raises(UnknownNode, match="outside"):
        predict(system, begun(system).save(), outside=["c"])


def test_observers_that_are_not_up_to_date_are_not_asked() -> None:
    class Seen:
        def initial(self) -> int:
            return 1

        def observe(self, state: int, node: str, record: object) -> int:
            return state

    claim = always(lambda world: world.observer("seen") == 0, name="claim")
    system = System({"a": Counter(other="a")}, properties=[claim], observers={"seen": Seen()})
    saved = begun(system).save()
    assert predict(system, saved, seconds=1, threads=1).broken == ("claim",)
    assert predict(system, saved, observed=False, seconds=1, threads=1).broken == ()


# -- faults and filters --------------------------------------------------------------------------


def test_faults_that_are_offered_are_those_of_the_system_once_and_those_of_streams() -> None:
    plain = counting(1, faults=Faults(drop=3, crash=1))
    assert (offered(plain).drop, offered(plain).crash, offered(plain).reset) == (1, 1, 0)
    streams = counting(1, streams=Streams())
    found = offered(streams)
    assert (found.reset, found.silent_reset, found.cut, found.crash) == (1, 1, 1, 0)


def test_filters_of_what_cannot_be_refused_are_errors() -> None:
    system = counting(1)
    saved = begun(system).save()
    with pytest.raises(BadSystem, match="no filter"):
        predict(system, saved, filters=[Filter("a", "crash", "crash")])
    with pytest.raises(UnknownNode):
        predict(system, saved, filters=[Filter("z", "timer", "tick")])


def test_a_filter_never_refuses_what_a_node_sends_itself() -> None:
    system = counting(1)
    system = System({"a": Counter(other="a")}, properties=system.properties)
    filters = [Filter("a", "deliver", "Add")]
    found = predict(system, begun(system).save(), filters=filters, seconds=20, threads=1)
    assert found.path is not None


def test_an_execution_of_a_system_that_begins_in_a_saved_state_begins_there() -> None:
    system = counting(9)
    world = begun(system)
    world.apply(next(event for event in world.enabled() if event.kind == "timer"))
    found = predict(system, world.save(), seconds=5, threads=1)
    with Sandbox() as sandbox:
        run = ServiceExecution.begin(found.system, sandbox, ())
    assert run.world.view()["a"].sent == 1
    assert run.world.steps == 0


def test_a_known_path_is_tried_even_where_a_short_look_found_nothing() -> None:
    system = counting(1)
    saved = begun(system).save()
    with Predictor(system) as predictor:
        path = predictor.predict(saved, seconds=20).path
        assert path is not None
    with Predictor(system) as predictor:
        assert predictor.predict(saved, seconds=0).path is None
        assert predictor.predict(saved, seconds=0).remembered
        assert predictor.predict(saved, seconds=0, known=[path]).found_by == KNOWN


def test_a_trace_of_another_process_is_a_known_path_too() -> None:
    system = counting(1)
    saved = begun(system).save()
    found = predict(system, saved, seconds=20)
    violation = traced(found)
    assert violation is not None
    trace = violation.trace
    assert trace is not None
    again = predict(counting(1), saved, known=[trace], seconds=20)
    assert again.found_by == KNOWN
    other = predict(counting(50), saved, known=[trace], seconds=20)
    assert other.path is None


def test_a_prediction_that_is_stopped_is_not_taken_for_a_clean_one() -> None:
    system = counting(100)
    saved = begun(system).save()
    with Predictor(system) as predictor:
        request_stop()
        try:
            stopped = predictor.predict(saved, seconds=20)
        finally:
            forget_stop()
        assert stopped.path is None and stopped.interrupted and not stopped.exhausted
        assert not predictor.predict(saved, seconds=20).remembered


def test_a_predicate_that_raises_is_not_judged_and_nothing_is_claimed() -> None:
    def raises(world: World) -> bool:
        if world["a"].total > 0:
            raise KeyError("no")
        return True

    nodes = {"a": Counter(other="b"), "b": Counter(other="a")}
    system = System(nodes, properties=[always(raises, name="raises")])
    found = predict(system, begun(system).save(), seconds=20, threads=1)
    assert found.unjudged == ("raises",)
    assert found.errors and "raised KeyError" in found.errors[0]
    assert found.complete and not found.exhausted


class Caller(Service):
    """The first one speaks on a stream; who hears that it broke counts that."""

    got: int = 0
    lost: int = 0

    def start(self) -> None:
        if self.name == "a":
            self.stream.send("b", Add(1))

    @on(Add)
    def add(self, message: Add) -> None:
        self.got += 1
        if message.amount == 1:
            self.stream.send("a", Add(2))

    @broken
    def gone(self, peer: str) -> None:
        self.lost += 1


@always
def nobody_lost(world):
    return all(node.lost == 0 for node in world.nodes)


@pytest.mark.parametrize(("receiver", "breaks"), [("b", False), ("a", True)])
def test_what_is_refused_on_a_stream_waits_until_a_reset_would_lose_something(receiver, breaks):
    system = System({"a": Caller(), "b": Caller()}, streams=Streams(), properties=[nobody_lost])
    sender = "a" if receiver == "b" else "b"
    refused = [Filter(receiver, "receive", "Add", sender)]
    saved = World.initial(system).save()
    found = predict(system, saved, filters=refused, faults=Faults(), seconds=20.0)
    assert (found.path is not None) == breaks and (breaks or found.exhausted)
    world = World.initial(begun_in(system, saved, faults=Faults(), filters=refused))
    kinds = []
    while events := world.enabled():
        kinds.append(events[0].kind)
        world.apply(events[0])
    assert kinds[:2] == (["receive", "cut"] if breaks else []) and world.at_rest()
