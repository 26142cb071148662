"""The last lines say what held, at what cost, and what was not covered."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from unit.ui.samples import violation

from presage.search.report import Hunted, Report
from presage.trace.trace import Trace
from presage.ui.summary import render
from presage.ui.theme import Theme

Compare = Callable[[str, str], None]


@pytest.mark.parametrize("width", [80, 120])
def test_success_says_how_much_was_covered(report: Report, snapshot: Compare, width: int) -> None:
    snapshot(f"summary-held-{width}", render(report, Theme(width=width)))


@pytest.mark.parametrize("width", [80, 120])
def test_everything_that_weakens_a_result_is_said(
    report: Report, short_trace: Trace, snapshot: Compare, width: int
) -> None:
    told = replace(
        report,
        exhausted=False,
        stopped_by="depth",
        faults={"crash": 12, "drop": 0},
        violations=[violation(short_trace)],
        errors=["examples/x.py:10: property `tidy` raised ZeroDivisionError: division by zero"],
        notes=["`eventually` was checked where the system comes to rest; cycles were not examined"],
        collision_probability=1e-7,
        properties=report.properties | {"one_root": "violated", "tidy": "error", "ok": "unreached"},
    )
    snapshot(f"summary-limits-{width}", render(told, Theme(width=width)))
    plain = render(told, Theme(width=width, ascii=True))
    assert plain.isascii()


def test_the_colours_of_a_summary(report: Report, short_trace: Trace, snapshot: Compare) -> None:
    told = replace(report, violations=[violation(short_trace)], faults={"drop": 0})
    snapshot("summary-colour", render(told, Theme(width=80, colour=True)))


def test_a_kept_search_tells_where_it_went_on_from(report: Report) -> None:
    told = replace(report, resumed_from=5_000, checkpoints=2)
    text = render(told, Theme(width=120))
    assert "note: resumed from a checkpoint of 5,000 states, 2 checkpoints written" in text
    assert "checkpoint" not in render(report, Theme(width=120))


HUNTED = Hunted(live=2_000, rest=0, long=0, duplicate=3, choices=5, complete=False)


def test_a_hunt_says_in_how_many_executions_it_saw_nothing(report: Report) -> None:
    told = replace(report, search="hunt", executions=1_000, exhausted=False, hunted=HUNTED)
    first, *rest = render(told, Theme(width=120)).splitlines()
    assert first == "3 properties held in 1,000 executions  32,971 transitions, 0.21 s, seed 0"
    assert "not covered: other executions: a hunt proves nothing" in "\n".join(rest)


@pytest.mark.parametrize(("executions", "done"), [(0, ""), (7, "7 executions, ")])
def test_a_hunt_that_found_something_claims_nothing_of_the_rest(
    report: Report, short_trace: Trace, executions: int, done: str
) -> None:
    facts = {"search": "hunt", "exhausted": False, "stopped_by": "violation", "hunted": HUNTED}
    told = replace(report, executions=executions, violations=[violation(short_trace)], **facts)
    [first, *_] = render(told, Theme(width=120)).splitlines()
    held = "1 violation, 3 properties held so far"
    assert first == f"{held}  {done}32,971 transitions, 0.21 s, seed 0"


def test_a_hunt_says_how_long_it_looked_for_the_critical_transition(report: Report) -> None:
    hunt = {"search": "hunt", "executions": 1_000, "exhausted": False}
    told = replace(report, hunted=replace(HUNTED, locating=12.34), **hunt)
    text = render(told, Theme(width=120))
    assert ", 0.21 s, 12.3 s more to find the critical transition, seed 0" in text
    assert "critical" not in render(replace(told, hunted=HUNTED), Theme(width=120))


def test_walks_count_executions(report: Report) -> None:
    told = replace(report, search="walk", executions=1_000, exhausted=False)
    text = render(told, Theme(width=120))
    assert text.startswith("3 properties held in 1,000 executions  16,668 states")
    assert "not covered: whatever the search did not come across" in text


@pytest.mark.parametrize(
    ("stopped_by", "said"),
    [
        ("states", "whatever lies beyond the first 16,668 states"),
        ("seconds", "whatever 0.21 s did not reach"),
        ("memory", "whatever did not fit into memory"),
        ("interrupt", "whatever was left when it was interrupted"),
        ("lost", "what workers were doing that were lost"),
        ("violation", "whatever comes after the violation; `--keep-going` looks on"),
        ("a limit to come", "the rest; the search ended by a limit to come"),
    ],
)
def test_every_limit_says_what_it_left_out(report: Report, stopped_by: str, said: str) -> None:
    text = render(replace(report, exhausted=False, stopped_by=stopped_by), Theme(width=120))
    assert f"not covered: {said}" in text


@pytest.mark.parametrize("limit", ["depth", "states", "seconds", "memory", "interrupt"])
def test_what_a_limit_ended_begins_with_held_so_far(report: Report, limit: str) -> None:
    told = replace(report, exhausted=False, stopped_by=limit)
    text = render(told, Theme(width=120))
    assert text.startswith("held so far: 3 properties, to depth ")
    assert "exhaustively" not in text
    assert not render(report, Theme(width=120)).startswith("held so far")
    walked = replace(told, search="walk", executions=7)
    assert render(walked, Theme()).startswith("held so far: 3 properties in 7 executions")
    nothing = replace(told, properties={})
    assert render(nothing, Theme(width=120)).startswith("held so far: no exception, to depth")


def test_a_property_that_is_unknown_is_counted_and_marked(report: Report) -> None:
    told = replace(report, properties=report.properties | {"lit": "unknown"})
    text = render(told, Theme(width=120))
    assert text.startswith("held so far: 3 properties, exhaustively, 1 property unknown")
    assert "? lit unknown" in text


def test_printed_a_report_says_what_the_command_says(report: Report, short_trace: Trace) -> None:
    told = replace(
        report,
        exhausted=False,
        stopped_by="depth",
        faults={"crash": 12, "drop": 0},
        notes=["this and\nthat"],
        violations=[violation(short_trace)],
    )
    shown = " ".join(render(told, Theme(width=100)).split())
    head, *lines = str(told).splitlines()
    assert " ".join(head.split()) in shown
    for line in lines[len(told.properties) :]:
        assert " ".join(line.split()) in shown
    assert all(f"  {name}: {status}" in lines for name, status in told.properties.items())


def test_executions_that_were_all_cut_short_are_no_pass(report: Report) -> None:
    cut = replace(report, search="tree", exhausted=False, stopped_by="depth", traces=0)
    text = render(cut, Theme(width=120))
    assert text.startswith("no execution came to its end  0 traces")
    assert "every execution was cut short by `depth`" in text
    assert (cut.exit_status, replace(cut, traces=1).exit_status) == (2, 0)


def test_a_fault_that_never_happened_is_a_warning(report: Report) -> None:
    text = render(replace(report, faults={"crash": 3, "drop": 0}), Theme(width=120))
    assert "warning: no drop ever happened" in text
    assert "faults that happened: crash 3" in text


def test_a_system_without_properties_claims_no_more_than_that_nothing_was_raised(
    report: Report,
) -> None:
    text = render(replace(report, properties={}), Theme())
    assert text.startswith("no exception") and "there are no properties" in text
