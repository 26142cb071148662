"""A report is plain data with a fixed JSON form, and can be asserted."""

import json
from dataclasses import FrozenInstanceError, fields

import pytest

from presage.errors import PropertyError
from presage.search.report import STEPS_TOLD, Report, Surveyed, Violation, with_notes
from presage.trace.trace import Trace, TraceStep


def violation(steps: int = 2, **more: object) -> Violation:
    told = tuple(
        TraceStep(index=i, node="n0", kind="timer", label="retry", fingerprint=i)
        for i in range(1, steps + 1)
    )
    trace = Trace(
        target="paxos",
        system="paxos",
        prop="one_root",
        kind="safety",
        message="two roots",
        step=steps,
        initial=1,
        steps=told,
    )
    facts: dict[str, object] = {
        "prop": "one_root",
        "kind": "safety",
        "message": "two roots",
        "step": steps,
        "steps": steps,
        "trace": trace,
        "trace_path": ".presage/traces/one_root-7f3a21bc.trace",
        "source": "tree.py:8",
        "signature": "def one_root(world)",
    }
    return Violation(**facts | more)  # type: ignore[arg-type]


TOLD = {
    "property": "one_root",
    "kind": "safety",
    "cause": "two roots",
    "message": "two roots",
    "step": 2,
    "steps": 2,
    "critical": None,
    "loop": None,
    "fairness": None,
    "dead": None,
    "evidence": "exact",
    "walked": None,
    "recovery": [],
    "found": None,
    "delays": None,
    "trace": ".presage/traces/one_root-7f3a21bc.trace",
    "live": None,
    "differs_at": None,
}
SURVEYED = {"fairness": "weak", "live": 4, "unknown": 0, "dead": 2, "critical_transitions": 1}


def test_the_json_form_has_exactly_the_promised_keys() -> None:
    report = Report(
        presage="0.1.0",
        target="paxos",
        parameters={"clients": 3, "drops": float("inf")},
        exhausted=True,
        unique=1_194_428,
        generated=2_420_477,
        depth=28,
        handler_runs=15_606,
        faults={"crash": 0},
        liveness={"served": Surveyed("weak", 4, 0, 2, 1)},
        violations=[violation()],
        notes=["a note"],
    )
    assert json.loads(json.dumps(report.to_json())) == {
        "presage": "0.1.0",
        "target": "paxos",
        "search": "bfs",
        "seed": 0,
        "reduction": "none",
        "symmetry": False,
        "calm": False,
        "parameters": {"clients": 3, "drops": "inf"},
        "exhausted": True,
        "stopped_by": None,
        "states": {"unique": 1_194_428, "generated": 2_420_477, "depth": 28},
        "executions": 0,
        "traces": 0,
        "handler_runs": 15_606,
        "property_runs": 0,
        "faults": {"crash": 0},
        "seconds": 0.0,
        "peak_mib": 0.0,
        "collision_probability": 0.0,
        "properties": {},
        "liveness": {"served": SURVEYED},
        **dict.fromkeys(("hunt", "delay", "cycles", "skip")),
        "violations": [TOLD],
        "known": [],
        "errors": [],
        "order_dependence": [],
        "second_process": None,
        "leaves_out": [],
        "assumes": [],
        "notes": ["a note"],
        "resumed_from": None,
        "checkpoints": 0,
        "coverage": None,
    }


def test_the_exit_status_tells_the_worst_that_is_certain() -> None:
    assert Report().exit_status == 0
    assert Report(errors=["a property raised"]).exit_status == 2
    assert Report(errors=["a property raised"], violations=[violation()]).exit_status == 1


def test_what_held_can_be_asserted() -> None:
    Report().assert_holds()
    Report(search="walk", executions=9).assert_holds()


@pytest.mark.parametrize("limit", ["depth", "states", "seconds", "memory", "interrupt", "runs"])
def test_what_a_limit_ended_does_not_hold_unless_that_is_enough(limit: str) -> None:
    report = Report(stopped_by=limit, properties={"one_root": "held"}, traces=1)
    with pytest.raises(AssertionError, match="(?s)held so far.*not covered.*allow_partial=True"):
        report.assert_holds()
    report.assert_holds(allow_partial=True)


def test_a_sometimes_that_random_walks_did_not_reach_is_not_shown() -> None:
    report = Report(search="walk", executions=9, properties={"found": "unreached", "safe": "held"})
    assert report.exit_status == 0
    with pytest.raises(AssertionError, match="(?s)found was not reached.*allow_partial=True"):
        report.assert_holds()
    report.assert_holds(allow_partial=True)


def test_nothing_is_asserted_of_executions_that_were_all_cut_short() -> None:
    report = Report(search="tree", stopped_by="depth", properties={"one_root": "held"})
    with pytest.raises(AssertionError, match="no execution came to its end"):
        report.assert_holds(allow_partial=True)


def test_a_failed_assertion_tells_the_whole_story() -> None:
    with pytest.raises(AssertionError) as failed:
        Report(violations=[violation()]).assert_holds()
    assert str(failed.value) == "\n".join(
        [
            "violation[safety] one_root fails at step 2",
            "  why: two roots",
            "     1  n0  timer      retry",
            "     2  n0  timer      retry",
            "  property: tree.py:8  def one_root(world)",
            "  replay: presage replay .presage/traces/one_root-7f3a21bc.trace",
        ]
    )


def test_a_failed_assertion_folds_a_long_story() -> None:
    text = violation(steps=100).explanation()
    assert f"... {100 - STEPS_TOLD} steps before" in text
    assert "   100  n0  timer      retry" in text


def test_a_property_that_could_not_be_evaluated_does_not_hold() -> None:
    with pytest.raises(PropertyError, match="tree.py:8: division by zero"):
        Report(errors=["tree.py:8: division by zero"]).assert_holds()


@pytest.mark.parametrize(
    ("facts", "fact"),
    [
        ({}, "one_root fails at step 2"),
        ({"step": 0}, "one_root fails in the initial state"),
        ({"kind": "exception"}, "one_root fails at step 2"),
        ({"kind": "liveness"}, "one_root does not hold at rest after step 2"),
        ({"kind": "liveness", "critical": 1}, "one_root never holds again after step 1"),
        ({"kind": "liveness", "critical": 0}, "one_root can never hold"),
        (
            {"kind": "liveness", "loop": 1},
            "one_root need not hold again: steps 1 to 2 repeat for ever",
        ),
        ({"kind": "liveness", "loop": 2}, "one_root need not hold again: step 2 repeats for ever"),
        ({"kind": "deadlock"}, "one_root fails: nothing can happen after step 2"),
        (
            {"kind": "deadlock", "step": 0},
            "one_root fails: nothing can happen in the initial state",
        ),
        ({"kind": "unreached", "step": 0}, "one_root is never reached"),
    ],
)
def test_every_kind_of_violation_is_one_clause(facts: dict[str, object], fact: str) -> None:
    assert violation(**facts).fact == fact


@pytest.mark.parametrize(
    ("facts", "outlook"),
    [
        ({"dead": True}, "dead end: no continuation recovers"),
        ({"dead": True, "loop": 1}, "dead end: no continuation recovers"),
        ({"dead": False}, "stuck: nothing but a fault leads on"),
        ({"dead": False, "loop": 1}, "livelock: other continuations recover"),
        ({"dead": None, "loop": 1}, ""),
    ],
)
def test_a_liveness_violation_says_whether_anything_recovers(
    facts: dict[str, object], outlook: str
) -> None:
    assert violation(kind="liveness", **facts).outlook.startswith(outlook)
    told = violation(kind="liveness", fairness="weak", **facts).explanation()
    assert outlook in told
    assert ("loop: repeats from step 1, fairness assumed: weak" in told) == ("loop" in facts)
    assert violation(**facts).outlook == ""


@pytest.mark.parametrize("kind", [Report, Violation])
def test_a_report_cannot_be_written_to(kind) -> None:
    made = Report() if kind is Report else violation()
    for each in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(made, each.name, None)
        assert not isinstance(getattr(made, each.name), list)


@pytest.mark.parametrize("notes", [[], ["seen"], ["new"], ["new", "new"]])
def test_more_notes_make_another_report_that_has_each_once(notes) -> None:
    report = Report(notes=("seen",))
    more = with_notes(report, notes)
    assert report.notes == ("seen",)
    assert more.notes == tuple(dict.fromkeys(["seen", *notes]))
