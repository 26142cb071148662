"""Ten million states over three workers: the totals of one process, even if an owner is killed."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from unit.distribute.clusters import PRESAGE, of_session, report, start

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

WORDS = ["check", "two_phase_commit", "--set"]


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


def killed(folder, size, seconds, spent):
    """The report of a search of which one owner is killed when it has spent so much."""
    words = [*WORDS, size, "--cluster", "3", "--checkpoint-seconds", seconds, "--json"]
    process = start(PRESAGE, *words, cwd=folder)
    while len(owners(process.pid)) < 3:
        assert process.poll() is None
        time.sleep(0.2)
    victim = owners(process.pid)[1]
    while busy(victim) < spent:
        assert process.poll() is None
        time.sleep(0.1)
    os.kill(victim, signal.SIGKILL)
    out, complaint = process.communicate(timeout=1500)
    assert process.returncode == 0, complaint
    assert of_session(process.pid) == []
    found = json.loads(out)
    assert any("a worker was lost" in note for note in found["notes"])
    return found


def test_three_owners_of_which_one_dies_have_the_totals_of_one_process(tmp_path):
    alone = report(*WORDS, "rms=9", cwd=tmp_path)
    assert alone["states"] == {"unique": 10_340_352, "generated": 123_558_402, "depth": 29}
    found = killed(tmp_path, "rms=9", "5", spent=4)  # of about nine
    assert any("went back to depth" in note for note in found["notes"])
    assert found["states"] == alone["states"]
    assert found["exhausted"] and found["properties"] == alone["properties"]


def test_where_no_level_was_written_down_all_is_done_again(tmp_path):
    found = killed(tmp_path, "rms=8", "10000", spent=1.2)  # of about two
    assert any("went back to the beginning" in note for note in found["notes"])
    assert found["states"]["unique"] == 1_745_408
    assert found["exhausted"]
