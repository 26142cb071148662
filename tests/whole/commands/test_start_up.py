"""A command loads what it uses, and little else."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HEADER = "imported package"
# What other commands use, and no search that finds nothing.
ELSEWHERE = (
    *("asyncio", "bz2", "dis", "email", "gettext", "hashlib", "hmac", "http", "inspect", "json"),
    *("locale", "lzma", "platform", "shutil", "textwrap"),
    *("presage.debug", "presage.ui.debug", "presage.ui.page", "presage.ui.explore"),
    *("presage.frontends.mpi.launch.program", "presage.simulate.engine", "presage.search.doctor"),
    *("presage.runtime", "presage.search.predict"),
)


def loaded(*arguments: str, cwd: Path) -> list[set[str]]:
    """The modules that each process of a command loads, beside those that any Python does."""
    plain = _listed("-c", "pass", cwd=cwd)[0]
    return [modules - plain for modules in _listed("-P", "-m", "presage", *arguments, cwd=cwd)]


def _listed(*arguments: str, cwd: Path) -> list[set[str]]:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode in (0, 1), ran.stderr
    processes: list[set[str]] = []
    for line in ran.stderr.splitlines():
        if line.endswith(HEADER):
            processes.append(set())
        elif found := re.match(r"import time:.*\|\s+(\S+)$", line):
            processes[-1].add(found[1])
    return processes


def test_the_version_is_told_by_one_process_that_loads_hardly_anything(tmp_path):
    (only,) = loaded("--version", cwd=tmp_path)
    assert sum(name.startswith("presage") for name in only) <= 5
    assert len(only) <= 40


def test_the_parent_of_a_check_loads_hardly_anything(tmp_path):
    parent, _ = loaded("check", "two_phase_commit", cwd=tmp_path)
    assert sum(name.startswith("presage") for name in parent) <= 6
    assert len(parent) <= 24


def test_a_check_loads_what_it_uses(tmp_path):
    _, child = loaded("check", "two_phase_commit", cwd=tmp_path)
    assert len(child) <= 271
    found = [name for name in child if name.startswith(tuple(f"{each}." for each in ELSEWHERE))]
    assert found + [name for name in child if name in ELSEWHERE] == []


def test_a_check_that_finds_a_violation_loads_no_debugger(tmp_path):
    _, child = loaded("check", "counter", cwd=tmp_path)
    assert "presage.ui.violation" in child
    assert len(child) <= 294
    assert child.isdisjoint(("difflib", "hashlib", "hmac", "inspect"))
    assert [name for name in child if name.startswith("presage.ui.debug")] == []


def test_what_a_second_process_runs_loads_little(tmp_path):
    modules = ("cli.second", "search.twin.backwards", "search.twin.rerun")
    code = "; ".join(f"import presage.{module}" for module in modules)
    (own,) = _listed("-P", "-c", code, cwd=tmp_path)
    assert "presage.search.twin.rerun" in own
    assert own.isdisjoint(("ctypes", "subprocess", "tempfile"))


@pytest.mark.parametrize("command", ["--help", "systems --help", "graph --help"])
def test_help_loads_no_search(tmp_path, command):
    _, child = loaded(*command.split(), cwd=tmp_path)
    assert [name for name in child if name.startswith("presage.search.")] == []
