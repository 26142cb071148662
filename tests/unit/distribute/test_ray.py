"""Searches on Ray: the same on any number of workers, even if some die."""

import json
import os
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest
from unit.distribute.clusters import PRESAGE, of_session, one_ray, report, run, start

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def on_ray():
    with one_ray() as ask:
        yield ask


COUNTER = """
import os, signal, sys
from dataclasses import dataclass
from presage import Service, System, action, always

IN_WORKER = "default_worker.py" in " ".join(sys.orig_argv)
MARK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "died")
{before}

class Counter(Service):
    count: int = {count}

    @action
    def tick(self):
        self.count = (self.count + 1) % 5

@always
def small(world):
    return all(node.count < 9 for node in world.nodes)

def system() -> System:
    {at_load}
    return System({{"a": Counter(), "b": Counter(), "c": Counter()}}, properties=[small])
"""


SCHEDULER = """
from presage import Scheduler

class Mine(Scheduler):
    base = "rr"
"""

RING = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
comm.send(1, dest=1 - comm.rank)
comm.recv(source=1 - comm.rank)
"""


def target(folder, before="", count="0", at_load="pass"):
    text = COUNTER.format(before=before, count=count, at_load=at_load)
    (folder / "counter.py").write_text(text)
    return "counter.py:system"


def facts_of(found):
    keys = ("executions", "states", "handler_runs", "faults", "properties", "hunt", "stopped_by")
    facts = {key: found[key] for key in keys}
    if found["hunt"]:
        facts["hunt"] = {**found["hunt"], "locating_seconds": 0}
    return facts, [(each["property"], each["steps"], each["cause"]) for each in found["violations"]]


def wait_for_work(process):
    while not any("ray::work" in line for line in of_session(process.pid)):
        assert process.poll() is None
        time.sleep(0.1)


@pytest.mark.parametrize(
    "words",
    [
        ["check", "paxos", "--search", "walk", "--walks", "1500"],
        ["hunt", "randtree", "--walks", "1000"],
        ["check", "paxos", "--search", "tree"],
        ["check", "paxos", "--search", "walk", "--walks", "1500", "--set", "bug=last_promise"],
    ],
)
def test_one_two_and_five_workers_find_the_same(words, tmp_path, on_ray):
    found = {}
    for where in ("auto", "1", "2", "5"):
        how = {"cwd": tmp_path, "statuses": (0, 1), "run": on_ray}
        answer = report(*words, "--cluster", where, **how)
        traces = tmp_path / ".presage" / "traces"
        names = sorted(path.name for path in traces.glob("*")) if traces.exists() else []
        found[where] = facts_of(answer), names
    assert found["auto"] == found["1"] == found["2"] == found["5"]


def test_a_ray_that_runs_is_used_by_its_address_and_runs_on(tmp_path, on_ray):
    words = ["check", "two_phase_commit", "--search", "walk", "--walks", "500"]
    how = {"cwd": tmp_path, "run": on_ray}
    here = report(*words, "--cluster", "auto", **how)
    for _ in range(2):
        there = report(*words, "--cluster", "ADDRESS", **how)
        assert facts_of(there) == facts_of(here)
        assert "on Ray, 5 workers" in there["notes"]


def test_an_address_where_nobody_listens_is_said_to_have_no_ray(tmp_path):
    words = ["check", "two_phase_commit", "--search", "walk", "--cluster", "127.0.0.1:9"]
    status, _, complaint = run(PRESAGE, *words, cwd=tmp_path)
    assert status == 2
    assert "no Ray at `127.0.0.1:9`: [Errno 111] Connection refused" in complaint


def test_a_worker_that_is_killed_loses_nothing(tmp_path, on_ray):
    dies = "if IN_WORKER and not os.path.exists(MARK):\n"
    dies += "        open(MARK, 'w').close()\n        os.kill(os.getpid(), signal.SIGKILL)"
    words = ["--search", "walk", "--walks", "1000", "--depth", "20"]
    how = {"cwd": tmp_path, "run": on_ray}
    calm = report("check", target(tmp_path), *words, **how)
    found = report("check", target(tmp_path, at_load=dies), *words, "--cluster", "2", **how)
    assert (tmp_path / "died").exists()
    assert found["executions"] == 1000
    assert found["states"]["generated"] == calm["states"]["generated"]
    assert found["properties"] == {"small": "held"}
    assert found["stopped_by"] is None


def test_a_search_by_delays_whose_worker_is_killed_is_done_again(tmp_path, on_ray):
    dies = "if IN_WORKER and not os.path.exists(MARK):\n"
    dies += "        open(MARK, 'w').close()\n        os.kill(os.getpid(), signal.SIGKILL)"
    how = {"cwd": tmp_path, "run": on_ray}
    calm = report("check", target(tmp_path), "--search", "delay", "--scheduler", "rr", **how)
    name = target(tmp_path, at_load=dies)
    for workers in ("2", "1", "5"):
        words = ["--portfolio", "delay --scheduler rr", "--cluster", workers]
        found = report("check", name, *words, **how)
        assert (tmp_path / "died").exists()
        for key in ("states", "executions", "delay", "properties", "exhausted", "stopped_by"):
            assert found[key] == calm[key]


def test_what_kills_every_worker_is_lost_and_nothing_held(tmp_path, on_ray):
    dies = "if IN_WORKER: os.kill(os.getpid(), signal.SIGKILL)"
    words = ["--search", "walk", "--walks", "250", "--cluster", "2"]
    how = {"cwd": tmp_path, "statuses": (2,), "run": on_ray}
    found = report("check", target(tmp_path, at_load=dies), *words, **how)
    assert found["stopped_by"] == "lost"
    assert found["properties"] == {"small": "unknown"}
    assert any("executions 0 to 124 were not done" in note for note in found["notes"])


def test_other_code_on_a_worker_is_refused_with_both_files(tmp_path, on_ray):
    name = target(tmp_path, count="1 if IN_WORKER else 0")
    words = ["--search", "walk", "--cluster", "1"]
    status, _, complaint = on_ray(PRESAGE, "check", name, *words, cwd=tmp_path)
    assert status == 2
    assert "has loaded other code" in complaint
    assert complaint.count("counter.py") >= 2
    assert "Traceback" not in complaint


@pytest.mark.parametrize("words", [["--search", "walk"], ["--portfolio", "walk, walk --seed 1"]])
def test_an_interrupt_leaves_a_report_and_no_process(words, tmp_path):
    words = [*words, "--walks", "90000000", "--depth", "2000", "--cluster", "2"]
    process = start(PRESAGE, "check", target(tmp_path), *words, cwd=tmp_path)
    wait_for_work(process)
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)
    out, complaint = process.communicate(timeout=60)
    assert "interrupted" in out, complaint
    assert "held" not in out.splitlines()[0] or "so far" in out.splitlines()[0]
    ends = time.monotonic() + 20
    while of_session(process.pid) and time.monotonic() < ends:
        time.sleep(0.2)
    assert of_session(process.pid) == []


def test_a_driver_that_is_killed_takes_its_workers_along(tmp_path):
    words = ["--search", "walk", "--walks", "90000000", "--depth", "2000", "--cluster", "2"]
    process = start(PRESAGE, "check", target(tmp_path), *words, cwd=tmp_path)
    wait_for_work(process)
    process.kill()
    process.communicate(timeout=60)
    ends = time.monotonic() + 60
    while any("ray::work" in line for line in of_session(process.pid)):
        assert time.monotonic() < ends
        time.sleep(0.2)
    ends = time.monotonic() + 150  # Ray's own agents look for its head for a minute
    while of_session(process.pid) and time.monotonic() < ends:
        time.sleep(0.2)
    assert of_session(process.pid) == []


DIES = """
import threading, time

def die(kept):
    while len([name for name in os.listdir(kept) if name.endswith(".part")]) < 5:
        time.sleep(0.01)
    open(MARK, "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_done_when_the_driver_was_killed_is_not_done_again(tmp_path, on_ray):
    kept = tmp_path / "kept"
    kept.mkdir()
    dies = "if not IN_WORKER and not os.path.exists(MARK):\n"
    dies += f"        threading.Thread(target=die, args=({str(kept)!r},), daemon=True).start()"
    name = target(tmp_path, before=DIES, at_load=dies)
    words = ["--search", "walk", "--walks", "10000", "--depth", "20"]
    how = {"cwd": tmp_path, "run": on_ray}
    there = ["--checkpoint", kept, "--cluster"]
    status, _, complaint = on_ray(PRESAGE, "check", name, *words, *there, "ADDRESS", cwd=tmp_path)
    assert status == 137, complaint
    assert (tmp_path / "died").exists() and len(list(kept.glob("*.part"))) >= 5
    calm = report("check", name, *words, **how)
    found = report("check", name, *words, *there, "2", "--resume", **how)
    assert found["executions"] == calm["executions"] == 10_000
    assert found["states"]["generated"] == calm["states"]["generated"]
    assert (found["properties"], found["stopped_by"]) == ({"small": "held"}, None)
    assert not kept.exists()  # it is over


def test_the_commands_of_the_documentation_work(tmp_path, on_ray):
    page = Path(__file__).parents[3] / "docs" / "howto" / "any-number-of-machines.md"
    lines = [line[2:] for line in page.read_text().splitlines() if line.startswith("$ presage ")]
    commands = [shlex.split(line)[1:] for line in lines if "HOST" not in line]
    assert len(commands) >= 4
    for words in commands:
        status, out, complaint = on_ray(PRESAGE, *words, cwd=tmp_path)
        assert status == 0, complaint
        assert "held" in out and "Traceback" not in complaint


def test_the_catalogue_is_hunted_on_a_cluster(tmp_path, on_ray):
    script = Path(__file__).parents[3] / "benchmarks" / "catalogue.py"
    words = ["--systems", "randtree", "--bugs", "RT-init", "--seeds", "2", "--predict-seeds", "1"]
    words += ["--page", tmp_path / "page.md", "--data", tmp_path / "data.json"]
    status, _, complaint = on_ray(script, *words, "--cluster", "2", cwd=tmp_path)
    assert status == 0, complaint
    rows = json.loads((tmp_path / "data.json").read_text())["bugs"]
    (row,) = [row for row in rows if row["bug"] == "RT-init"]
    assert row["seeds"] == 2 and len(row["found"]) == 2


def test_two_workers_hunt_the_catalogue_and_find_what_one_finds(tmp_path, on_ray):
    script = Path(__file__).parents[3] / "benchmarks" / "workers.py"
    words = ["--systems", "randtree", "--bugs", "RT-init", "RT-m3", "--seeds", "2"]
    status, out, complaint = on_ray(script, *words, cwd=tmp_path)
    assert status == 0, complaint
    assert "4 hunts" in out and "found the same: yes" in out


def test_programs_of_processes_take_part_in_portfolios(tmp_path, on_ray):
    (tmp_path / "mine.py").write_text(SCHEDULER)
    (tmp_path / "ring.py").write_text(RING)
    words = ["--portfolio", "tree, delay --scheduler mine.py:Mine", "--cluster", "2"]
    for name in ("simgrid.philosophers", f"{tmp_path}/ring.py --mpi 2 --buffering zero"):
        how = {"cwd": tmp_path, "statuses": (0, 1), "run": on_ray}
        found = report("check", name, *words, **how)
        assert found["properties"]["no_deadlock"] == ("violated" if "ring" in name else "held")
        assert any("of `tree`, `delay --scheduler mine.py:Mine`" in note for note in found["notes"])


LISTENERS = """
import os
from pathlib import Path
from presage.distribute.ray import Ray, Where

pool = Ray(Where(workers=2))
found = set()
for name in ("tcp", "tcp6"):
    for line in Path("/proc/thread-self/net", name).read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A":
            found.add(words[1].rpartition(":")[0])
def niceness():
    return os.nice(0)

its = pool.result(pool.call(niceness))
pool.close()
print(pool.is_alone, its - niceness(), *sorted(found))
"""


def test_ray_listens_on_loopback_only_and_its_workers_are_not_put_behind(tmp_path):
    status, out, complaint = run(sys.executable, "-c", LISTENERS, cwd=tmp_path)
    assert status == 0, complaint
    alone, nicer, *found = out.split()
    assert (alone, nicer) == ("True", "0")
    assert found
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "0" * 24 + "01000000"}
    assert set(found) <= loopback
