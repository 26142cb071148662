"""Packages with a compiled part: copied where that part cannot hold another copy."""

import asyncio
import importlib
import importlib.util
import shutil
import sys
from pathlib import Path

import pytest
from unit.frontends.real.booting import boot

from presage import always, check
from presage.frontends.real.isolate import Isolation
from presage.frontends.real.sources import COMMON, IMPORTS, PRIVATE, SHARED, Sources
from presage.model.choice import Chooser
from presage.real import Node, RealSystem, here

PACKAGE = {
    "swift/__init__.py": """
        from swift._heapq import heappush
        from swift.rest import Base
        kept = []
        def push(x):
            heappush(kept, x)
            return list(kept)
        """,
    "swift/rest.py": "class Base:\n    seen = None\n",
}


@pytest.fixture
def swift(library) -> str:
    """A package with a compiled module of the standard library in it."""
    folder = library(PACKAGE)
    origin = str(importlib.util.find_spec("_heapq").origin)
    if not origin.endswith(".so"):
        pytest.skip("its C modules are part of this Python")
    shutil.copy(origin, Path(folder) / "swift")
    return folder


def test_each_process_has_a_copy_of_what_is_python(swift) -> None:
    isolation = Isolation(path=(swift,))
    parts = set()
    for _ in range(4):
        copy, module = boot(isolation, "swift")
        assert module.push(1) == [1]
        assert module.Base.seen is None
        module.Base.seen = 1
        parts.add(module.heappush)
        assert not copy.spoilt or "share" in copy.spoilt
        isolation.give_back(copy)
        isolation.recycle()
    assert len(parts) == 1
    assert isolation.sources.compiled() == {"swift"}
    assert isolation.executed == 4  # by the first, which tells what is shared, and by the second


def test_a_part_that_may_import_keeps_its_package_whole(swift) -> None:
    part = next(Path(swift, "swift").glob("_heapq*"))
    part.write_bytes(part.read_bytes() + IMPORTS)
    assert Sources(None, (swift,)).kind("swift") == COMMON


def test_one_that_cannot_lets_it_be_copied(swift) -> None:
    assert Sources(None, (swift,)).kind("swift.rest") == PRIVATE


def imports_a_module_that_its_package_imports() -> None:
    import swift.rest

    here.expose(pushed=[swift.rest.Base is swift.Base])


def test_a_module_of_a_whole_package_may_be_asked_for_first(swift) -> None:
    """Its package imports it, too, while the import that asked for it holds its lock."""
    part = next(Path(swift, "swift").glob("_heapq*"))
    part.write_bytes(part.read_bytes() + IMPORTS)
    node = Node(imports_a_module_that_its_package_imports, view=view, path=[swift])
    assert not check(RealSystem({"a": node}, properties=[pushes_one]), traces=None).violations


HELD = {
    "held/__init__.py": "",
    "held/state.py": "class Base: pass\ndef late():\n    from . import rest\n    return rest\n",
    "held/rest.py": "",
    "free.py": "",
}


@pytest.mark.parametrize("place", ["path", "site-packages"])
@pytest.mark.parametrize("outside", [False, True])
def test_what_a_whole_package_holds_is_whose_that_is(library, monkeypatch, place, outside) -> None:
    """Else there would be two of each class, and late imports would come from the wrong one."""
    rest = "import free as _\ndel _\nfrom held.state import Base, late\nimport held.rest\n"
    folder = library({**HELD, "bundle/__init__.py": rest}, place)
    Path(folder, "bundle", "part.abi3.so").write_bytes(IMPORTS)
    given = () if place == "site-packages" else (folder,)
    monkeypatch.setattr(sys, "path", [*sys.path, folder])
    before = set(sys.modules)
    try:
        if outside:
            importlib.import_module("bundle")
        isolation = Isolation(path=given)
        for _ in range(2):
            copy, whole = boot(isolation, "bundle")
            with copy.inside():
                state = importlib.import_module("held.state")
                assert whole.Base is state.Base
                assert whole.late() is sys.modules["held.rest"]
        assert isolation.sources.kind("held") == (COMMON if given else SHARED)
        assert isolation.sources.kind("free") == PRIVATE
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]


def test_what_a_process_had_for_itself_stays_so(library) -> None:
    folder = library({**HELD, "bundle/__init__.py": "from held.state import Base\n"})
    Path(folder, "bundle", "part.abi3.so").write_bytes(IMPORTS)
    isolation = Isolation(path=(folder,))
    copy, state = boot(isolation, "held.state")
    with copy.inside():
        whole = importlib.import_module("bundle")
        assert importlib.import_module("held.state") is state
    assert whole.Base is not state.Base
    assert isolation.sources.kind("held") == PRIVATE


def main() -> None:
    import swift

    here.expose(pushed=swift.push(1))


def view(node) -> dict[str, list[int]]:
    return {"pushed": list(node.get("pushed", ()))}


@always
def pushes_one(world) -> bool:
    return all(node.pushed == [1] for node in world.nodes)


def test_processes_do_not_meet_in_such_a_package(swift) -> None:
    nodes = {name: Node(main, view=view, path=[swift]) for name in ("a", "b")}
    system = RealSystem(nodes, properties=[pushes_one])
    assert not check(system, traces=None).violations


def test_modules_that_import_each_other_late_are_executed_once(library) -> None:
    """A package has its modules as attributes in the order in which they were executed."""
    files = {
        "late/__init__.py": "",
        "late/one.py": "import late.two",
        "late/two.py": "import late.three",
        "late/three.py": "",
    }
    isolation = Isolation(path=(library(files),))
    for _ in range(4):
        copy, _ = boot(isolation, "late")
        with copy.inside():
            module = importlib.import_module("late.one")
            assert module.__name__ == "late.one"
        isolation.give_back(copy)
        isolation.recycle()
    assert isolation.executed == 8


async def uses_local() -> None:
    import told

    assert not vars(told.local)
    told.local.value = 1
    await asyncio.sleep(1)


def test_values_of_threads_do_not_make_copies_single_use(library) -> None:
    folder = library({"told.py": "import threading\nlocal = threading.local()\n"})
    system = RealSystem({"a": Node(uses_local, path=[folder])})
    driver, executed = system.drivers["a"], []
    with system.tips.running():
        for _ in range(4):
            event = driver.start(0, {})
            process = driver.make(0, *event[3:])
            driver.apply(process, event, Chooser((), extends=True))
            process.dispose()
            executed.append(driver.isolation.executed)
    assert executed[1] == executed[3]


def test_modules_may_hold_what_cannot_be_looked_into(library) -> None:
    """A source of chance without a state, and a proxy that raises whatever it is asked."""
    text = """
        import random
        chance = random.SystemRandom()
        class Asks:
            def __get__(self, owner, kind=None):
                raise RuntimeError("outside of a request")
        class Proxy:
            __slots__ = ("target",)
            __class__ = Asks()
            __dict__ = Asks()
        current = Proxy()
        """
    isolation = Isolation(path=(library({"held.py": text}),))
    for _ in range(3):
        copy, module = boot(isolation, "held")
        assert not hasattr(module.current, "target")
        module.current.target = 1
        isolation.give_back(copy)
        isolation.recycle()
    assert isolation.executed == 2
