"""CONTRIBUTING and CHANGELOG against the disk: both name what is there, and nothing else."""

import re
from pathlib import Path

import pytest

from presage.cli import _parser

ROOT = Path(__file__).resolve().parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
QUOTED = re.compile(r"`([^`]+)`")


def rows(text: str, title: str) -> list[str]:
    """The first column of the table below a title, without its head."""
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| `")]


def test_every_target_of_make_is_listed_and_no_other() -> None:
    made = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    listed = [
        row.strip("`").removeprefix("make").strip() or "help"
        for row in rows(CONTRIBUTING, "Commands")
    ]
    assert sorted(listed) == sorted(made)


def test_every_folder_of_tests_is_listed_and_no_other() -> None:
    tests = ROOT / "tests"
    folders = {path for path in (*tests.iterdir(), *(tests / "whole").iterdir()) if path.is_dir()}
    there = {f"`{path.relative_to(ROOT)}`" for path in folders if path.name[0] != "_"}
    listed = {each for row in rows(CONTRIBUTING, "Tests") for each in row.split(", ")}
    assert listed == there - {"`tests/whole`"}


@pytest.mark.parametrize("text", [CONTRIBUTING, CHANGELOG], ids=["CONTRIBUTING", "CHANGELOG"])
def test_every_path_of_ours_that_is_named_is_there(text: str) -> None:
    begins = ("src/", "rust/", "tests/", "docs/", "benchmarks/", "requirements/", "examples/")
    named = [each for each in QUOTED.findall(text) if each.startswith(begins)]
    assert [each for each in named if not (ROOT / each).exists()] == []


def test_every_command_and_option_of_the_changelog_is_there() -> None:
    [commands] = [each.choices for each in _parser()._actions if each.choices]
    for command in commands.values():
        command.fill and command.fill(command)
    options = {name for command in commands.values() for name in command._option_string_actions}
    quoted = "\n".join(QUOTED.findall(CHANGELOG))
    assert set(re.findall(r"\bpresage ([a-z-]+)\b", quoted)) <= set(commands)
    elsewhere = {"--locked", "--presage-off"}  # of cargo, and of pytest with the plugin
    assert set(re.findall(r"(?<!\S)(--[a-z-]+)", quoted)) <= options | elsewhere
