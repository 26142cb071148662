"""What somebody new does with a wheel: install it, make a project, check it, run its test.

The environment is empty and the search path has no Rust. The commands are those of the README, each
a process of its own. Prints how long each took, and all of them; fails where one does.

    python tools/first_hour.py dist/presage-0.1.0-cp311-abi3-manylinux_2_34_x86_64.whl
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

# Below the folder of the README's `python -m venv .venv`; `{wheel}` stands for `presage`.
COMMANDS = (
    "pip install {wheel} pytest",
    "presage new election",
    "presage check election",
    "pytest election",
)


def run(wheel: Path, folder: Path) -> list[tuple[str, float]]:
    """The commands with the seconds that each took, in a new environment below `folder`."""
    environment = folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    environ = os.environ | {"PATH": f"{environment / 'bin'}:/usr/bin:/bin"}
    for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTEST_ADDOPTS"):
        environ.pop(name, None)
    if shutil.which("cargo", path=environ["PATH"]) is not None:
        print("first hour: there is a Rust toolchain on the path; pip does not use it", flush=True)
    done = []
    for command in COMMANDS:
        words = command.format(wheel=wheel.resolve()).split()
        began = time.monotonic()
        ended = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True)
        if ended.returncode:
            raise SystemExit(
                f"`{command}` ended with status {ended.returncode}\n{ended.stdout}{ended.stderr}"
            )
        done.append((command.format(wheel=wheel.name), time.monotonic() - began))
    return done


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Try a wheel in an empty environment.")
    parser.add_argument("wheel", type=Path)
    wheel: Path = parser.parse_args(arguments).wheel
    with tempfile.TemporaryDirectory() as folder:
        done = run(wheel, Path(folder))
    for command, seconds in done:
        print(f"{seconds:6.1f} s  {command}")
    print(f"{sum(seconds for _, seconds in done):6.1f} s  in all")


if __name__ == "__main__":
    main()
