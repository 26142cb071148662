"""The JSON schemas in the docs are up to date, and true of what commands print and save."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import msgspec
import pytest
from whole.commands.harness import run, told, write

from presage._results import StopReason
from presage.props.property import FAIRNESSES
from presage.search.options import PROGRAM_SEARCHES, SEARCHES
from presage.search.settings import REDUCTIONS

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "reference"


def _imported() -> ModuleType:
    spec = importlib.util.spec_from_file_location("schemas", ROOT / "tools" / "schemas.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules["schemas"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


schemas = _imported()

LIGHT = """
    class Light(Service):
        on: bool = False
        @action(when=lambda self: not self.on)
        def blink(self) -> None:
            self.on = self.choose([False, True])
        @action(when=lambda self: self.on)
        def off(self) -> None:
            self.on = False

    def system() -> System:
        lit = eventually(lambda world: world["n0"].on, name="lit")
        return System(nodes={"n0": Light()}, properties=[lit])
"""
RAISES = """
    class Node(Service):
        count: int = 0
        @action(when=lambda self: self.count < 2)
        def tick(self) -> None:
            self.count += 1

    @always
    def small(world):
        return world["n0"].missing

    def system() -> System:
        return System(nodes={"n0": Node()}, properties=[small], faults=Faults(crash=1))
"""
GROWS = """
    class Node(Service):
        count: int = 0
        @action
        def tick(self) -> None:
            self.count += 1

    def system() -> System:
        return System(nodes={"n0": Node()}, properties=[sometimes(lambda world: False, name="no")])
"""
DEPENDS = """
    class Node(Service):
        seen: set[str] = state(lambda: {"a", "b", "c"})
        first: str = ""
        @action(when=lambda self: not self.first)
        def take(self) -> None:
            self.first = next(iter(self.seen))

    def system() -> System:
        return System(nodes={"n0": Node()})
"""
WAITS = """
    from mpi4py import MPI
    MPI.COMM_WORLD.recv(source=1 - MPI.COMM_WORLD.rank)
"""

CHECKS: list[tuple[int, str, str]] = [
    (0, "", "check two_phase_commit --set rms=2"),
    (0, "", "check two_phase_commit --set rms=2 --search tree"),
    (0, "", "check paxos --search walk --walks 20"),
    (0, "", "check simgrid.pi"),
    (1, "", "check paxos --set bug=last_promise"),
    (1, "", "check counter"),
    (1, "", "check simgrid.bugged1"),
    (1, "", "check simgrid.philosophers --set variant=mutex_deadlock"),
    (1, "", "hunt mace_transport --set bug=MT-3"),
    (1, LIGHT, "check bad.py"),
    (1, WAITS, "check bad.py --mpi 2"),
    (0, GROWS, "check bad.py --states 50 --coverage lines.json"),
    (2, RAISES, "check bad.py"),
    (3, DEPENDS, "check bad.py"),
]


def reads_back(value: Any, kind: Any) -> None:
    """`value` has every key of `kind`, no other, and every value is of its type."""
    read = msgspec.convert(value, kind)
    assert json.loads(msgspec.json.encode(read)) == value


@pytest.mark.parametrize(("status", "code", "line"), CHECKS, ids=[each[2] for each in CHECKS])
def test_what_a_check_prints_and_saves_is_what_the_schemas_say(
    status: int, code: str, line: str
) -> None:
    if code:
        write(code)
    report = told(run(*line.split(), "--json"), status)
    reads_back(report, schemas.Check)
    for violation in report["violations"]:
        for path in filter(None, (violation["trace"], violation["live"])):
            reads_back(json.loads(Path(path).read_bytes()), schemas.TraceFile)


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_the_schemas_in_the_docs_are_those_of_the_types(name: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == schemas.schema_text(schemas.SCHEMAS[name]), "run `make schemas`"


def test_the_page_links_to_the_schemas_and_names_every_key_of_a_check() -> None:
    page = (FOLDER / "json.md").read_text(encoding="utf-8")
    for name in schemas.SCHEMAS:
        assert f"]({name})" in page
    definitions = json.loads((FOLDER / "check.schema.json").read_text(encoding="utf-8"))["$defs"]
    keys = {key for each in definitions.values() for key in each["properties"]}
    assert {key for key in keys if f"`{key}`" not in page and f".{key}`" not in page} == set()


def test_a_schema_names_every_search_reduction_fairness_and_stop_reason() -> None:
    assert set(get_args(schemas.Search)) == {*SEARCHES, *PROGRAM_SEARCHES}
    assert set(get_args(schemas.Reduction)) == set(REDUCTIONS)
    assert set(get_args(schemas.Fairness)) == set(FAIRNESSES)
    # `passed` ends a look for a good execution, which is no search of its own
    assert set(get_args(schemas.Stop)) == {str(each) for each in StopReason} - {"passed"}


def test_a_key_that_is_missing_or_of_another_type_is_not_what_the_schema_says() -> None:
    report = told(run("check", "counter", "--json"), 1)
    for change in ({"seed": "0"}, {"search": "guess"}, {"more": 1}):
        with pytest.raises((msgspec.ValidationError, AssertionError)):
            reads_back(report | change, schemas.Check)
    del report["notes"]
    with pytest.raises(msgspec.ValidationError):
        reads_back(report, schemas.Check)
