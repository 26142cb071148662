"""Commands that use Ray, each in a network that has nothing but `lo`."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from unit import fetching

ALONE = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
PRESAGE = str(Path(sys.executable).with_name("presage"))


def environment():
    place = fetching.ray()
    if place is None:
        pytest.skip("Ray cannot be fetched")
    benchmarks = Path(__file__).parents[3] / "benchmarks"
    paths = [str(place), str(benchmarks), *filter(None, [os.environ.get("PYTHONPATH")])]
    seed = {"PYTHONHASHSEED": "0"}  # as commands have it
    return {**os.environ, **seed, "PYTHONPATH": os.pathsep.join(paths)}


def start(*words, cwd=None, **pipes):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **pipes}
    command = [*ALONE, *map(str, words)]
    return subprocess.Popen(command, env=environment(), cwd=cwd, start_new_session=True, **pipes)


def run(*words, cwd=None):
    process = start(*words, cwd=cwd)
    out, complaint = process.communicate(timeout=280)
    return process.returncode, out, complaint


def report(*words, cwd=None, statuses=(0,), run=run):
    status, out, complaint = run(PRESAGE, *words, "--json", cwd=cwd)
    assert status in statuses, complaint
    return json.loads(out)


@contextlib.contextmanager
def one_ray():
    """What runs commands as `run` does, in one process and on the workers of one Ray."""
    script = Path(__file__).with_name("one_ray.py")
    process = start(sys.executable, script, stdin=subprocess.PIPE, stderr=None)

    def ask(command, *words, cwd):
        named = [] if command == PRESAGE else [command]
        print(json.dumps([*map(str, (cwd, *named, *words))]), file=process.stdin, flush=True)
        answer = process.stdout.readline()
        assert answer, "the process has ended"
        return json.loads(answer)

    yield ask
    process.communicate(timeout=60)
    assert process.returncode == 0


def of_session(session):
    """The processes of a session that are left, by their command lines."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append((stat.parent / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found
