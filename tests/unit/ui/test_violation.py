"""A violation reads like a compiler's diagnostic: on one screen, with or without colour."""

import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.ui.samples import join, step, trace, violation

from presage.search.report import Violation
from presage.trace.trace import Trace
from presage.ui.theme import Theme, cells
from presage.ui.violation import LINES_MAX, render

Compare = Callable[[str, str], None]


@pytest.mark.parametrize("width", [80, 120])
def test_a_safety_violation_ends_at_the_bad_step(
    short_trace: Trace, snapshot: Compare, width: int
) -> None:
    snapshot(f"safety-{width}", render(violation(short_trace), Theme(width=width)))


@pytest.mark.parametrize("width", [80, 120])
def test_a_long_trace_is_folded_and_fits_on_a_screen(
    long_trace: Trace, snapshot: Compare, width: int
) -> None:
    text = render(violation(long_trace), Theme(width=width))
    assert len(text.splitlines()) == LINES_MAX
    snapshot(f"long-{width}", text)


def test_colour_only_adds_to_the_text(short_trace: Trace, snapshot: Compare) -> None:
    coloured = render(violation(short_trace), Theme(width=80, colour=True))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(violation(short_trace), Theme())
    snapshot("safety-colour", coloured)


def test_ascii_output_is_ascii(long_trace: Trace, snapshot: Compare) -> None:
    found = violation(long_trace, message="die Wurzel heißt 漢")
    text = render(found, Theme(width=80, ascii=True))
    assert text.isascii()
    snapshot("long-ascii", text)


def test_a_liveness_violation_shows_the_critical_transition_and_what_follows(
    long_trace: Trace, snapshot: Compare
) -> None:
    evidence = "200 walks of 20,000 steps, 0 recover"
    found = violation(
        long_trace, kind="liveness", critical=100, evidence=evidence, message="n2 stays joining"
    )
    snapshot("liveness-80", render(found, Theme(width=80)))


def test_a_loop_shows_where_it_begins_and_what_was_assumed(snapshot: Compare) -> None:
    steps = [join(index, "n0", "n1") for index in range(1, 6)]
    found = violation(
        trace(steps), kind="liveness", loop=3, fairness="weak", dead=False, message="n1 waits"
    )
    snapshot("loop-80", render(found, Theme(width=80)))


def test_a_loop_behind_a_dead_end_shows_the_critical_transition_too(snapshot: Compare) -> None:
    steps = [join(index, "n0", "n1") for index in range(1, 6)]
    found = violation(
        trace(steps), kind="liveness", loop=4, critical=2, fairness="strong", dead=True
    )
    snapshot("dead-80", render(found, Theme(width=80)))


def test_a_violation_at_rest_names_the_step_that_led_there(snapshot: Compare) -> None:
    found = violation(trace([join(1, "n0", "n1")]), kind="liveness", message="n1 waits for ever")
    snapshot("rest-80", render(found, Theme(width=80)))


def test_an_exception_says_what_was_raised_and_where(snapshot: Compare) -> None:
    why = "KeyError: 'n3' at examples/randtree.py:61 in joined"
    story = trace([join(1, "n0", "n1", failure=why)], prop="no_exception", source="", signature="")
    snapshot("exception-80", render(violation(story, kind="exception", message=why), Theme()))


def test_a_deadlock_says_that_nothing_can_happen(snapshot: Compare) -> None:
    story = trace([step(1, "n0", "action", "lock(1)", detail="lock(1)")], prop="no_deadlock")
    snapshot("deadlock-80", render(violation(story, kind="deadlock", message=""), Theme()))


def test_a_bad_initial_state_has_no_table(snapshot: Compare) -> None:
    snapshot("initial-80", render(violation(trace([])), Theme()))


def test_what_is_never_reached_has_no_trace(snapshot: Compare) -> None:
    found = Violation(
        prop="value_chosen",
        kind="unreached",
        message="none of the 1,204 reachable states satisfies it",
        source="examples/paxos.py:12",
        signature="def value_chosen(world)",
    )
    snapshot("unreached-80", render(found, Theme()))


def test_a_step_that_changed_nothing_says_so() -> None:
    assert "step 1 changed no field" in render(violation(trace([join(1, "n0", "n1")])), Theme())


def test_the_replay_command_is_never_cut_and_can_be_pasted() -> None:
    path = f"{'deep/' * 20}a folder/one_root.trace"
    text = render(violation(trace([]), trace_path=path), Theme(width=80))
    assert f"presage replay '{path}'" in text


def test_a_trace_without_a_target_asks_for_one_and_an_unsaved_one_for_nothing() -> None:
    text = render(violation(trace([], target=None)), Theme(width=120))
    assert "one_root-7f3a21bc.trace --target TARGET" in text
    assert "help" not in render(violation(trace([]), trace_path=None), Theme())


def test_only_commands_that_exist_are_named(short_trace: Trace) -> None:
    text = render(violation(short_trace), Theme(width=120))
    assert re.findall(r"presage (\w+)", text) == ["replay", "graph"]


TEXTS = st.text(max_size=300)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(
    message=TEXTS,
    label=TEXTS,
    node=st.text(min_size=1, max_size=30),
    values=st.lists(st.tuples(TEXTS, TEXTS), max_size=12),
    length=st.integers(0, 60),
    critical=st.none() | st.integers(1, 60),
    width=st.sampled_from([60, 80, 120]),
    ascii=st.booleans(),
)
def test_whatever_the_texts_a_violation_fits_on_a_screen(
    message: str,
    label: str,
    node: str,
    values: list[tuple[str, str]],
    length: int,
    critical: int | None,
    width: int,
    ascii: bool,
) -> None:
    changes = {node: {f"field{i}": pair for i, pair in enumerate(values)}}
    steps = [join(i, node, node, label=label, changes=changes) for i in range(1, length + 1)]
    critical = critical if critical and critical <= length else None
    found = violation(trace(steps), message=message, critical=critical, trace_path=None)
    lines = render(found, Theme(width=width, ascii=ascii)).split("\n")
    assert len(lines) <= LINES_MAX
    assert all(cells(line) <= width for line in lines)
    assert all(line.isprintable() for line in lines)
