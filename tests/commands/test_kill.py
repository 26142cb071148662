"""SIGKILL at any moment, as often as one likes: the search goes on to the same result."""

import json
import random
import signal
import time

import pytest
from commands.harness import end, run, start, told, write
from commands.relay import RELAY

KILLS = 5
SAME = ("states", "faults", "properties", "exhausted", "stopped_by", "errors")


def facts(report):
    violations = [
        (found["property"], found["kind"], found["step"], found["steps"])
        for found in report["violations"]
    ]
    return {key: report[key] for key in SAME} | {"violations": sorted(violations)}


def survive(arguments, seconds, seed):
    """Kill the search `KILLS` times, then let it end; its report and how often it went on."""
    dice = random.Random(seed)
    kept = ("--checkpoint", "kept", "--checkpoint-seconds", "0.02", "--resume", "--json")
    resumed = 0
    for _ in range(KILLS):
        process = start("check", *arguments, *kept)
        time.sleep(dice.uniform(0.2, seconds))
        process.kill()
        ended = end(process)
        if ended.returncode != -signal.SIGKILL:
            assert ended.returncode in (0, 1), ended.stderr
            resumed += json.loads(ended.stdout)["resumed_from"] is not None
    ended = run("check", *arguments, *kept)
    report = told(ended, 1 if json.loads(ended.stdout)["violations"] else 0)
    return report, resumed + (report["resumed_from"] is not None)


CASES = [
    pytest.param("1", 1, id="one thread"),
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
    report, resumed = survive(arguments, 1.6, seed)
    assert resumed >= 1
    assert facts(report) == facts(plain)


@pytest.mark.parametrize("threads, seed", CASES)
def test_paxos_killed_five_times_has_its_published_count(threads, seed):
    arguments = ("paxos", "--set", "clients=3", "--threads", threads)
    report, resumed = survive(arguments, 2.5, seed)
    assert resumed >= 1
    assert report["states"] == {"unique": 1_194_428, "generated": 2_420_477, "depth": 28}
    assert report["exhausted"] and not report["violations"]
    assert report["properties"]["value_chosen"] == "reached"


def test_an_interrupted_search_goes_on_where_it_was(tmp_path):
    kept = ("--checkpoint", "kept", "--json")
    process = start("check", "paxos", "--set", "clients=3", *kept)
    time.sleep(1.2)
    process.send_signal(signal.SIGINT)
    ended = end(process)
    if ended.returncode == 0:  # it had begun: Ctrl-C leaves a checkpoint of all that was done
        first = told(ended, 0)
        assert (tmp_path / "kept" / "search.checkpoint").exists()
    report = told(run("check", "paxos", "--set", "clients=3", *kept, "--resume"), 0)
    assert report["states"]["unique"] == 1_194_428
    if ended.returncode == 0:
        assert report["resumed_from"] == first["states"]["unique"]
