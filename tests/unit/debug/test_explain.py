"""The explanation names what is false, the steps and faults that matter, and the good run."""

import msgspec
from unit.debug.samples import found, lossy, ordered, session, stuck

from presage.debug.explain import Explanation, explain
from presage.execution.sandbox import Sandbox
from presage.shrink.essential import EssentialSteps, needed


def told(system, trace, live=None):
    with session(system, trace) as opened:
        return explain(opened, "it fails", live)


def padded(system, trace, at):
    """The trace with one more question asked before step `at` + 1: a step that does not matter."""
    with session(system, trace) as opened:
        opened.jump(at)
        ask = next(option for option in opened.options() if str(option.event) == "ask")
        opened.take(ask.taken)
        for step in range(at + 1, len(trace.steps) + 1):
            opened.take(opened.branches["main"].taken(step))
        return opened.as_trace()


def test_steps_that_do_not_matter_are_left_out():
    trace = padded(ordered(), found(ordered(), "in_order"), 2)
    explained = told(ordered(), trace)
    assert explained.needed.steps[-4:] == (4, 5, 6, 7)
    assert "6 of the 7 steps matter: " in explained.text
    assert "6 and 7; without any one of them it does not come to this." in explained.text
    assert explained.brief.endswith("6 and 7 matter")


def test_faults_that_are_not_needed_are_named():
    system = ordered(2)
    trace = found(system, "in_order")
    with session(system, trace) as opened:
        opened.jump(2)
        ask = next(option for option in opened.options() if str(option.event) == "ask")
        opened.take(ask.taken)
        lost = [o for o in opened.options() if o.event.kind == "drop"][-1]
        opened.take(lost.taken)
        for step in range(3, len(trace.steps) + 1):
            opened.take(opened.branches["main"].taken(step))
        trace = opened.as_trace()
    explained = told(system, trace)
    assert (explained.needed.faults, explained.needed.spare) == ((), (4,))
    assert "No fault is needed for it." in explained.text
    assert "the faults of step 4 are not needed" in explained.brief


def test_a_fault_that_is_needed_is_named_and_so_is_the_nearest_good_run():
    explained = told(ordered(1), found(ordered(1), "all_answered"))
    assert explained.needed.faults == (7,)
    assert "It takes drop (step 7)." in explained.text
    assert explained.difference is not None
    assert explained.difference.step == 7
    assert "is well again after step 9" in explained.text
    assert [part.text for part in explained.failed] == ["len(world['client'].answers) == 3"]


def test_a_loop_is_explained_by_what_it_takes():
    explained = told(lossy(), found(lossy(), "served"))
    assert "The loop itself takes drop (step 2), again and again." in explained.text
    assert explained.needed.of == 0


def test_a_step_before_a_loop_that_does_not_matter_is_left_out():
    trace = found(lossy(), "served")
    with session(lossy(), trace) as opened:
        opened.jump(0)
        for step in (1, 2, 1, 2):
            opened.take(opened.branches["main"].taken(step))
        steps = tuple(opened.here.steps)
    longer = msgspec.structs.replace(trace, steps=steps, step=4, loop=3)
    explained = told(lossy(), longer)
    assert explained.needed.steps == ()
    assert "None of the 2 steps before the loop matters." in explained.text


def test_without_time_nothing_is_claimed_to_be_the_least():
    trace = found(stuck(), "no_deadlock")
    with session(stuck(), trace) as opened, Sandbox() as sandbox:
        events = [(opened.here.taken(at).event, ()) for at in (1, 2)]
        found_ = needed(stuck(), sandbox, trace, events, seconds=0)
    assert not found_.complete
    assert found_.steps == (1, 2)


def test_a_given_good_run_is_compared_with():
    system = ordered(1)
    trace = found(system, "all_answered")
    with session(system, trace) as opened:
        opened.jump(6)
        opened.live()
        live = opened.as_trace()
    assert told(system, trace, live).difference.step == 7


def test_a_loop_that_needs_no_step_before_it_is_told_in_brief() -> None:
    unneeded = EssentialSteps((), 2, (), (), complete=True)
    explanation = Explanation("it loops", (), 2, (), unneeded, None, "")
    assert explanation.brief == "none of the steps before the loop matters"
