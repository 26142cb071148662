"""A real MPI to compare with: mpi4py and MPICH from PyPI, in a folder of the user's cache."""

import os
import subprocess
import sys
import venv
from pathlib import Path

from unit import fetching

VERSION = "4.1.2"  # of mpi4py
PACKAGES = (f"mpi4py=={VERSION}", "mpich", "numpy")
RAN_OUT = "ran out"

# Of this process alone: with the second one, pieces of lines of several ranks are mixed.
FOREIGN = ("PYTHONPATH", "PYTHONUNBUFFERED")


def demos() -> Path | None:
    """The demo folder of mpi4py; None if it cannot be had."""
    source = fetching.folder(f"mpi4py-{VERSION}")
    return None if source is None else source / "demo"


def programs() -> Path | None:
    """The folder of `mpiexec` and `python`; None if they cannot be had."""
    place = fetching.cache() / f"mpich-mpi4py-{VERSION}"
    if not (place / "ready").exists():
        venv.create(place, with_pip=True, clear=True)
        command = [place / "bin" / "python", "-m", "pip", "install", "-q", *PACKAGES]
        if subprocess.run(command, timeout=280).returncode:
            return None
        (place / "ready").touch()
    return place / "bin"


def ended(command, folder, seconds=600):
    """The status of a command, and the lines that it prints, in any order."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            env={name: value for name, value in os.environ.items() if name not in FOREIGN},
        )
    except subprocess.TimeoutExpired:
        return RAN_OUT, []
    return done.returncode, sorted(done.stdout.splitlines())


def on_mpich(binaries, script, ranks, *args, runner=("python",)):
    python = [binaries / runner[0], *runner[1:]]
    command = [binaries / "mpiexec", "-n", ranks, *python, script.name, *args]
    return ended(command, script.parent)


def on_presage(script, ranks, *args, runner=()):
    start = [sys.executable, "-m", "presage", "mpirun", "-n", ranks, *runner]
    command = [*start, script.name, *args]
    return ended(command, script.parent)
