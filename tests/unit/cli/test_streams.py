"""What goes where: standard output, standard error, terminals, pipes and signals."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from unit.cli.command import COUNTER, PRESAGE, fails, on_terminal, run, signalled, write

import presage
from presage.trace import codec

ENDLESS = """
    from presage.systems.two_phase_commit import system as shipped

    def system(*, rms: int = 10):
        print("built")
        return shipped(rms=rms)
"""


def test_json_is_one_object_whatever_the_checked_code_prints() -> None:
    write(COUNTER)
    result = run("check", "counter.py", "--set", "nodes=2", "--json")
    assert result.returncode == 0
    assert result.stdout.count("\n") == 1
    told = json.loads(result.stdout)
    assert told["states"] == {"unique": 16, "generated": 25, "depth": 7}
    assert (told["target"], told["parameters"]) == ("counter.py", {"nodes": 2})
    assert (told["presage"], told["exhausted"]) == (presage.__version__, True)
    assert "counting" in result.stderr


@pytest.mark.parametrize("arguments", [["check", "counter"], ["check", "counter", "--json"]])
def test_rich_is_not_imported_when_nobody_watches(arguments: list[str]) -> None:
    program = (
        "import sys; from presage.cli import main; main(sys.argv[1:]);"
        "assert 'rich' not in sys.modules"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("search", ["bfs", "walk"])
def test_ctrl_c_ends_with_a_report_of_what_was_covered(search: str) -> None:
    write(ENDLESS)
    options = "--search", search, "--walks", "100000000", "--json"
    result = signalled(signal.SIGINT, "check", "counter.py:system", *options)
    assert (result.returncode, result.stderr) == (0, "")
    told = json.loads(result.stdout)
    assert (told["stopped_by"], told["exhausted"]) == ("interrupt", False)
    assert told["states"]["unique"] > 1


def test_ctrl_c_before_the_search_says_so() -> None:
    write("import time\nprint('importing')\ntime.sleep(60)\n")
    fails(signalled(signal.SIGINT, "check", "counter.py"), 130, "interrupted")


def test_a_killed_search_leaves_nothing_that_breaks_the_next() -> None:
    write(ENDLESS)
    assert signalled(signal.SIGKILL, "check", "counter.py:system").returncode == -9
    assert run("check", "counter").returncode == 1
    for path in Path(".presage/traces").iterdir():
        codec.read(path)


def test_a_reader_that_leaves_early_does_not_change_the_status() -> None:
    command = [*PRESAGE, "check", "counter"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_a_reader_that_leaves_a_session_early_does_not_change_the_status() -> None:
    assert run("check", "counter", "--traces", "kept").returncode == 1
    trace = next(Path("kept").glob("*.trace"))
    command = [*PRESAGE, "debug", str(trace), "--do", "help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_closed_and_narrow_outputs_are_no_reason_to_fail() -> None:
    script = f"{sys.executable} -P -m presage check counter"
    assert subprocess.run(["sh", "-c", f"{script} >&- 2>&-"], check=False).returncode == 1
    result = run("check", "counter", PYTHONIOENCODING="ascii")
    assert result.returncode == 1
    assert "x no_lost_increment" in result.stdout


def test_colour_is_for_terminals_unless_it_is_unwanted() -> None:
    status, text = on_terminal("check", "counter")
    assert status == 1
    assert "\x1b[1;31mviolation[safety]\x1b[0m" in text
    for arguments, environ in (
        (["--no-color"], {}),
        ([], {"NO_COLOR": "1"}),
        ([], {"TERM": "dumb"}),
    ):
        status, text = on_terminal("check", "counter", *arguments, **environ)
        assert status == 1
        assert "\x1b" not in text and "violation[safety]" in text


def test_progress_is_drawn_on_a_terminal_and_taken_away() -> None:
    status, text = on_terminal("check", "two_phase_commit", "--set", "rms=10", "--seconds", "1.5")
    assert status == 0
    assert "checking \x1b[1mtwo-phase commit\x1b[0m" in text or "two-phase commit" in text
    assert "seen before" in text
    assert "\x1b[?25h" in text  # the cursor is back
    assert "not covered: whatever" in text.rsplit("\x1b[?25h", 1)[1]
