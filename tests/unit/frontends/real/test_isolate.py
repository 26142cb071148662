"""Private copies of packages: nothing that one process does to its modules reaches another."""

import importlib
import pickle
import sys
from copy import deepcopy
from types import ModuleType

import pytest
from unit.frontends.real.booting import boot

from presage.frontends.real import isolate
from presage.frontends.real.isolate import LIMBO_MAX, Isolation

CLUSTER = {
    "cluster/__init__.py": """
        import itertools, functools
        from cluster.state import State
        ids = itertools.count()
        table = {"members": [], "seen": set()}
        @functools.lru_cache(maxsize=None)
        def settings():
            return {"mode": "plain"}
        def remember(x, memory=[]):
            memory.append(x)
            return list(memory)
        def make():
            total = 0
            def add():
                nonlocal total
                total += 1
                return total
            return add
        counted = make()
        """,
    "cluster/state.py": """
        class State:
            leader = None
            nodes = []
            class Inner:
                level = 1
        class Config:
            def __init__(self):
                self.port = 1
                self.peers = {"a": [1]}
        class Slotted:
            __slots__ = ("term", "vote")
            def __init__(self):
                self.term = 0
        config = Config()
        slotted = Slotted()
        """,
    "cluster/late.py": "from cluster.state import State\nvalue = State.__name__\n",
}


def use_up(module) -> None:
    """Change everything that a process can change."""
    state = sys.modules.get("cluster.state") or module.State
    module.State.leader = "me"
    module.State.nodes.append(1)
    module.State.fresh = 1
    module.State.Inner.level = 7
    del module.State.Inner
    module.ids.__next__()
    module.table["members"].append("x")
    module.table["seen"].add("y")
    module.table["more"] = 1
    module.settings()["mode"] = "changed"
    module.remember(1)
    module.counted()
    module.make.note = 1
    module.added = state


def observed(module) -> list:
    state = sys.modules[module.State.__module__]
    return [
        module.State.leader,
        list(module.State.nodes),
        hasattr(module.State, "fresh"),
        module.State.Inner.level,
        next(module.ids),
        module.table,
        module.settings(),
        module.remember("r"),
        module.counted(),
        vars(module.make),
        hasattr(module, "added"),
        vars(state.config),
        state.slotted.term,
        hasattr(state.slotted, "vote"),
    ]


def test_two_processes_do_not_share_class_attributes(library) -> None:
    isolation = Isolation(path=(library(CLUSTER),))
    (_, one), (_, two) = boot(isolation), boot(isolation)
    one.State.leader = "n1"
    one.State.nodes.append("n1")
    assert two.State.leader is None
    assert two.State.nodes == []
    assert one.State is not two.State


def test_outside_nothing_of_a_copy_is_imported(library) -> None:
    before = list(sys.modules), list(sys.path), list(sys.meta_path)
    boot(Isolation(path=(library(CLUSTER),)))
    assert not [name for name in sys.modules if name.partition(".")[0] == "cluster"]
    assert sys.path == before[1]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("cluster")


def test_a_copy_is_used_again_as_if_it_was_new(library) -> None:
    isolation = Isolation(path=(library(CLUSTER),))
    boot(isolation)
    copy, module = boot(isolation)
    with copy.inside():
        fresh = deepcopy(observed(module))
    copies = [copy]
    for _ in range(LIMBO_MAX - 1):
        copies.append(boot(isolation)[0])
    executed = isolation.executed
    for each in copies:
        with each.inside():
            module = importlib.import_module("cluster")
            use_up(module)
            sys.modules["cluster.state"].config.peers["a"].append(2)
            sys.modules["cluster.state"].config.port = 5
            sys.modules["cluster.state"].slotted.term = 3
            sys.modules["cluster.state"].slotted.vote = 4
        isolation.give_back(each)
    assert not isolation.spoilt
    for _ in range(LIMBO_MAX):
        copy, module = boot(isolation)
        with copy.inside():
            assert observed(module) == fresh
    assert isolation.executed == executed


def test_a_process_sees_only_what_it_imported_itself(library) -> None:
    isolation = Isolation(path=(library(CLUSTER),))
    for _ in range(2):
        copy = isolation.take()
        with copy.inside():
            importlib.import_module("cluster.late")
        isolation.give_back(copy)
    isolation.recycle()
    again, _ = boot(isolation)
    assert again is copy
    assert "cluster.late" not in again.modules
    with again.inside():
        assert importlib.import_module("cluster.late").value == "State"
        assert importlib.import_module("cluster").late.value == "State"
    assert again.module("cluster.late").State is again.module("cluster").State


def test_late_imports_come_from_the_own_copy(library) -> None:
    isolation = Isolation(path=(library(CLUSTER),))
    copy, module = boot(isolation)
    with copy.inside():
        late = importlib.import_module("cluster.late")
    assert late.State is module.State
    assert copy.module("cluster.late") is late


def test_an_import_that_changes_earlier_modules_is_never_skipped(library) -> None:
    files = {
        "reg/__init__.py": "known = []\n",
        "reg/extra.py": "import reg\nreg.known.append('extra')\n",
    }
    isolation = Isolation(path=(library(files),))
    for _ in range(4):
        copy = isolation.take()
        with copy.inside():
            reg = importlib.import_module("reg")
            assert reg.known == []
            importlib.import_module("reg.extra")
            assert reg.known == ["extra"]
        isolation.give_back(copy)
        isolation.recycle()
    assert isolation.executed == 2 + 4  # `reg` by the first two copies, `reg.extra` each time


def test_what_is_loaded_after_such_an_import_is_not_kept_either(library) -> None:
    files = {
        "reg/__init__.py": "known = []\n",
        "reg/extra.py": "import reg\nclass Extra: pass\nreg.known.append(Extra)\n",
        "reg/user.py": "from reg.extra import Extra\nkind = Extra\n",
    }
    isolation = Isolation(path=(library(files),))
    for _ in range(4):
        copy = isolation.take()
        with copy.inside():
            reg = importlib.import_module("reg")
            extra = importlib.import_module("reg.extra")
            assert importlib.import_module("reg.user").kind is extra.Extra is reg.known[0]
        isolation.give_back(copy)
        isolation.recycle()
    assert isolation.executed == 2 + 4 + 4


def test_a_module_that_spoils_copies_is_looked_through_once(library, monkeypatch) -> None:
    isolation = Isolation(path=(library({"gen.py": "g = (i for i in range(9))\n"}),))
    looked = []
    monkeypatch.setattr(isolate.Copy, "_survey_of", spied(isolate.Copy._survey_of, looked))
    for _ in range(5):
        copy, module = boot(isolation, "gen")
        assert next(module.g) == 0
        isolation.give_back(copy)
        isolation.recycle()
    assert len(looked) == 2  # of the first copy, which tells what is shared, and of the next


def spied(function, calls):
    def call(*args, **options):
        calls.append(args)
        return function(*args, **options)

    return call


def test_objects_of_isolated_classes_can_be_pickled(library) -> None:
    isolation = Isolation(path=(library(CLUSTER),))
    (first, _), (second, _) = boot(isolation), boot(isolation)
    with first.inside():
        data = pickle.dumps(sys.modules["cluster.state"].Config())
    with second.inside():
        back = pickle.loads(data)
    assert type(back) is second.module("cluster.state").Config
    with first.inside():
        assert type(pickle.loads(data)) is first.module("cluster.state").Config
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(data)


def test_two_versions_of_one_library_run_side_by_side(library) -> None:
    old = Isolation(path=(library({"lib.py": "version = 1"}, "old"),))
    new = Isolation(path=(library({"lib.py": "version = 2"}, "new"),))
    assert [boot(each, "lib")[1].version for each in (old, new, old)] == [1, 2, 1]
    assert old.digest() != new.digest()


def test_the_digest_is_that_of_the_bytes(library) -> None:
    digests = []
    for folder, text in (("a", "x = 1"), ("b", "x = 1"), ("c", "x = 2")):
        isolation = Isolation(path=(library({"pack/__init__.py": "", "pack/m.py": text}, folder),))
        boot(isolation, "pack")
        digests.append(isolation.digest())
    assert digests[0] == digests[1] != digests[2]


def test_a_module_outside_is_hidden_while_a_process_runs(library, monkeypatch) -> None:
    home = library({"both.py": "where = []\n"})
    monkeypatch.syspath_prepend(home)
    outside = importlib.import_module("both")
    isolation = Isolation()
    copy, inside = boot(isolation, "both")
    assert inside is not outside
    assert sys.modules.pop("both") is outside


def test_what_a_process_puts_into_sys_modules_stays_there(library) -> None:
    text = "import sys, types\nsys.modules['strange'] = types.ModuleType('strange')\n"
    isolation = Isolation(path=(library({"odd.py": text}),))
    copy, _ = boot(isolation, "odd")
    assert "strange" not in sys.modules
    with copy.inside():
        assert "strange" in sys.modules


def test_a_module_that_fails_to_load_can_be_tried_again(library) -> None:
    files = {
        "frail.py": "import missing_thing",
        "user.py": "try:\n import frail\nexcept ImportError:\n frail = None\n",
    }
    isolation = Isolation(path=(library(files),))
    for _ in range(3):
        copy, module = boot(isolation, "user")
        assert module.frail is None
        with copy.inside(), pytest.raises(ModuleNotFoundError):
            importlib.import_module("frail")


def test_shared_modules_are_loaded_outside_of_processes(library) -> None:
    isolation = Isolation(path=(library({"needs.py": "import colorsys\n"}),))
    sys.modules.pop("colorsys", None)
    _, module = boot(isolation, "needs")
    assert sys.modules["colorsys"] is module.colorsys
    assert module.colorsys.__spec__.loader.__class__.__name__ != "_Shared"
    assert boot(isolation, "needs")[1].colorsys is module.colorsys


def test_a_module_that_came_unasked_belongs_to_all(library, monkeypatch) -> None:
    """One goes and one comes, while no finder is asked; then a process puts in one of its own."""
    put = "import sys, types\nsys.modules['extra'] = types.ModuleType('extra')\n"
    isolation = Isolation(path=(library({"puts.py": put, "plain.py": ""}),))
    colorsys = importlib.import_module("colorsys")
    monkeypatch.delitem(sys.modules, "colorsys")
    monkeypatch.setitem(sys.modules, "gone", sys)
    boot(isolation, "plain")
    boot(isolation, "plain")
    del sys.modules["gone"]
    monkeypatch.setitem(sys.modules, "colorsys", colorsys)
    copy, _ = boot(isolation, "puts")
    assert "extra" in copy.modules
    assert "colorsys" not in copy.modules
    assert sys.modules["colorsys"] is colorsys
    assert "extra" not in sys.modules


def test_a_module_that_was_replaced_outside_stays_so(library, monkeypatch) -> None:
    home = library({"puts.py": "", "plain.py": ""})
    isolation = Isolation(path=(home,))
    for _ in range(2):
        mine = ModuleType("plain")
        monkeypatch.setitem(sys.modules, "plain", mine)
        _, other = boot(isolation, "plain")
        assert sys.modules["plain"] is mine is not other


def test_a_process_that_swaps_a_module_keeps_its_own_to_itself(library, monkeypatch) -> None:
    colorsys = importlib.import_module("colorsys")
    monkeypatch.setitem(sys.modules, "colorsys", colorsys)
    swap = "import sys, types\ndel sys.modules['colorsys']\nsys.modules['extra'] = types\n"
    copy, _ = boot(Isolation(path=(library({"swaps.py": swap}),)), "swaps")
    assert "extra" in copy.modules
    assert "extra" not in sys.modules


COUNTER = []


def count() -> int:
    COUNTER.append(1)
    return len(COUNTER)


def test_functions_of_the_program_get_globals_of_their_own() -> None:
    isolation = Isolation()
    copies = [isolation.take() for _ in range(2)]
    twins = []
    for copy in copies:
        with copy.inside():
            twins.append(copy.function(count))
    assert [twins[0](), twins[0](), twins[1]()] == [1, 2, 1]
    assert COUNTER == []


def test_a_closure_keeps_its_cells_and_gets_other_globals() -> None:
    def outer(step):
        def run() -> int:
            return count() * step

        return run

    copy = Isolation().take()
    with copy.inside():
        assert copy.function(outer(10))() == 10
    assert COUNTER == []
