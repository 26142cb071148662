"""A trace is data: what it names runs only if it may, from whatever folder."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from whole.commands.harness import Ended, refused, run, told, write

COMMANDS = ("replay", "explain", "report", "debug")
VOTE = """
    from pathlib import Path

    class Node(Service):
        votes: int = 0

        @action(when=lambda self: self.votes < 2)
        def vote(self) -> None:
            self.votes += 1

    @always
    def few(world):
        return world.nodes[0].votes < 2

    def system(*, nodes: int = 1) -> System:
        Path("ran").touch()  # of which a test can tell that this code ran
        return System(nodes={f"n{i}": Node() for i in range(nodes)}, properties=[few])
"""


def checked(target: str = "bad.py", *options: str) -> Path:
    report = told(run("check", target, "--json", *options), 1)
    Path("ran").unlink(missing_ok=True)
    return Path(report["violations"][0]["trace"]).resolve()


def forged(trace: Path, **changes: Any) -> Path:
    content = json.loads(trace.read_bytes())
    content["trace"].update(changes)
    path = Path("forged.trace").resolve()
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def use(command: str, trace: Path, *options: str) -> Ended:
    steps = ("--do", "list") if command == "debug" else ()
    return run(command, str(trace), *steps, *options)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_trace_that_names_a_shell_runs_nothing(command: str) -> None:
    order = "touch ran"
    path = forged(checked("counter"), target="os:system", parameters={"command": order})
    said = "names the system `os:system` with command='touch ran', which is not run"
    refused(use(command, path), 2, said, f"presage {command} ", "--trust", "--target TARGET")
    # Not even whoever trusts it runs what is no system.
    refused(use(command, path, "--trust"), 2, "`os:system` is not said to return a `System`")
    refused(use(command, path, "--target", "os:system"), 2, "is not said to return a `System`")
    assert not Path("ran").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_code_of_a_trace_from_elsewhere_runs_only_if_the_user_says_so(command: str) -> None:
    write(VOTE)
    trace = checked()
    found = 1 if command == "replay" else 0
    assert use(command, trace).returncode == found
    Path("ran").unlink()
    stranger = {"XDG_STATE_HOME": str(Path("other").resolve())}
    ended = run(command, str(trace), **stranger)
    refused(ended, 2, "names the system `bad.py`, which is not run", "not made by you")
    refused(use(command, forged(trace, message="edited")), 2, "edited since")
    assert not Path("ran").exists()
    for said in (("--trust",), ("--target", "bad.py")):
        assert use(command, forged(trace), *said).returncode == found
        assert Path("ran").exists()
        Path("ran").unlink()


def test_a_shipped_system_needs_no_signature() -> None:
    path = forged(checked("counter"), message="edited")
    assert run("replay", str(path)).returncode == 1
    wrong = forged(path, parameters={"no_such": 1})
    refused(run("replay", str(wrong)), 2, "has no parameter `no_such`")


def test_parameters_are_checked_against_what_the_system_takes() -> None:
    write(VOTE)
    trace = forged(checked(), parameters={"nodes": "many"})
    refused(run("replay", str(trace), "--trust"), 2, "nodes is a whole number, not 'many'")
    refused(run("replay", str(trace), "--target", "bad.py"), 2, "nodes is a whole number")


def test_a_trace_replays_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("package").mkdir()
    Path("package/__init__.py").touch()
    write(VOTE, "package/votes.py")
    traces = [checked("package/votes.py"), checked("package.votes:system")]
    Path("copies").mkdir()
    traces += [Path(shutil.copy(trace, "copies")).resolve() for trace in traces]
    for folder in ("package", "copies", "/"):
        monkeypatch.chdir(tmp_path / folder)
        for trace in traces:
            ended = run("replay", str(trace))
            assert ended.returncode == 1, ended.stderr
    monkeypatch.chdir(tmp_path / "copies")
    assert run("report", str(traces[0]), "--out", "page.html").returncode == 0
    saved = run("debug", str(traces[0]), "--do", "save trace kept.trace")
    assert saved.returncode == 0, saved.stderr
    assert run("replay", "kept.trace").returncode == 1


def test_a_script_replays_from_any_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "from mpi4py import MPI\nMPI.COMM_WORLD.recv(source=0)\n"
    Path("stuck.py").write_text(text, encoding="utf-8")
    report = told(run("check", "stuck.py", "--mpi", "1", "--json"), 1)
    trace = Path(report["violations"][0]["trace"]).resolve()
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert run("replay", str(trace)).returncode == 1
    assert run("explain", str(trace)).returncode == 0


def test_a_signed_trace_beside_other_code_does_not_run_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "theirs"):
        Path(name).mkdir()
    monkeypatch.chdir("mine")
    write(VOTE)
    trace = checked()
    monkeypatch.chdir(tmp_path / "theirs")
    write(VOTE.replace('"ran"', '"stolen"'))
    copy = shutil.copy(trace, "copy.trace")
    assert run("replay", copy).returncode == 1
    assert not Path("stolen").exists()
    Path("../mine/bad.py").unlink()
    refused(run("replay", copy), 2, "it was made in `", "is no longer there", "--trust")
    assert not Path("stolen").exists()
    assert run("replay", copy, "--trust").returncode == 1
    assert Path("stolen").exists()


def test_without_a_place_for_the_key_traces_are_saved_unsigned_and_it_is_noted() -> None:
    write(VOTE)
    Path("file").touch()
    nowhere = {"XDG_STATE_HOME": str(Path("file").resolve())}
    report = told(run("check", "bad.py", "--json", **nowhere), 1)
    assert any("traces are saved unsigned" in note for note in report["notes"])
    trace = report["violations"][0]["trace"]
    refused(run("replay", trace, **nowhere), 2, "which is not run")
    assert run("replay", trace, "--trust", **nowhere).returncode == 1
    shipped = told(run("check", "counter", "--json", **nowhere), 1)
    assert not any("unsigned" in note for note in shipped["notes"])


def test_what_a_session_saves_names_what_ran() -> None:
    write(VOTE)
    stranger = forged(checked(), target="os:system")
    saved = run("debug", str(stranger), "--target", "bad.py", "--do", "save trace kept.trace")
    assert saved.returncode == 0, saved.stderr
    assert json.loads(Path("kept.trace").read_bytes())["trace"]["target"] == "bad.py"
    assert run("replay", "kept.trace").returncode == 1


def test_a_regression_test_names_its_system_and_runs_on_every_machine() -> None:
    write(VOTE)
    trace = checked()
    Path("tests").mkdir()
    assert run("report", str(trace), "--pytest", "tests/test_it.py").returncode == 0
    text = Path("tests/test_it.py").read_text(encoding="utf-8")
    assert "TARGET = str(HERE / '../bad.py') + ''" in text
    space: dict[str, Any] = {"__file__": str(Path("tests/test_it.py").resolve())}
    exec(text, space)
    with pytest.raises(AssertionError):
        space["test_few_is_not_broken"]()


def test_an_error_obeys_no_terminal_codes_of_a_file() -> None:
    path = forged(checked("counter"), target="\x1b]0;owned\x07:x")
    ended = run("replay", str(path))
    refused(ended, 2, "\\x1b]0;owned\\x07:x")
    assert "\x1b" not in ended.stderr
