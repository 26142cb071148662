"""Real nodes that look ahead: what they tell, what they survive, and that nothing is left."""

import os
import random
import re
import signal
import time
import urllib.request
from pathlib import Path

import pytest
from whole.commands.harness import end, run
from whole.commands.living import (
    all_run,
    config,
    descendants,
    free_port,
    is_gone,
    status,
    stopped,
    until,
    up,
)

BUG = ("--set", "bug=CB-RT7")  # two steps ahead of every tree of three nodes
ACTED = ("installed", "handed_over", "filtered", "refused", "resets")
SOAK_SECONDS = 60


def steered(nodes=3, mode="on", every=0.4, more=""):
    """The arguments of `presage up` for a tree whose nodes look ahead often."""
    names = [f"n{at}" for at in range(nodes)]
    table = f'[steer]\nmode = "{mode}"\nevery = {every}\ndeadline = 0.5\n{more}'
    config("randtree", more=table, **{name: f"127.0.0.1:{free_port()}" for name in names})
    return "--config", "cluster.toml", "--set", f"nodes={nodes}"


def steering(name=None):
    """What is counted of looking ahead: of one node, or of all together."""
    nodes = [node for each, node in status().items() if name in (None, each)]
    counts = [node["steering"] for node in nodes if "steering" in node]
    return {key: sum(each[key] for each in counts) for each in counts[:1] for key in each}


def seen(key, more_than=0, name=None):
    return until(lambda: steering(name).get(key, 0) > more_than and steering(name), key)


def joined(name):
    return "'joined'" in run("status", name).stdout


def traces():
    return sorted(map(str, Path("data").glob("*/ahead/*.trace")))


def test_what_is_ahead_is_counted_said_and_saved_as_a_trace_that_opens():
    with up(*steered(), *BUG) as process:
        seen("predicted")
        path = until(traces, "a trace")[0]
        ended = stopped(process)
    assert ended.returncode == 0, ended.stderr
    assert re.search(
        r"n\d: `\w+` may break, \d+ steps ahead \(.*\): `presage replay ", ended.stderr
    )
    replayed = run("replay", path)
    assert replayed.returncode == 1 and "reproduced: " in replayed.stdout, replayed.stderr
    assert run("explain", path).returncode == 0
    assert run("report", path, "--out", "page.html").returncode == 0
    assert "root_has_no_siblings" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_five_nodes_with_the_options_of_a_command_line():
    with up(
        "randtree", "--set", "nodes=5", *BUG, "--steer", "on", "--for", "20", "--json"
    ) as process:
        assert seen("predicted")["rounds"] >= 1
        processes = descendants(process.pid)
        ended = end(process)
    assert ended.returncode == 0, ended.stderr
    until(lambda: all(map(is_gone, processes)), "the end of all processes")


@pytest.mark.slow
def test_watching_tells_and_changes_nothing():
    with up(*steered(mode="watch"), *BUG) as process:
        counts = seen("predicted", 5)
        assert {key: counts[key] for key in ACTED} == dict.fromkeys(ACTED, 0)
        assert all(node["refused"] == 0 for node in status().values())
        ended = stopped(process)
    assert "(watched)" in ended.stderr


@pytest.mark.slow
def test_a_node_is_killed_and_comes_back_from_its_disk_and_looks_ahead_again():
    with up(*steered(5), *BUG) as process:
        until(lambda: all_run(5), "all nodes")
        until(lambda: joined("n3"), "n3 in the tree")
        node = status()["n3"]["pid"]
        own = descendants(node)
        assert len(own) == 2  # the keeper, and the worker
        os.kill(node, signal.SIGKILL)
        until(lambda: all(map(is_gone, [node, *own])), "the end of the node and its oracle")
        until(lambda: not status()["n3"]["running"], "n3 down")
        assert run("start", "n3").returncode == 0
        until(lambda: joined("n3"), "n3 in the tree again")
        assert status()["n3"]["life"] == 2
        seen("rounds", name="n3")
        assert stopped(process).returncode == 0


@pytest.mark.slow
def test_the_death_of_an_oracle_costs_predictions_only():
    with up(*steered(), *BUG) as process:
        before = seen("predicted", name="n1")["predicted"]
        node = status()["n1"]["pid"]
        keeper, worker = descendants(node)
        os.kill(worker, signal.SIGKILL)
        seen("predicted", before, name="n1")
        again = until(lambda: descendants(node)[1:], "another worker")
        os.kill(keeper, signal.SIGKILL)
        until(lambda: all(map(is_gone, [keeper, *again])), "the end of the oracle")
        seen("unanswered", steering("n1")["unanswered"], name="n1")
        steps = status()["n1"]["steps"]
        assert run("kill", "n2").returncode == 0  # which n1 hears of
        until(lambda: status()["n1"]["steps"] > steps, "a step of n1")
        assert status()["n1"]["pid"] == node
        ended = stopped(process)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("n1: warning: the process that looks ahead has ended") == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_every_end_of_the_command_ends_nodes_and_oracles(number):
    with up(*steered(5), *BUG) as process:
        seen("predicted")
        processes = descendants(process.pid)
        assert len(processes) >= 2 + 3 * 5
        process.send_signal(number)
        end(process)
        until(lambda: all(map(is_gone, processes)), "the end of all processes")


# -- a minute of kills ---------------------------------------------------------------------------


def held(pid):
    """Resident KiB, and open files, of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]), len(os.listdir(f"/proc/{pid}/fd"))


@pytest.mark.slow
def test_twenty_five_steered_nodes_survive_a_minute_of_kills():
    dice, others = random.Random(1), [f"n{at:02}" for at in range(1, 25)]
    names = ["n00", *others]
    with up(
        "randtree", "--set", "nodes=25", "--set", "degree=5", "--steer", "on", "--page"
    ) as process:
        page = next(line for line in process.stderr if line.startswith("page: "))
        until(lambda: all_run(25), "all nodes")
        until(lambda: all(map(joined, names)), "all nodes in the tree")
        kept = [status()["n00"]["pid"], descendants(process.pid)[0]]  # a node, and the command
        before = [held(pid) for pid in kept]
        count = len(descendants(process.pid))
        last = time.monotonic() + SOAK_SECONDS
        while time.monotonic() < last:
            name = dice.choice(others)
            assert run("kill", name).returncode == 0
            urllib.request.urlopen(page.split()[1]).read()
            assert run("start", name).returncode == 0
        until(lambda: all(map(joined, names)), "all nodes in the tree again")
        assert len(descendants(process.pid)) == count
        for (memory, files), (more, opened) in zip(before, map(held, kept), strict=True):
            assert more < 1.5 * memory
            assert opened < files + 2 * len(names)  # at most: a connection or two per peer
        ended = stopped(process)
    assert ended.returncode == 0, ended.stderr
