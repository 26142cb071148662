"""All that has to be true of a release, in one command: `make release-check`.

Each check is a function that returns a remark, or raises. All of them run, whatever fails; the last
lines say which did. `--quick` leaves out what takes long: lint, all tests, and what compiles.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
TAG = re.compile(r"presage-[\d.]+-cp311-abi3-manylinux_2_\d+_\w+\.whl")
WHEEL_MIB_MAX = 20
Check = Callable[[], str]


class Failed(Exception):
    """Something is not as a release has to be."""


def one_version() -> str:
    """The same version everywhere, and a section of the changelog about it."""
    project = tomllib.loads(_text("pyproject.toml"))["project"]["version"]
    crate = tomllib.loads(_text("rust/Cargo.toml"))["package"]["version"]
    [module] = re.findall(r'^VERSION = "(.+)"$', _text("src/presage/version.py"), re.MULTILINE)
    if not project == crate == module:
        raise Failed(f"pyproject {project}, crate {crate}, module {module}")
    if not re.search(
        rf"^## {re.escape(project)} \(\d{{4}}-\d\d-\d\d\)$", _text("CHANGELOG.md"), re.M
    ):
        raise Failed(f"CHANGELOG.md has no section `## {project} (YYYY-MM-DD)`")
    return project


def clean_tree() -> str:
    """Nothing that is not committed goes into a release."""
    if changed := _run("git", "status", "--porcelain"):
        raise Failed(f"not committed: {changed.splitlines()[0].strip()}, ...")
    return _run("git", "rev-parse", "--short", "HEAD").strip()


def current_schemas() -> str:
    """The schemas of the documentation are those of the code."""
    _run(sys.executable, "tools/schemas.py")
    if _run("git", "status", "--porcelain", "docs/reference"):
        raise Failed("`make schemas` changes them")
    return "as committed"


def lint() -> str:
    return _made("lint")


def all_tests() -> str:
    return _made("test-all")


def wheel() -> str:
    """A wheel for every Python from 3.11 on, which works in an empty environment."""
    told = _run("make", "wheel").splitlines()[-1].strip()
    [path] = DIST.glob("presage-*.whl")
    if not TAG.fullmatch(path.name):
        raise Failed(f"{path.name} is no wheel for manylinux, or not of the stable interface")
    names = zipfile.ZipFile(path).namelist()
    foreign = [name for name in names if not name.startswith(("presage/", "presage-"))]
    size = path.stat().st_size / 2**20
    if foreign or size > WHEEL_MIB_MAX:
        raise Failed(f"{path.name} has {size:.1f} MiB, and {foreign[:3]}")
    return f"{path.name}, {size:.1f} MiB; first hour: {told}"


def sdist() -> str:
    """A source distribution that pip builds, with the crates that are locked."""
    _run("make", "sdist")
    [path] = DIST.glob("presage-*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = {"rust/Cargo.lock", "rust/build.rs", "LICENSE", "README.md"} - names
    if missing or any(name.endswith((".so", ".pyc")) for name in names):
        raise Failed(f"{path.name} lacks {missing}, or holds what was compiled")
    with tempfile.TemporaryDirectory() as folder:
        _run(sys.executable, "-m", "venv", folder)
        _run(f"{folder}/bin/pip", "install", "--quiet", str(path))
        told = _run(f"{folder}/bin/presage", "--version")
    return f"{path.name}; {told.splitlines()[1]}"


def bill_of_materials() -> str:
    _made("sbom")
    return f"{len((DIST / 'licences.txt').read_text(encoding='utf-8').splitlines())} components"


QUICK: tuple[Check, ...] = (one_version, clean_tree, current_schemas, bill_of_materials)
CHECKS: tuple[Check, ...] = (*QUICK, lint, all_tests, wheel, sdist)


def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _made(target: str) -> str:
    _run("make", target)
    return f"make {target}"


def _run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise Failed(f"`{' '.join(command)}` ended with status {done.returncode}\n{last}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description="Check all that has to be true of a release.")
    parser.add_argument("--quick", action="store_true", help="leave out what takes long")
    checks = QUICK if parser.parse_args().quick else CHECKS
    failures = 0
    for check in checks:
        began = time.monotonic()
        try:
            mark, told = "ok    ", check()
        except (Failed, OSError, ValueError) as error:
            mark, told = "FAILED", str(error)
            failures += 1
        print(f"{mark} {check.__name__:18} {time.monotonic() - began:7.1f} s  {told}", flush=True)
    print(f"{failures} of {len(checks)} checks failed" if failures else "ready to be released")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
