"""The shipped systems are laid out alike, as the docstring of `presage.systems` says."""

import ast
import re
from pathlib import Path

import pytest

import presage.systems
from presage.systems import SYSTEMS
from presage.systems.reactive import MODELS
from presage.systems.samc import MODELS as SAMC

ROOT = Path(presage.systems.__file__).parent
FILES = re.findall(r"^    (\w+) {2,}", presage.systems.__doc__, re.MULTILINE)
SHARED = {"register", "catalogue"}


def imports(file: Path) -> set[str]:
    """The modules of `presage.systems` that a file imports, without that prefix."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    named = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    prefix = "presage.systems."
    return {name.removeprefix(prefix) for name in named if name.startswith(prefix)}


def test_the_docstring_names_the_files_of_a_system() -> None:
    assert FILES == ["__init__", "messages", "service", "properties", "bugs"]


def test_every_folder_is_a_system_or_a_collection() -> None:
    folders = {file.parent.name for file in ROOT.glob("*/__init__.py")}
    assert folders == {*SYSTEMS, "simgrid", "reactive", "samc"}
    assert {file.stem for file in ROOT.glob("*.py")} == {"__init__", *SHARED}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_has_files_of_those_names_and_what_its_service_rests_on(system: str) -> None:
    there = {file.stem: file for file in (ROOT / system).glob("*.py")}
    assert {"__init__", "service"} <= set(there)
    below = set(there) - set(FILES)
    assert {f"{system}.{name}" for name in below} <= imports(there["service"])
    for name in below:
        assert imports(there[name]) <= {f"{system}.messages"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_imports_of_others_only_what_is_shared(system: str) -> None:
    for file in (ROOT / system).glob("*.py"):
        assert {name.split(".")[0] for name in imports(file)} <= {system, *SHARED}


def test_a_reactive_model_imports_of_others_only_the_machine_and_its_timer() -> None:
    shared = {"reactive.machine", "reactive.timer"}
    files = [*(ROOT / "reactive").glob("[a-z]*.py")]
    assert {file.stem for file in files} == {*MODELS, "machine", "timer"}
    for file in files:
        assert imports(file) <= shared


def test_a_model_of_samc_imports_of_others_only_the_server_and_the_election() -> None:
    shared = {"samc.broadcast", "samc.election"}
    files = [*(ROOT / "samc").glob("[a-z]*.py")]
    assert {file.stem for file in files} == {*SAMC, "broadcast", "election"}
    for file in files:
        assert imports(file) <= shared
