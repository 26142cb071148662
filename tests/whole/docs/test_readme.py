"""The README keeps its promises: a short example, a true story, a fix that works."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

from presage import System, check

README = Path(__file__).parents[3] / "README.md"
LINES_MAX = 15


def example() -> str:
    return re.findall(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S)[0]


def run(source: str) -> System:
    names: dict[str, object] = {"__name__": "vote"}
    exec(compile(source, "vote.py", "exec"), names)
    system = names["system"]
    assert isinstance(system, System)
    return system


def test_what_somebody_new_types_is_what_is_tried_on_every_wheel() -> None:
    tried = runpy.run_path(str(README.parent / "tools" / "first_hour.py"))["COMMANDS"]
    typed = "\n".join(command.format(wheel="presage") for command in tried)
    assert f"```text\n{typed}\n```" in README.read_text(encoding="utf-8")


def test_every_extra_is_told_where_the_installation_is() -> None:
    project = tomllib.loads((README.parent / "pyproject.toml").read_text(encoding="utf-8"))
    page = (README.parent / "docs" / "howto" / "install.md").read_text(encoding="utf-8")
    extras = {*project["project"]["optional-dependencies"]} - {"dev"}
    assert {*re.findall(r"^\| `presage\[(\w+)\]` \|", page, re.M)} == extras


def test_the_example_is_short() -> None:
    lines = [line for line in example().splitlines() if line.strip()]
    assert len(lines) <= LINES_MAX


def test_the_example_breaks_as_the_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line of what it prints is in the README, but for the number of the trace's file."""
    monkeypatch.chdir(tmp_path)
    Path("vote.py").write_text(example(), encoding="utf-8")
    [violation] = check(run(example())).violations
    *lines, command = violation.explanation().splitlines()
    readme = README.read_text(encoding="utf-8")
    assert "\n".join(lines) in readme
    assert re.sub(r"-\w{8}\.trace$", "", command) in readme


def test_the_fix_that_the_example_names_makes_it_hold() -> None:
    fixed = example().replace('vote: str = ""  # the fix: `vote: str = durable("")`', "FIX")
    fixed = fixed.replace("FIX", 'vote: str = durable("")')
    fixed = fixed.replace("always, check, on", "always, check, durable, on")
    assert fixed.count("durable") == 2
    report = check(run(fixed), traces=None)
    assert report.exhausted
    report.assert_holds()
