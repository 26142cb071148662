"""`presage predict`: statuses, words, files, and whose states it opens."""

import json
from pathlib import Path

import msgspec
import pytest
from unit.cli.command import COUNTER, fails, run, write

from presage.trace import codec


@pytest.fixture
def trace(folder: Path) -> str:
    write(COUNTER, limit=2)
    found = run("check", "counter.py", "--json", "--traces", "kept")
    [violation] = json.loads(found.stdout)["violations"]
    path: str = violation["trace"]
    return path


def test_a_violation_ahead_ends_with_status_1_and_can_be_replayed(trace: str) -> None:
    result = run("predict", trace, "--at", "1", "--save", "ahead.trace", "--threads", "1")
    assert result.returncode == 1, result.stderr
    assert "violation[safety] small fails at step 2" in result.stdout
    assert "small may break 2 steps ahead, from the state after step 1" in result.stdout
    assert "found by k = 1" in result.stdout
    again = run("replay", "ahead.trace")
    assert (again.returncode, "reproduced: 2 steps" in again.stdout) == (1, True)
    for command in (["debug", "ahead.trace", "--do", "state n0"], ["explain", "ahead.trace"]):
        assert run(*command).returncode == 0
    assert run("report", "ahead.trace").returncode == 0
    assert run("predict", "ahead.trace", "--at", "1").returncode == 1


def test_nothing_found_is_said_with_its_bounds_never_as_held(folder: Path) -> None:
    write(COUNTER, limit=3)
    run("run-once", "counter.py", "--traces", "kept")
    [path] = map(str, Path("kept").glob("*.trace"))
    whole = run("predict", path, "--at", "0", "--threads", "1")
    assert whole.returncode == 0
    assert "all that can follow with these faults was" in whole.stdout
    cut = run("predict", path, "--at", "0", "--threads", "1", "--seconds", "1e-9")
    assert cut.returncode == 0
    assert "nothing found from where the trace begins" in " ".join(cut.stdout.split())
    assert "nothing found" in cut.stdout and "within bounds" in cut.stdout
    for text in (whole.stdout, cut.stdout):
        assert "held" not in text and "exhausted" not in text


def test_what_is_broken_at_the_end_of_a_trace_is_told(trace: str) -> None:
    result = run("predict", trace)
    assert result.returncode == 1
    assert "broken already: small" in result.stdout


def test_the_object_has_the_path_and_the_lanes(trace: str) -> None:
    result = run("predict", trace, "--at", "0", "--json", "--threads", "1")
    found = json.loads(result.stdout)
    assert (found["predicted"], found["property"], found["at"]) == (True, "small", 0)
    assert [step["event"] for step in found["path"]] == ["increment"] * 3
    assert found["lanes"][0]["k"] == 1
    assert found["exhausted"] is False


def test_a_step_that_is_not_there_is_an_error(trace: str) -> None:
    fails(run("predict", trace, "--at", "9"), 2, "there is no step 9")


def test_a_program_of_processes_has_no_snapshot(folder: Path) -> None:
    found = run("check", "simgrid.bugged1", "--json", "--traces", "kept", "--seconds", "20")
    [violation, *_] = json.loads(found.stdout)["violations"]
    fails(run("predict", violation["trace"]), 2, "program of processes")


def test_a_state_from_elsewhere_needs_trust(trace: str) -> None:
    run("predict", trace, "--at", "1", "--save", "ahead.trace")
    read = codec.read("ahead.trace")
    origin = msgspec.structs.replace(read.origin, signature=None)
    codec.write(msgspec.structs.replace(read, origin=origin), "foreign.trace")
    fails(run("predict", "foreign.trace", "--target", "counter.py"), 2, "saved state")
    trusted = run("predict", "foreign.trace", "--target", "counter.py", "--trust", "--at", "0")
    assert trusted.returncode == 1
