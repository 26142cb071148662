"""Limits: each ends a search with a report that says what was covered and what was not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from whole.commands.harness import end, run, start, told, worker, write

from presage.trace import codec

LARGE = ["check", "two_phase_commit", "--set", "rms=9", "--json"]  # ten million states


def assert_covered(report: dict, stopped_by: str) -> None:
    assert (report["stopped_by"], report["exhausted"]) == (stopped_by, False)
    states = report["states"]
    assert 1 < states["unique"] <= states["generated"]
    assert 1 < states["depth"] <= states["unique"]
    assert report["violations"] == report["errors"] == []
    assert set(report["properties"].values()) <= {"held", "reached", "unreached"}


def test_a_limit_of_depth_leaves_out_what_lies_deeper() -> None:
    found = {}
    for search in ("bfs", "dfs"):
        arguments = ["check", "paxos", "--depth", "8", "--search", search, "--json"]
        report = told(run(*arguments), 0)
        assert_covered(report, "depth")
        assert report["states"]["depth"] == 8
        found[search] = report["states"]["unique"]
    # Whatever the order of the search, the states within the limit are the same.
    assert found["bfs"] == found["dfs"]


def test_a_limit_of_states_ends_soon_after_it_is_reached() -> None:
    for search in ("bfs", "dfs"):
        report = told(run(*LARGE, "--states", "5000", "--search", search), 0)
        assert_covered(report, "states")
        assert 5000 <= report["states"]["unique"] < 10_000


def test_a_limit_of_seconds_ends_the_search() -> None:
    larger = ["check", "two_phase_commit", "--set", "rms=12", "--json"]
    report = told(run(*larger, "--seconds", "2"), 0)
    assert_covered(report, "seconds")
    assert report["seconds"] <= 2.5  # of the whole command, loading included


def test_a_limit_of_memory_ends_the_search() -> None:
    report = told(run(*LARGE, "--memory", "100"), 0)
    assert_covered(report, "memory")
    assert report["peak_mib"] <= 115


def test_a_limit_of_memory_holds_also_for_what_goes_on_in_files() -> None:
    report = told(run(*LARGE, "--states", "400000", "--memory", "56", "--spill", "spilled"), 0)
    assert_covered(report, "states")
    assert report["peak_mib"] <= 1.15 * 56


def test_a_limit_of_memory_below_what_the_process_starts_with_is_refused() -> None:
    result = run("check", "paxos", "--memory", "5")
    assert result.returncode == 2
    assert "error: `memory` is 5 MiB, and the process holds" in result.stderr
    assert "way out: give at least " in result.stderr


def test_a_limit_of_walks_is_the_number_of_executions() -> None:
    report = told(
        run("check", "paxos", "--search", "walk", "--walks", "50", "--depth", "9", "--json"), 0
    )
    assert (report["executions"], report["exhausted"], report["stopped_by"]) == (50, False, None)
    assert report["states"]["depth"] == 9


@pytest.mark.parametrize("search", ["walk", "hunt"])
def test_walks_without_a_number_go_on_until_their_time_ends(search: str) -> None:
    options = ["--search", search, "--seconds", "2", "--json"]
    report = told(run("check", "ping_pong", *options), 0)
    assert (report["stopped_by"], report["exhausted"]) == ("seconds", False)
    assert report["executions"] > 0


def test_a_violation_within_the_limits_is_still_a_violation() -> None:
    arguments = ["check", "paxos", "--set", "bug=last_promise", "--json"]
    report = told(run(*arguments, "--depth", "11"), 1)
    assert (report["stopped_by"], report["violations"][0]["steps"]) == ("violation", 10)
    report = told(run(*arguments, "--depth", "10"), 0)
    assert_covered(report, "depth")


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    limits = ["--depth", "99", "--states", "999999", "--seconds", "99", "--memory", "9999"]
    report = told(run("check", "single_copy", *limits, "--json"), 0)
    assert (report["exhausted"], report["stopped_by"]) == (True, None)
    assert report["states"] == {"unique": 93, "generated": 121, "depth": 9}


def test_what_was_not_covered_is_said_to_people_too() -> None:
    shown = run("check", "paxos", "--depth", "8").stdout
    assert shown.startswith("held so far: 2 properties, to depth 8")
    assert "not covered: whatever lies beyond depth 8" in shown
    assert "exhaustively" not in shown


# Ctrl-C that comes at a moment the test decides on, whatever the machine is busy with.
INTERRUPTING = """
    import functools, signal

    @functools.cache  # one signal only: steps run more than once, and a second is another matter
    def interrupt() -> None:
        signal.raise_signal(signal.SIGINT)

    class Node(Service):
        n: int = 0
        m: int = 0
        @action(when=lambda self: self.n < MOST)
        def go(self) -> None:
            self.n += 1
            if self.n == 30:
                interrupt()
        @action
        def turn(self) -> None:
            self.m = (self.m + 1) % TURNS

    @always
    def small(world):
        return world["n0"].n >= 0

    def system() -> System:
        return System(nodes={"n0": Node()}, properties=[small])
"""


@pytest.mark.parametrize("search", ["bfs", "dfs", "walk"])
def test_ctrl_c_in_a_search_ends_with_a_report_of_what_was_covered(search: str) -> None:
    write(INTERRUPTING.replace("MOST", "2000").replace("TURNS", "2000"))
    options = ["--search", search, "--walks", "1000000", "--depth", "5000", "--threads", "2"]
    result = run("check", "bad.py", "--json", *options)
    report = told(result, 0)
    assert_covered(report, "interrupt")
    assert report["states"]["unique"] >= 30
    assert result.stderr == ""


SECOND_PASS = """
    import signal

    class Node(Service):
        n: int = 0
        @action
        def turn(self) -> None:
            self.n = (self.n + 1) % 40

    @eventually
    def back(world):  # nothing is at rest here, so only the second pass asks
        if world["n0"].n == 20:
            signal.raise_signal(signal.SIGINT)
        return world["n0"].n == 0

    @always
    def small(world):
        return world["n0"].n < 40

    def system() -> System:
        return System(nodes={"n0": Node()}, properties=[back, small])
"""


def test_ctrl_c_in_the_second_pass_leaves_its_property_unknown() -> None:
    write(SECOND_PASS)
    report = told(run("check", "bad.py", "--json"), 0)
    assert (report["exhausted"], report["stopped_by"]) == (False, "interrupt")
    assert report["properties"] == {"back": "unknown", "small": "held"}
    shown = run("check", "bad.py").stdout
    assert shown.startswith("held so far: 1 property, to depth 40, 1 property unknown")
    assert "? back unknown" in shown
    assert "not covered: whatever was left when it was interrupted" in shown


def test_ctrl_c_in_the_last_step_of_a_search_does_not_lose_the_report() -> None:
    write(INTERRUPTING.replace("MOST", "30").replace("TURNS", "1"))
    report = told(run("check", "bad.py", "--json"), 0)
    assert report["states"] == {"unique": 31, "generated": 62, "depth": 31}
    assert (report["exhausted"], report["stopped_by"]) in ((True, None), (False, "interrupt"))


def test_ctrl_c_from_outside_ends_with_a_report_of_what_was_covered() -> None:
    process = start(*LARGE, "--traces", "kept")
    wait_until_under_way(process)
    process.send_signal(signal.SIGINT)
    result = end(process)
    assert_covered(told(result, 0), "interrupt")
    assert result.stderr == ""


def wait_until_under_way(process: subprocess.Popen[str]) -> None:
    """Wait until `process` holds more memory than anything but a search would take."""
    page_mib = os.sysconf("SC_PAGE_SIZE") / 2**20
    while process.poll() is None:
        if pid := worker(process):
            pages = Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1:2] or [0]
            if int(pages[0]) * page_mib > 45:
                return
        time.sleep(0.02)


SHRINKING = """
    import signal, threading

    OWN = threading.local()

    class Node(Service):
        n: int = 0
        m: int = 0
        @action
        def go(self) -> None:
            self.n += 1
        @action
        def turn(self) -> None:
            self.m = (self.m + 1) % 7

    @always
    def small(world):
        OWN.calls = getattr(OWN, "calls", 0) + 1
        if OWN.calls == 600:  # long after the search itself: that asks once for every n
            signal.raise_signal(signal.SIGINT)
        return world["n0"].n < 40

    def system() -> System:
        return System(nodes={"n0": Node()}, properties=[small])
"""


def test_ctrl_c_while_a_violation_is_made_shorter_does_not_lose_it() -> None:
    write(SHRINKING)
    report = told(run("check", "bad.py", "--search", "walk", "--json"), 1)
    [violation] = report["violations"]
    assert violation["property"] == "small"
    assert told(run("replay", violation["trace"], "--json"), 1)["reproduced"]


def test_a_search_killed_in_its_middle_leaves_nothing_that_breaks_the_next() -> None:
    process = start(*LARGE)
    wait_until_under_way(process)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    report = told(run("check", "counter", "--json"), 1)
    assert told(run("replay", report["violations"][0]["trace"], "--json"), 1)["reproduced"]


KILLED = """
import os, signal
from pathlib import Path
from presage.cli import main

def die(path, *_, **__):
    if path.is_file():
        os.truncate(path, 50)  # as if it had been killed in the middle of writing
    os.kill(os.getpid(), signal.SIGKILL)

{moment} = die
main(["check", "counter"])
"""


@pytest.mark.parametrize("moment", ["Path.mkdir", "Path.replace"])
def test_a_process_killed_while_it_saves_a_trace_leaves_no_half_a_trace(moment: str) -> None:
    program = KILLED.replace("{moment}", moment)
    killed = subprocess.run([sys.executable, "-P", "-c", program], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert list(Path().rglob("*.trace")) == []
    [violation] = told(run("check", "counter", "--json"), 1)["violations"]
    assert told(run("replay", violation["trace"], "--json"), 1)["reproduced"]
    traces = [codec.read(path) for path in Path().rglob("*.trace")]  # one is the nearest good run
    assert {trace.prop for trace in traces} == {"no_lost_increment"}
    assert sorted(trace.kind for trace in traces) == ["live", "safety"]
