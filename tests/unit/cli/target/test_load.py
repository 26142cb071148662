"""A target becomes a system, or an error that says where and what to do."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from presage.cli.target.load import load, shipped
from presage.errors import BadService, BadSystem, BadTarget
from presage.systems import SHIPPED

SYSTEM = """
    from presage import Service, System

    class Node(Service):
        count: int = 0

    def system(*, nodes: int = 2, big: bool = False) -> System:
        if nodes > 100:
            raise ValueError("too many nodes")
        return System(nodes={f"n{i}": Node(count=int(big)) for i in range(nodes)})
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder, and no trace of what was imported from it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), encoding="utf-8")


def refused(target: str, **settings: str) -> str:
    with pytest.raises(BadTarget) as error:
        load(target, settings)
    assert error.value.exit_status == 2
    text = str(error.value)
    assert "\n  usual cause: " in text and "\n  way out: " in text
    return text


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_every_shipped_system_loads_by_its_name(name: str) -> None:
    loaded = load(name)
    assert loaded.system.nodes
    assert (loaded.target, loaded.parameters) == (name, {})


def test_shipped_systems_are_described() -> None:
    for described in shipped():
        assert described.summary.endswith("."), described.name
        assert all(parameter.about for parameter in described.parameters), described.name
        assert not any(parameter.required for parameter in described.parameters), described.name


def test_a_file_is_loaded_with_its_parameters() -> None:
    write("my/tree.py", SYSTEM)
    loaded = load("my/tree.py:system", {"nodes": "3", "big": "yes"})
    assert list(loaded.system.nodes) == ["n0", "n1", "n2"]
    assert loaded.parameters == {"nodes": 3, "big": True}


def test_plain_values_as_a_trace_keeps_them_are_read_too() -> None:
    write("tree.py", SYSTEM)
    assert load("tree.py:system", {"nodes": 3, "big": True}).parameters == {"nodes": 3, "big": True}


def test_the_only_system_of_a_file_needs_no_name() -> None:
    write("tree.py", SYSTEM)
    assert len(load("tree.py").system.nodes) == 2
    assert len(load("tree.py:").system.nodes) == 2


def test_a_file_is_imported_under_the_same_name_from_everywhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("my/tree.py", SYSTEM)
    here = load("my/tree.py:system").system
    monkeypatch.chdir(folder / "my")
    there = load("tree.py:system").system
    assert type(here.nodes["n0"]).__module__ == type(there.nodes["n0"]).__module__
    assert type(here.nodes["n0"]) is not type(there.nodes["n0"])


def test_a_file_may_import_its_neighbours_and_hides_no_module() -> None:
    write("random.py", "VALUE = 1\n" + dedent(SYSTEM))
    write("neighbour.py", SYSTEM)
    write("tree.py", "from neighbour import system\nmine = system()")
    assert len(load("tree.py:system").system.nodes) == 2
    assert len(load("tree.py").system.nodes) == 2
    assert load("random.py").system
    assert not hasattr(sys.modules["random"], "VALUE")


def test_a_module_is_found_below_the_current_folder() -> None:
    write("package/__init__.py", "")
    write("package/tree.py", SYSTEM + "\n    class Kept:\n        it = system(nodes=4)\n")
    assert len(load("package.tree:system").system.nodes) == 2
    assert len(load("package.tree:Kept.it").system.nodes) == 4
    assert "no module `package.three`" in refused("package.three:system")
    assert "no module `nowhere`" in refused("nowhere.at.all:system")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("paxoss", "no system `paxoss`; did you mean `paxos`?"),
        ("qqqq", "no system `qqqq`\n"),
        ("a.module", "add the name: `a.module:name`"),
        ("some/folder", "name a file that ends in `.py`"),
        ("some-thing:name", "there is no system `some-thing:name`"),
        ("none.py:system", "`none.py` is not a file"),
        ("", "there is no system ``"),
    ],
)
def test_an_unknown_target_says_what_a_target_is(target: str, said: str) -> None:
    assert said in refused(target)


def test_a_missing_name_lists_what_there_is() -> None:
    write("tree.py", SYSTEM)
    text = refused("tree.py:sistem")
    assert "there is no `sistem`; did you mean `system`?" in text
    assert "it has `system`" in text
    write("empty.py", "x = 1")
    assert "it has no system at all" in refused("empty.py:x2")
    assert "`empty.py` has no system" in refused("empty.py")
    write("two.py", SYSTEM + "\n    other = system()\n")
    assert "more than one system: `system`, `other`" in refused("two.py")


def test_a_syntax_error_is_told_with_its_line() -> None:
    write("tree.py", "x = 1\ndef f(:\n    pass\n")
    assert "tree.py:2: invalid syntax: `def f(:`" in refused("tree.py:f")
    Path("nul.py").write_bytes(b"x = '\x00'\n")
    assert "nul" in refused("nul.py:x")
    Path("latin.py").write_bytes(b"x = '\xe9'\n")
    assert "latin.py" in refused("latin.py:x")


def test_an_error_on_import_is_told_with_its_line() -> None:
    write("tree.py", "x = 1\nimport not_installed\n")
    text = refused("tree.py:x")
    assert "tree.py:2: ModuleNotFoundError: No module named 'not_installed'" in text
    write("package/__init__.py", "import not_installed")
    text = refused("package:system")
    assert "package/__init__.py:1: ModuleNotFoundError" in text
    write("exits.py", "import sys\nsys.exit(7)\n")
    assert "exits.py:2: SystemExit: 7" in refused("exits.py:x")
    write("raises.py", "import neighbour")
    write("neighbour.py", "\n\n1 / 0")
    assert "neighbour.py:3: ZeroDivisionError: division by zero" in refused("raises.py:x")


def test_a_failed_import_leaves_nothing_behind() -> None:
    write("tree.py", "1 / 0")
    refused("tree.py:x")
    write("tree.py", SYSTEM)
    assert load("tree.py").system


def test_errors_of_presage_keep_their_own_words() -> None:
    write("tree.py", SYSTEM + "\n    class Bad(Service):\n        items: list[int] = []\n")
    with pytest.raises(BadService, match="items"):
        load("tree.py:system")
    write("none.py", "from presage import System\ndef system(): return System(nodes={})")
    with pytest.raises(BadSystem, match="no nodes"):
        load("none.py:system")


def test_what_is_no_system_is_refused() -> None:
    write("tree.py", SYSTEM + "\n    node = Node()\n    x = 1\n")
    assert "`Node` of `tree.py:Node` is a service, not a system" in refused("tree.py:Node")
    assert "is a service, not a system" in refused("tree.py:node")
    assert "`x` of `tree.py:x` is a `int`, not a `System`" in refused("tree.py:x")


def test_a_factory_must_return_a_system() -> None:
    write(
        "tree.py",
        """
        def nothing(): pass
        async def later(): pass
        def strict(*, nodes: int, mode: str): pass
        def open_ended(**more): return more["a"] + 1
        """,
    )
    assert "`tree.py:nothing` returned a `NoneType`, not a `System`" in refused("tree.py:nothing")
    assert "returned a `coroutine`" in refused("tree.py:later")
    text = refused("tree.py:strict", mode="x")
    assert "needs a value for `nodes`" in text
    assert "`--set nodes=VALUE`; it takes a whole number" in text
    assert "returned a `int`" in refused("tree.py:open_ended", a="1")
    for foreign in ("builtins:str", "os:system", "subprocess:run"):
        assert "is not said to return a `System` or `Program`" in refused(foreign)


def test_a_factory_that_raises_is_told_with_its_line_and_parameters() -> None:
    write("tree.py", SYSTEM)
    text = refused("tree.py:system", nodes="200")
    assert "tree.py:9: ValueError: too many nodes" in text
    assert "while `tree.py:system` was built with nodes=200" in text


def test_parameters_are_checked_before_the_factory_runs() -> None:
    write("tree.py", SYSTEM + "\n    made = system()\n")
    text = refused("tree.py:system", node="3")
    assert "has no parameter `node`; did you mean `nodes`?" in text
    assert "it has `nodes`, `big`" in text
    assert "nodes is a whole number, not 'two'" in refused("tree.py:system", nodes="two")
    assert "big is one of true, false, not '2'" in refused("tree.py:system", big="2")
    assert "takes no parameters, so `nodes` cannot be set" in refused("tree.py:made", nodes="3")
    lossy = refused("ping_pong", network="lossy")
    assert "network is one of" in lossy and "with one of these values" in lossy
    assert "another type" not in lossy
