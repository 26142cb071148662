"""SIGKILL at any moment, as often as one likes: the search goes on to the same result."""

import json
import random
import signal
import time
from pathlib import Path

import pytest
from whole.commands.harness import end, run, start, told, write
from whole.commands.relay import RELAY

KILLS = 5
FILE = Path("kept/search.checkpoint")
SAME = ("states", "faults", "properties", "exhausted", "stopped_by", "errors")


def facts(report):
    violations = [
        (found["property"], found["kind"], found["step"], found["steps"])
        for found in report["violations"]
    ]
    return {key: report[key] for key in SAME} | {"violations": sorted(violations)}


def file_number():
    """Another one after each checkpoint, since each is a new file."""
    return FILE.stat().st_ino if FILE.exists() else 0


def kill_somewhere(process, wanted, dice):
    """Kill `process` a moment after it has written `wanted` checkpoints."""
    last = file_number()
    while wanted and process.poll() is None:
        time.sleep(0.005)
        if file_number() != last:
            wanted, last = wanted - 1, file_number()
    time.sleep(dice.uniform(0, 0.3))
    process.kill()


def survive(arguments, seed):
    """Kill the search `KILLS` times, then let it end; gives its report."""
    dice = random.Random(seed)
    kept = ("--checkpoint", "kept", "--checkpoint-seconds", "0.02", "--resume", "--json")
    for number in range(KILLS):
        process = start("check", *arguments, *kept)
        kill_somewhere(process, 1 if number == 0 else dice.randrange(4), dice)
        ended = end(process)
        assert ended.returncode in (-signal.SIGKILL, 0, 1), ended.stderr
    ended = run("check", *arguments, *kept)
    report = told(ended, 1 if json.loads(ended.stdout)["violations"] else 0)
    assert report["resumed_from"] is not None
    return report


CASES = [
    pytest.param("1", 1, id="one thread", marks=pytest.mark.slow),
    pytest.param("2", 2, id="two threads"),
    pytest.param("1", 3, id="one thread again", marks=pytest.mark.slow),
    pytest.param("2", 4, id="two threads again", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("threads, seed", CASES)
def test_a_search_killed_five_times_ends_like_one_that_was_not(threads, seed):
    write(RELAY, "relay.py")
    arguments = ("relay.py", "--set", "most=4", "--keep-going", "--threads", threads)
    plain = told(run("check", *arguments, "--json"), 1)
    assert plain["properties"] == {"deaf": "violated", "heard_one": "reached"}
    assert all(plain["faults"].values())
    report = survive(arguments, seed)
    assert facts(report) == facts(plain)


@pytest.mark.slow
@pytest.mark.parametrize("threads, seed", CASES[1:])
def test_paxos_killed_five_times_has_its_published_count(threads, seed):
    arguments = ("paxos", "--set", "clients=3", "--threads", threads)
    report = survive(arguments, seed)
    assert report["states"] == {"unique": 1_194_428, "generated": 2_420_477, "depth": 28}
    assert report["exhausted"] and not report["violations"]
    assert report["properties"]["value_chosen"] == "reached"


# A handler may not look for files, so this one goes about it in a way that nobody forbids.
INTERRUPTED = RELAY.replace(
    "self.count += 1",
    """self.count += 1
            import posix, signal
            if self.count == self.most:
                try:
                    posix.stat("again")
                except FileNotFoundError:
                    signal.raise_signal(signal.SIGINT)""",
)


@pytest.mark.parametrize("threads", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_an_interrupted_search_goes_on_where_it_was(threads):
    write(INTERRUPTED, "relay.py")
    arguments = ("relay.py", "--set", "most=4", "--keep-going", "--threads", threads, "--json")
    kept = ("--checkpoint", "kept")
    first = told(run("check", *arguments, *kept), 1)
    assert first["stopped_by"] == "interrupt" and FILE.exists()
    Path("again").touch()
    plain = told(run("check", *arguments), 1)
    report = told(run("check", *arguments, *kept, "--resume"), 1)
    assert report["resumed_from"] == first["states"]["unique"] < plain["states"]["unique"]
    assert facts(report) == facts(plain)
