"""`presage check --search delay` as people type it."""

from pathlib import Path

from whole.commands.harness import run, write

MINE = """
class Last(Scheduler):
    def rank(self, task):
        return 9 if task.node == "tm" else 0


class Needs(Scheduler):
    def __init__(self, node):
        self.node = node
"""


def test_a_scheduler_is_named_on_the_command_line():
    write(MINE, "mine.py")
    args = ("check", "two_phase_commit", "--set", "rms=3", "--search", "delay")
    done = run(*args, "--scheduler", "mine.py:Last")
    assert done.returncode == 0 and "288 states" in done.stdout
    assert "scheduler Last" in done.stdout
    done = run(*args, "--scheduler", "mine:Last", "--delays", "2")
    assert done.returncode == 0 and done.stdout.startswith("held so far: ")


def test_one_that_there_is_not_is_an_error_with_a_way_out():
    write(MINE, "mine.py")
    for named, said in {
        "rrr": "there is no scheduler `rrr`; did you mean `rr`?",
        "mine.py:Lost": "is no scheduler; did you mean `Last`?",
        "mine.py:Needs": "needs arguments",
        "other.py:Last": "is not a file",
    }.items():
        done = run("check", "counter", "--search", "delay", "--scheduler", named)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_bug_is_found_and_its_trace_replays():
    bug = ("paxos", "--set", "clients=2", "--set", "bug=last_promise")
    done = run("check", *bug, "--search", "delay")
    assert done.returncode == 1
    [trace] = [*Path.cwd().glob(".presage/traces/one_value-*.trace")][:1]
    assert run("replay", str(trace)).returncode in (0, 1)
