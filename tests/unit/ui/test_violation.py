"""A violation reads like a compiler's diagnostic: on one screen, with or without colour."""

import re
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.ui.samples import join, step, trace, violation

from presage.search.report import Violation
from presage.trace.trace import Trace, TraceStep
from presage.ui.theme import Theme, cells
from presage.ui.violation import LINES_MAX, parting, render

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
    facts = {"kind": "liveness", "critical": 100, "evidence": evidence, "dead": True}
    shares = ((98, 200, 200), (99, 150, 200), (100, 0, 200))
    found = violation(long_trace, message="n2 stays joining", recovery=shares, **facts)
    text = render(found, Theme(width=80))
    assert "no continuation recovers" not in text  # which walks cannot know
    snapshot("liveness-80", text)


def test_a_remark_is_never_cut_for_the_content_of_a_message() -> None:
    wide = join(1, "n0", "n1", detail=f"Join(path={'n0 ' * 40})", choices=((0, 2),))
    dead = {"kind": "liveness", "critical": 1, "evidence": "few walks", "dead": True}
    found = violation(trace([wide]), recovery=((1, 0, 60),), **dead)
    events = {
        120: "Join(path=n0 n0 n0 n0 n0 n0 n0 n0 n0…) n0 -> n1",
        100: "Join n0 -> n1",
        85: "Join n0 -> …",
    }
    for width, event in events.items():
        lines = render(found, Theme(width=width)).splitlines()
        [row] = [line for line in lines if line.startswith(">")]
        assert row.endswith(f"  {event}   choice 1 of 2   0% recover, critical transition")


def test_where_the_property_is_written_is_not_cut_for_its_signature() -> None:
    found = violation(trace([join(1, "n0", "n1")]))
    assert render(found, Theme(width=80)).splitlines()[1].endswith("88   def one_root(world)")
    found = replace(found, source=f"{'long/' * 10}randtree.py:88")
    assert render(found, Theme(width=80)).splitlines()[1].endswith("/randtree.py:88")


def test_the_command_that_draws_the_live_path_is_told_apart_on_any_width() -> None:
    live = trace([], kind="live")
    found = violation(trace([join(1, "n0", "n1")]), live=live, live_path="a.trace")
    assert "\n   = good: presage graph a.trace" in render(found, Theme(width=60))
    found = replace(found, kind="liveness")
    assert "\n   = live: presage graph a.trace" in render(found, Theme(width=60))


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (step(2, "n1", "timer", "retry"), "step 2 is timer retry at n1 instead; "),
        (step(2, "n1", "reset", "reset"), "step 2 is reset at n1 instead; "),
        (join(2, "n1", "n2"), "step 2 is deliver Join n1 -> n2 instead; "),
        (
            join(2, "n0", "n1", detail="Join(ttl=4)"),
            "step 2 is deliver Join(ttl=4) n0 -> n1 instead; ",
        ),
    ],
)
def test_the_nearest_live_path_says_what_it_does_instead(other: TraceStep, told: str) -> None:
    start = join(1, "n0", "n1")
    live = trace([start, msgspec.structs.replace(other, fingerprint=9)], kind="live")
    found = violation(trace([start, join(2, "n0", "n1")]), live=live, kind="liveness")
    assert parting(found) == f"{told}recovers at step 2"
    assert parting(replace(found, live=trace([start], kind="live"))) == "recovers at step 1"


def test_the_nearest_good_run_says_which_step_decides_and_what_that_rests_on() -> None:
    start, bad = join(1, "n0", "n1"), join(2, "n0", "n1")
    kept = msgspec.structs.replace(step(2, "n1", "timer", "retry"), fingerprint=9)
    facts = {"kind": "live", "message": "is kept to the end, step 2"}
    found = violation(trace([start, bad]), live=trace([start, kept], **facts))
    told = "step 2 decides: after timer retry at n1 instead of deliver Join n0 -> n1"
    assert parting(found) == f"{told} it is kept to the end, step 2"
    walked = trace([start, kept], evidence="after step 2 none of 12 random runs kept it", **facts)
    told = f"{told} it is kept to the end, step 2; after step 2 none of 12 random runs kept it"
    assert parting(replace(found, live=walked)) == told
    still = "step 2 decides: without deliver Join n0 -> n1 nothing more happens, and it holds"
    assert parting(replace(found, live=trace([start], **facts))) == still


@pytest.mark.parametrize(
    "facts", [{"walked": 20}, {"critical": 0}, {"loop": 1, "fairness": "weak"}]
)
def test_no_step_is_marked_where_none_is_to_blame(facts: dict[str, object]) -> None:
    changes = {"n1": {"parent": ("'n0'", "None")}}
    steps = [join(index, "n0", "n1", changes=changes) for index in range(1, 4)]
    text = render(violation(trace(steps), kind="liveness", **facts), Theme(width=80))
    assert "\n>" not in text and "changed" not in text


def test_the_changes_are_those_of_the_critical_transition() -> None:
    left = {"n1": {"parent": ("'n0'", "None")}}
    steps = [join(1, "n0", "n1"), join(2, "n0", "n1", changes=left), join(3, "n0", "n2")]
    found = violation(trace(steps), kind="liveness", critical=2, dead=True)
    assert "= changed: n1.parent  'n0' -> None" in render(found, Theme(width=80))


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


def test_all_of_a_loop_is_shown_where_it_fits_with_its_critical_transition() -> None:
    steps = [join(index, "n0", "n1") for index in range(1, 31)]
    facts = {"kind": "liveness", "fairness": "weak", "dead": True}
    for critical, loop, shown in ((25, 28, 30), (2, 28, 4), (None, 28, 30)):
        found = violation(trace(steps), critical=critical, loop=loop, **facts)
        rows = [line for line in render(found, Theme(width=80)).splitlines() if " Join(" in line]
        assert rows[-1].split()[0] == str(shown)
        assert len(render(found, Theme(width=80)).splitlines()) <= LINES_MAX


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
    assert re.findall(r"presage (\w+)", text) == ["replay", "debug", "graph", "report"]


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
