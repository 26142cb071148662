"""`presage check --search cycles` as people type it."""

import json
from pathlib import Path

from whole.commands.harness import run, write

TICKS = """
class Ticks(Service):
    ticks: int = 0

    def start(self):
        self.arm("tick")

    @timer(periodic=True)
    def tick(self):
        self.ticks = (self.ticks + 1) % 3


@eventually
def much(world):
    return world["a"].ticks > 5


def system():
    return System({"a": Ticks()}, properties=[much])
"""


def test_a_loop_is_found_and_replays():
    write(TICKS, "ticks.py")
    args = ("check", "ticks.py:system", "--search", "cycles", "--fairness", "none")
    done = run(*args, "--algorithm", "map", "--scheduler", "rr", "--threads", "2")
    assert done.returncode == 1, done.stderr
    assert "repeats from step 1, fairness assumed: none" in done.stdout
    assert "cycles by map" in done.stdout
    [trace] = Path.cwd().glob(".presage/traces/much-*.trace")
    assert run("replay", str(trace)).returncode == 1
    told = json.loads(run(*args, "--json").stdout)
    assert told["cycles"]["algorithm"] == "scc" and told["delay"]["reached"] == 0
    assert [found["loop"] for found in told["violations"]] == [1]


def test_what_does_not_go_together_is_an_error_with_a_way_out():
    write(TICKS, "ticks.py")
    args = ("check", "ticks.py:system", "--search", "cycles")
    done = run(*args, "--algorithm", "indfs", "--fairness", "strong")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "`much` assumes strong fairness" in done.stderr and "--fairness weak" in done.stderr
    done = run("check", "ticks.py:system", "--fairness", "none")
    assert done.returncode == 2 and "is given for the search `bfs`" in done.stderr
