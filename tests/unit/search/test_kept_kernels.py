"""What a predictor keeps makes no difference to what it finds; looks bounded by states."""

import pytest
from unit.runtime.ahead import moved, saved, tokens
from unit.search.test_predict import begun, counting

from presage import Faults
from presage._results import StopReason
from presage.execution.sandbox import Sandbox
from presage.model.world.origin import begun_in
from presage.search.kept_kernels import Kernels
from presage.search.predict import Predictor


def test_a_look_at_few_states_is_the_same_each_time_and_stands_for_no_other() -> None:
    snapshot = begun(counting(100)).save()
    looks = []
    for _ in range(2):
        with Predictor(counting(100)) as predictor:
            looks.append(predictor.predict(snapshot, seconds=20, threads=1, states=5))
            assert not predictor.predict(snapshot, seconds=20).remembered
    seen = [[(each.own_events, each.states, each.depth) for each in look.lanes] for look in looks]
    assert seen[0] == seen[1] and not looks[0].exhausted
    assert looks[0].lanes[-1].stopped_by is StopReason.STATES


def test_who_was_asked_of_other_states_sees_what_one_sees_who_was_not() -> None:
    system = counting(1)
    world = begun(system)
    with Predictor(system, kernels=1) as predictor:
        for _ in range(4):
            for outside in ((), (), ("b",)):
                asked = {"outside": outside, "seconds": 20, "threads": 1, "states": 100}
                with Predictor(system) as fresh:
                    ways = [each.predict(world.save(), **asked) for each in (predictor, fresh)]
                paths = [way.path and [step.event for step in way.path.steps] for way in ways]
                assert paths[0] == paths[1] and ways[0].broken == ways[1].broken
                assert ways[0].unjudged == ways[1].unjudged
            if events := [each for each in world.enabled() if each.kind in ("timer", "deliver")]:
                world.apply(events[0])


def test_the_nodes_of_a_kernel_serve_where_the_same_ones_are_outside_and_no_others() -> None:
    system = tokens(greedy=False, properties=(moved,))
    here, there = saved(system), saved(system, "timer")
    with Sandbox() as sandbox:
        kernels = Kernels(system, sandbox, most=1)
        first = kernels.begin(here, (), True, (), None)
        kept = kernels.of(first)
        again = kernels.begin(there, (), True, (), None)
        assert again.automata is first.automata and again.origin != first.origin
        assert kernels.of(again) is kept
        for outside, observed, faults in (
            (("a",), True, None),
            ((), False, None),
            ((), True, Faults(drop=1)),
        ):
            other = kernels.begin(there, outside, observed, (), faults)
            assert other.automata is not first.automata
        kernels.of(kernels.begin(there, ("a",), True, (), None))
        assert kernels.of(first) is not kept  # there was room for one


def test_nodes_of_a_system_that_began_otherwise_do_not_serve() -> None:
    system = tokens(greedy=False, properties=(moved,))
    other = begun_in(system, saved(system), outside=("a",))
    with pytest.raises(AssertionError, match="they begin alike"):
        begun_in(system, saved(system), like=other)
