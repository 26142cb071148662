"""What is done about a violation that is ahead, and what the guard says about it."""

import pytest
from unit.runtime.ahead import moved, one_token, saved, tokens

from presage import Faults, Service, Streams, System, always, durable, on, timer
from presage.execution.sandbox import Sandbox
from presage.model.world.filters import Filter
from presage.model.world.world import World
from presage.runtime.foresight import Foresight, Question, events_seen, path_key
from presage.runtime.guard import Guard
from presage.search.predict import Predictor, predict

LONG = 20.0  # seconds; every search here ends by itself


def asked(system, snapshot, node, **more):
    with Foresight(system) as foresight:
        return foresight.answer(Question(snapshot, seconds=LONG, **more), node)


def test_a_filter_is_put_in_force_where_the_event_would_happen():
    system = tokens()
    found = asked(system, saved(system, "timer"), "a")
    assert (found.decision, found.prop) == ("filter", "one_token")
    assert found.filter == Filter("a", "deliver", "Give", "m")
    seen = events_seen(found.trace)
    assert [each.node for each in seen] == ["a", "b"]
    assert [each.cause for each in seen] == [None, 0]


def test_a_path_is_handed_over_to_the_node_that_can_leave_it():
    system = tokens()
    found = asked(system, saved(system, "timer"), "b")
    assert (found.decision, found.filter.node) == ("handed over", "a")


def test_what_was_handed_over_is_not_handed_on():
    system = tokens()
    snapshot = saved(system, "timer")
    first = asked(system, snapshot, "b")
    own = frozenset({path_key(first.trace)})
    again = asked(system, snapshot, "b", known=(first.trace,), own=own)
    assert again.decision == "filter" and again.filter == Filter("b", "deliver", "Grant", "a")
    assert again.found_by == "known path"


def test_nothing_is_done_by_who_only_watches():
    system = tokens()
    found = asked(system, saved(system, "timer"), "a", acts=False)
    assert found.decision == "watched" and found.filter is None and found.trace is not None


def test_where_nothing_is_ahead_it_says_so():
    system = tokens(greedy=False)
    found = asked(system, saved(system, "timer"), "a")
    assert found.decision == "clean" and found.trace is None


def test_a_filter_that_keeps_a_system_from_getting_on_is_refused():
    system = tokens(properties=(one_token, moved))
    found = asked(system, saved(system, "timer"), "a")
    assert found.decision == "kills progress" and found.starved == "moved"


class Fragile(Service):
    """Counts its starts, which a reset makes two, and what it gets, which takes some steps."""

    starts: int = durable(0)
    got: int = 0

    def start(self):
        self.starts += 1
        self.arm("tick")

    @timer
    def tick(self):
        if self.name == "a":
            self.send("b", "x")

    @on(str)
    def take(self, message):
        self.got += 1


@always
def starts_once(world):
    return all(node.starts < 2 for node in world.nodes)


@always
def gets_nothing(world):
    return all(node.got == 0 for node in world.nodes)


def test_what_nobody_can_prevent_does_not_hide_what_is_behind_it():
    claims = [starts_once, gets_nothing]
    system = System({"a": Fragile(), "b": Fragile()}, streams=Streams(), properties=claims)
    snapshot = World.initial(system).save()
    assert predict(system, snapshot, seconds=LONG).path.prop.name == "starts_once"
    found = asked(system, snapshot, "a")
    assert (found.decision, found.prop) == ("filter", "gets_nothing")
    assert found.filter == Filter("a", "timer", "tick")
    system.properties = (starts_once,)
    alone = asked(system, snapshot, "a")
    assert (alone.decision, alone.prop) == ("unpreventable", "starts_once")


def test_what_the_check_refuses_again_and_again_is_judged_as_a_filter():
    system = tokens(greedy=False, properties=(moved,))
    starving, harmless = Filter("b", "deliver", "Grant", "a"), Filter("m", "timer", "move")
    found = asked(system, saved(system, "timer"), "b", refused=(starving, harmless))
    assert found.decision == "clean" and found.hungry == ((starving, "moved"),)


def starved_by(system, filters, **more):
    with Sandbox() as sandbox:
        guard = Guard.of(system, sandbox)
        return guard.starves(saved(system, "timer"), filters, seconds=LONG, **more)


@pytest.mark.parametrize(
    ("filters", "starved"),
    [
        ([Filter("b", "deliver", "Grant", "a")], True),
        ([Filter("m", "timer", "move")], False),
        ([Filter("b", "deliver", "Give", "a")], False),
    ],
)
def test_the_guard_tells_what_starves_from_what_does_not(filters, starved):
    system = tokens(greedy=False, properties=(moved,))
    found = starved_by(system, filters)
    assert (found is not None) == starved
    assert found is None or (found.prop == "moved" and found.certain)


def test_the_guard_asks_once_what_can_come_true_without_a_filter(monkeypatch):
    system = tokens(greedy=False, properties=(moved,))
    asked_with, predicted = [], Predictor.predict

    def noted(self, snapshot, *, filters, **more):
        asked_with.append(tuple(filters))
        return predicted(self, snapshot, filters=filters, **more)

    monkeypatch.setattr(Predictor, "predict", noted)
    starving, harmless = Filter("b", "deliver", "Grant", "a"), Filter("m", "timer", "move")
    with Sandbox() as sandbox:
        guard = Guard.of(system, sandbox)
        here, there = saved(system, "timer"), saved(system)
        found = [guard.starves(here, [each], seconds=LONG) for each in (starving, harmless)]
        assert [each is not None for each in found] == [True, False]
        assert asked_with == [(), (starving,), (harmless,)]
        guard.starves(here, [harmless], outside=["a"], seconds=LONG)
        guard.starves(there, [harmless], seconds=LONG)
        assert asked_with.count(()) == 3


def test_the_guard_says_nothing_where_progress_was_out_of_reach_anyway():
    system = tokens(greedy=False, properties=(moved,))
    assert starved_by(system, [Filter("b", "deliver", "Grant", "a")], outside=["a"]) is None


def test_a_path_to_rest_without_progress_is_one_to_a_liveness_violation():
    system = tokens(greedy=False, properties=(moved,), faults=Faults(drop=1))
    found = asked(system, saved(system, "timer"), "a", acts=False)
    assert (found.prop, found.trace.prop, found.trace.kind) == ("moved", "moved", "liveness")


def test_where_a_property_is_broken_already_not_all_was_looked_at():
    system = tokens()
    broken = saved(system, "timer", "deliver", "deliver")
    found = predict(system, broken, seconds=LONG, faults=Faults())
    assert found.broken == ("one_token",) and found.complete and not found.exhausted
