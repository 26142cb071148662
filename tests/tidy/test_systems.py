"""The shipped systems are laid out alike, as the docstring of `presage.systems` says."""

import ast
import re
from pathlib import Path

import pytest

import presage.systems
from presage.systems import SYSTEMS
from presage.systems.reactive import MODELS
from presage.systems.samc import MODELS as SAMC
from presage.systems.samc.bugs import BUGS, PAPER

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


def modules(folder: Path) -> dict[str, list[Path]]:
    """What a collection has: for each name its file, or the files of its folder."""
    single = {file.stem: [file] for file in folder.glob("[a-z]*.py")}
    return single | {
        inner.parent.name: [*inner.parent.glob("*.py")] for inner in folder.glob("*/__init__.py")
    }


def test_what_stands_beside_the_models_of_samc_serves_them() -> None:
    there = modules(ROOT / "samc")
    used = {
        name.split(".")[1]
        for model in there
        for file in there[model]
        for name in imports(file)
        if name.startswith("samc.") and name.split(".")[1] != model
    }
    assert set(SAMC) <= set(there)
    assert set(there) - set(SAMC) - {"bugs"} <= used


def test_no_model_of_samc_imports_another() -> None:
    there = modules(ROOT / "samc")
    for model in SAMC:
        others = {name.split(".")[1] for file in there[model] for name in imports(file)} - {model}
        assert not others & set(SAMC)


def test_every_model_of_samc_has_a_bug_and_bugs_come_in_the_order_of_the_paper() -> None:
    assert {bug.model for bug in BUGS} == set(SAMC)
    assert [bug.id for bug in BUGS] == [name for name in PAPER if name in {bug.id for bug in BUGS}]
