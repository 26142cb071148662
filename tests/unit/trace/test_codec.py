"""A trace file is whole or not there, and nothing but a trace is read as one."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from presage.errors import BadTrace
from presage.trace import codec
from presage.trace.trace import Sent, Trace, TraceStep

STEP = TraceStep(
    index=1,
    node="n0",
    kind="deliver",
    label="Join n1 -> n0",
    detail="Join(ttl=3)",
    source="n1",
    choices=((1, 3),),
    sends=(Sent("n0", "n1", "Join(ttl=2)"),),
    changes={"n0": {"children": ("set()", "{'ñ'}")}},
    fingerprint=2**64 - 1,
)
TRACE = Trace(
    target="a.py:system",
    parameters={"n": 3, "bug": None, "f": 0.5, "on": True, "s": "3"},
    system="tree",
    nodes=("n0", "n1"),
    prop="one_root",
    kind="safety",
    message="two roots",
    step=1,
    choices=(0, 2),
    initial=2**63,
    steps=(STEP,),
)


def test_a_trace_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = codec.write(TRACE, tmp_path / "deep" / "t.trace")
    assert codec.read(path) == TRACE
    assert [found.name for found in path.parent.iterdir()] == ["t.trace"]


def test_a_saved_trace_is_named_after_its_property_and_its_content(tmp_path: Path) -> None:
    other = msgspec.structs.replace(TRACE, prop="a/b: c")
    assert codec.save(TRACE, tmp_path) == codec.save(TRACE, tmp_path)
    assert re.fullmatch(r"one_root-[0-9a-f]{8}\.trace", codec.save(TRACE, tmp_path).name)
    assert re.fullmatch(r"a_b_c-[0-9a-f]{8}\.trace", codec.save(other, tmp_path).name)


def test_a_long_name_of_a_property_is_cut_in_that_of_its_file() -> None:
    name = codec.file_name(msgspec.structs.replace(TRACE, prop="p" * 61))
    assert re.fullmatch(r"p{60}-[0-9a-f]{8}\.trace", name)


@pytest.mark.parametrize("edge", [{"critical": 0}, {"critical": 2}, {"loop": 1}, {"loop": 2}])
def test_the_first_and_last_step_can_be_critical_and_begin_a_loop(
    edge: dict[str, int], tmp_path: Path
) -> None:
    steps = (STEP, msgspec.structs.replace(STEP, index=2))
    trace = msgspec.structs.replace(TRACE, steps=steps, step=2, **edge)
    assert codec.read(codec.write(trace, tmp_path / "t.trace")) == trace


def test_a_trace_replaces_another_and_skips_what_a_killed_process_left(tmp_path: Path) -> None:
    path = tmp_path / "t.trace"
    path.write_text("old")
    (tmp_path / ".t.trace.0.unfinished").write_text("half")
    codec.write(TRACE, path)
    assert codec.read(path) == TRACE


def test_a_process_killed_while_writing_leaves_no_trace_under_its_name(tmp_path: Path) -> None:
    program = f"""
import signal, os
from pathlib import Path
from presage.trace import codec
trace = codec.read({str(codec.write(TRACE, tmp_path / "whole.trace"))!r})
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
codec.write(trace, {str(tmp_path / "killed.trace")!r})
"""
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == -9
    assert not (tmp_path / "killed.trace").exists()
    assert codec.read(codec.write(TRACE, tmp_path / "killed.trace")) == TRACE


def test_nothing_is_left_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(BadTrace, match="cannot be written to .*: no space left on device"):
        codec.write(TRACE, tmp_path / "t.trace")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadTrace, match="--traces DIR"):
        codec.save(TRACE, tmp_path / "file")


def test_a_trace_written_before_there_were_loops_is_still_read(tmp_path: Path) -> None:
    whole = msgspec.json.decode(codec.encode(TRACE))
    for name in ("loop", "fairness", "dead", "live", "notes"):
        del whole["trace"][name]
    (tmp_path / "old.trace").write_bytes(msgspec.json.encode(whole))
    assert codec.read(tmp_path / "old.trace") == TRACE


def test_notes_stay_in_the_file_in_the_order_of_their_steps(tmp_path: Path) -> None:
    noted = TRACE.with_note(1, "here").with_note(0, "first\ud800").with_note(1, "again")
    read = codec.read(codec.write(noted, tmp_path / "t.trace"))
    assert read.notes == ((0, "first\\ud800"), (1, "here"), (1, "again"))


def test_the_live_path_is_found_beside_the_trace(tmp_path: Path) -> None:
    trace = msgspec.structs.replace(TRACE, live="good.trace")
    path = codec.write(trace, tmp_path / "t.trace")
    assert codec.live_of(path, trace) is None
    live = codec.write(TRACE, tmp_path / "good.trace")
    assert codec.live_of(path, trace) == live


def changed(**more: object) -> bytes:
    """The file of the trace with some keys of its inner object replaced."""
    whole = msgspec.json.decode(codec.encode(TRACE))
    whole["trace"].update(more)
    return msgspec.json.encode(whole)


REFUSED = {
    "empty": (b"", "is not a presage trace"),
    "text": (b"hello", "is not a presage trace"),
    "bytes": (b"\xff\x00\x80", "is not a presage trace"),
    "another object": (b'{"a": 1}', "is not a presage trace"),
    "a list": (b"[1]", "is not a presage trace"),
    "another format": (b'{"format": "x", "version": 1}', "is not a presage trace"),
    "newer": (b'{"format": "presage-trace", "version": 3}', "version 3, .* a newer presage"),
    "older": (b'{"format": "presage-trace", "version": 1}', "version 1, .* an older presage"),
    "no trace": (b'{"format": "presage-trace", "version": 2}', "is damaged: .*`trace`"),
    "cut": (codec.encode(TRACE)[:-50], "is damaged: .*truncated"),
    "wrong type": (changed(initial="x"), r"is damaged: expected `int`.*trace.initial"),
    "no such step": (changed(step=2), "is damaged: step 2 is named, and there are 1"),
    "negative step": (changed(step=-1), "is damaged: step -1"),
    "numbered wrongly": (
        changed(steps=[msgspec.to_builtins(STEP) | {"index": 2}]),
        "is damaged: step 1 is numbered 2",
    ),
    "impossible choice": (
        changed(steps=[msgspec.to_builtins(STEP) | {"choices": [[3, 3]]}]),
        "is damaged: step 1 has a choice out of range",
    ),
    "a cause that is no step": (
        changed(steps=[msgspec.to_builtins(STEP) | {"follows": [1]}]),
        "is damaged: step 1 follows one that is not before it",
    ),
    "critical beyond the end": (changed(critical=2), "is damaged: step 2 is critical, and .* 1"),
    "a loop before the start": (changed(loop=0), "is damaged: the loop begins at step 0 of 1"),
    "a loop beyond the end": (changed(loop=2), "is damaged: the loop begins at step 2 of 1"),
    "a note beyond the end": (changed(notes=[[2, "x"]]), "is damaged: a note is at step 2"),
    "a live path elsewhere": (changed(live="../x.trace"), "is damaged: its live path `../x.trace`"),
    "nested too deep": (b"[" * 100_000, "is not a presage trace"),
}


@pytest.mark.parametrize(("content", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_a_trace_is_refused_by_name(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "t.trace"
    path.write_bytes(content)
    with pytest.raises(BadTrace, match=f"(?s)t.trace.*{message}.*way out: ") as refused:
        codec.read(path)
    assert refused.value.exit_status == 2


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTrace, match="no such file or directory"):
        codec.read(tmp_path / "none.trace")
    with pytest.raises(BadTrace, match="is a directory"):
        codec.read(tmp_path)
