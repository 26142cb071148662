"""What tests take from PyPI by name, into a folder of the user's cache; never committed.

`PRESAGE_TEST_CACHE` is another folder for it.
"""

import os
import subprocess
import sys
import tarfile
from pathlib import Path


def cache() -> Path:
    named = os.environ.get("PRESAGE_TEST_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(named) if named else base / "presage-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _done(command: list[str]) -> bool:
    """Whether a command of pip came to its end, in time."""
    try:
        return subprocess.run(command, timeout=280).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def folder(name: str) -> Path | None:
    """The source distribution `name`, unpacked; None if it cannot be fetched."""
    place = cache() / name
    if not place.exists():
        target = cache() / "downloads"
        package = name.replace("-", "==", 1)
        project = name.split("-")[0]  # what builds it may come built: Cython takes minutes
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(target)]
        if not _done([*command, "--no-binary", project, package]):
            return None
        with tarfile.open(next(target.glob(f"{name}*.tar.gz"))) as archive:
            archive.extractall(cache(), filter="data")
    return place


def ray() -> Path | None:
    """A folder with Ray, which only `--cluster` needs."""
    place, unfinished = cache() / "ray-2.60.0", cache() / f"ray-{os.getpid()}"
    if not place.exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(unfinished)]
        if subprocess.run([*command, "ray==2.60.0"], timeout=280).returncode:
            return None
        if not place.exists():
            unfinished.rename(place)
    return place


def packages() -> Path | None:
    """A folder with pytest-asyncio, which these tests need."""
    place = cache() / "pytest-asyncio"
    if not place.exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--target",
            str(place),
        ]
        if not _done([*command, "pytest-asyncio", "async-timeout"]):
            return None
    return place
