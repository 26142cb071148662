"""Ten million states over three workers: the totals of one process, even if an owner is killed."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from unit.distribute.clusters import PRESAGE, of_session, report, start

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

STATES = {"unique": 10_340_352, "generated": 123_558_402, "depth": 29}
WORDS = ["check", "two_phase_commit", "--set", "rms=9"]


def owners(session):
    """The processes that hold shares of the states."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            name = (stat.parent / "cmdline").read_text()
        except OSError:
            continue
        if int(fields[3]) == session and "ray::ShardWorker" in name:
            found.append(int(stat.parent.name))
    return found


def busy(owner):
    """The seconds of the processor that an owner has spent; Python's own start takes one or two."""
    fields = Path(f"/proc/{owner}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_three_owners_have_the_totals_of_one_process(tmp_path):
    alone = report(*WORDS, cwd=tmp_path)
    assert alone["states"] == STATES
    found = report(*WORDS, "--cluster", "3", cwd=tmp_path)
    assert found["states"] == STATES
    assert found["exhausted"] and found["properties"] == alone["properties"]


@pytest.mark.parametrize("seconds", ["5", "10000"])
def test_an_owner_that_is_killed_changes_no_total(tmp_path, seconds):
    words = [*WORDS, "--cluster", "3", "--checkpoint-seconds", seconds, "--json"]
    process = start(PRESAGE, *words, cwd=tmp_path)
    while len(owners(process.pid)) < 3:
        assert process.poll() is None
        time.sleep(0.2)
    victim = owners(process.pid)[1]
    while busy(victim) < 4:  # of about nine
        assert process.poll() is None
        time.sleep(0.1)
    os.kill(victim, signal.SIGKILL)
    out, complaint = process.communicate(timeout=1500)
    assert process.returncode == 0, complaint
    found = json.loads(out)
    assert any("a worker was lost" in note for note in found["notes"])
    assert any("went back to" in note for note in found["notes"])
    assert found["states"] == STATES
    assert found["exhausted"]
    assert of_session(process.pid) == []
