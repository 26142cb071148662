"""Systems that run as real processes: begun in the background, asked, ended; nothing is left."""

import json
import os
import signal
import time
from contextlib import contextmanager
from pathlib import Path

from whole.commands.harness import end, run, start

from presage.cli.target.load import load
from presage.runtime.up import local_cluster

PATIENCE = 30  # seconds; only a guard against a hang


def until(holds, what="it"):
    """Wait until something is so; what it was."""
    last = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < last, f"{what} never came"
        time.sleep(0.02)
    return found


def descendants(pid):
    """All processes that come from one."""
    found, waiting = [], [pid]
    while waiting:
        try:
            children = Path(f"/proc/{waiting[0]}/task/{waiting[0]}/children").read_text().split()
        except OSError:
            children = []
        found += map(int, children)
        waiting = waiting[1:] + [int(each) for each in children]
    return found


def is_gone(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"  # ended; whoever waits for it does so later


def status():
    ended = run("status", "--json")
    return json.loads(ended.stdout)["nodes"] if ended.returncode == 0 else {}


def all_run(count):
    nodes = status()
    return nodes if sum(bool(node.get("steps")) for node in nodes.values()) == count else None


@contextmanager
def up(*arguments):
    """`presage up` in the background; killed with all its children if the test fails."""
    process = start("up", *arguments)
    try:
        yield process
    finally:
        left = [process.pid, *descendants(process.pid)]
        if process.poll() is None:
            for pid in left:
                with_no_trouble(pid)
        process.communicate()


def with_no_trouble(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stopped(process, number=signal.SIGINT):
    """End `presage up` by a signal; nothing is left of it."""
    processes = descendants(process.pid)
    process.send_signal(number)
    ended = end(process)
    until(lambda: all(is_gone(pid) for pid in processes), "the end of all processes")
    return ended


def config(target, folder="data", more="", **nodes):
    addresses = "\n".join(f'{name} = "{address}"' for name, address in nodes.items())
    Path("cluster.toml").write_text(
        f'target = "{target}"\n[nodes]\n{addresses}\n[live]\ndata = "{folder}"\n{more}'
    )


def free_port():
    return local_cluster(["x"], "unused").nodes["x"].port


def names_of(target):
    return list(load(target).system.names)
