"""Ctrl-C and its like at random times: a report of what was done, or a line that there is none."""

import json
import random
import re
import signal
import sys
import time
from pathlib import Path

import pytest
from whole.commands.harness import end, start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc who blocks signals")

QUICK, MANY, BATCH = 6, 104, 13
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SEARCHES = [
    ["paxos", "--set=clients=2"],
    ["paxos", "--set=clients=2", "--threads", "2"],
    ["abd", "--search", "dfs"],
    ["two_phase_commit", "--set=rms=5"],
    ["paxos", "--search", "walk", "--walks", "100000"],
    ["two_phase_commit", "--set=rms=4", "--checkpoint=kept-{seed}", "--checkpoint-seconds=0.05"],
    ["simgrid.philosophers", "--keep-going"],
]
UNIQUE = {"clients=2": 16_668, "rms=5": 8_832, "rms=4": 1_568}  # of what ends in time
NEVER = ("Traceback", "presage itself failed", "panicked")
INTERRUPTED = 130
NOTHING_JUDGED = 2  # no execution was followed to its end


def begun(process):
    """Wait until presage looks after signals: those that come to Python before are Python's."""
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        [blocked] = re.findall(r"^SigBlk:\s*(\w+)$", status.read_text(), re.MULTILINE)
        if int(blocked, 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.01)


def interrupt(seed):
    """Interrupt a search after a random time; it ends with one of the promised statuses."""
    dice = random.Random(seed)
    number, words = dice.choice(SIGNALS), [*dice.choice(SEARCHES), "--json"]
    words = [word.format(seed=seed) for word in words]  # each has a checkpoint of its own
    process = start("check", *words)
    begun(process)
    time.sleep(dice.choice((dice.uniform(0, 0.6), dice.uniform(0.3, 2.5))))
    process.send_signal(number)
    ended = end(process)
    said = f"seed {seed}: {words}\nstatus {ended.returncode}\n{ended.stdout}{ended.stderr}"
    assert not any(text in ended.stdout + ended.stderr for text in NEVER), said
    if ended.returncode == INTERRUPTED:
        assert ended.stdout == "" and ended.stderr.startswith("error: interrupted"), said
        return
    if ended.returncode == NOTHING_JUDGED:
        assert json.loads(ended.stdout)["traces"] == 0, said
        return
    assert ended.returncode in (0, 1), said
    judge(json.loads(ended.stdout), words, ended.returncode, said)


def judge(report, words, status, said):
    """Whether a report says of itself what is true."""
    assert (status == 1) == bool(report["violations"]), said
    if report["exhausted"]:
        assert report["stopped_by"] is None, said
        known = [unique for setting, unique in UNIQUE.items() if f"--set={setting}" in words]
        assert [report["states"]["unique"]] == known or not known, said
    else:
        ended = report["search"] == "walk" and report["executions"] == 100_000
        assert report["stopped_by"] in ("interrupt", "violation") or ended, said


@pytest.mark.parametrize("seed", range(QUICK))
def test_an_interrupted_search_tells_what_it_did(seed):
    interrupt(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 1_000 + MANY, BATCH))
def test_many_searches_are_interrupted_at_random_times(first):
    for seed in range(first, first + BATCH):
        interrupt(seed)
