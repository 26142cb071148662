"""Ten million states over three workers: the totals of one process, even if owners are killed."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from unit.distribute.clusters import PRESAGE, of_session, start

from presage.distribute.levels import LEVEL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

WORDS = ["check", "two_phase_commit", "--set", "rms=9"]
# What one process counts, by the same command without `--cluster`.
STATES = {"unique": 10_340_352, "generated": 123_558_402, "depth": 29}


def owners(session):
    """The processes that hold shares of the states."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            name = (stat.parent / "cmdline").read_text()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z" and "ray::ShardWorker" in name:
            found.append(int(stat.parent.name))
    return found


def busy(owner):
    """The seconds of the processor that an owner has spent."""
    fields = Path(f"/proc/{owner}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(process, come):
    """What `come` gives, once it gives something."""
    while not (found := come()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    return found


def three_owners(process):
    found = owners(process.pid)
    return found if len(found) == 3 else None


def test_three_owners_of_which_two_die_have_the_totals_of_one_process(tmp_path):
    kept = tmp_path / "kept"
    words = [*WORDS, "--cluster", "3", "--checkpoint", kept, "--checkpoint-seconds", "4", "--json"]
    process = start(PRESAGE, *words, cwd=tmp_path)
    # One before any level was written down.
    os.kill(wait_for(process, lambda: three_owners(process))[1], signal.SIGKILL)
    # Another in the middle of its work, of which it has some seconds in all.
    wait_for(process, (kept / LEVEL).exists)
    victim = wait_for(process, lambda: three_owners(process))[2]
    begun = busy(victim)
    wait_for(process, lambda: busy(victim) > begun + 1.5)
    os.kill(victim, signal.SIGKILL)
    out, complaint = process.communicate(timeout=1500)
    assert process.returncode == 0, complaint
    assert of_session(process.pid) == []
    found = json.loads(out)
    lost = [note for note in found["notes"] if "a worker was lost" in note]
    assert len(lost) == 2, found["notes"]
    assert "went back to the beginning" in lost[0] and "went back to depth" in lost[1]
    assert found["states"] == STATES
    assert found["exhausted"] and set(found["properties"].values()) == {"held", "reached"}
    assert not kept.exists()  # it is over
