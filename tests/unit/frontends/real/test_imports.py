"""Private modules inside of simulated processes: identities, and what they ask while imported."""

import asyncio
import ctypes
import importlib
import random
import socket
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import pytest

from presage import always, check
from presage.frontends.real.isolate import Isolation
from presage.frontends.real.machine import kernel
from presage.frontends.real.machine.effects import Bypassed, Options
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.process import Process
from presage.frontends.real.machine.standing import standing
from presage.process.leaves import TABLE
from presage.real import Node, RealSystem, here
from presage.search.checkpoint.code_digest import Definition

assert kernel


@pytest.fixture(autouse=True, scope="module")
def leaves():
    TABLE.up()
    yield
    TABLE.down()


@pytest.fixture
def isolation(tmp_path):
    """Makes an isolation of one module, `lib`, with this text."""

    def make(text: str) -> Isolation:
        (tmp_path / "lib.py").write_text(textwrap.dedent(text), encoding="utf-8")
        return Isolation(path=(str(tmp_path),))

    return make


def run(isolation: Isolation, use, clock: float = 0.0, *, before=None, after=None, folders=None):
    """What `use` makes of the module in a process of its own; the copy is given back.

    `before` is called before the import, `after` when the process has come to its end.
    """
    copy, found = isolation.take(), []

    def program():
        if before is not None:
            before()
        found.append(use(importlib.import_module("lib")))

    options = Options(folders=() if folders is None else (str(folders),))
    process = Process(Host("n", ["n"]), program, clock=clock, options=options)
    with copy.inside():
        process.begin()
    if after is not None:
        after()
    failures = process.collect().failures
    if failures:
        raise failures[0].error
    process.dispose()
    isolation.give_back(copy)
    isolation.recycle()
    return found[0]


def test_identities_are_the_same_in_every_process(isolation) -> None:
    lib = isolation(
        """
        first = object()
        known = {id(first): "first"}
        def number(thing):
            return id(thing)
        """
    )

    def use(module):
        fresh = [[], {}, object()]
        numbers = [module.number(each) for each in (*fresh, module.first, fresh[0])]
        return numbers, module.known[module.number(module.first)]

    results = [run(lib, use) for _ in range(5)]
    assert all(each == results[0] for each in results)
    numbers, name = results[0]
    assert name == "first"
    assert len(set(numbers)) == 4


def test_outside_an_identity_is_an_address(isolation) -> None:
    lib = isolation("def number(thing):\n    return id(thing)\n")
    thing = object()
    copy = lib.take()
    with copy.inside():
        number = importlib.import_module("lib").number
    assert number(thing) == id(thing)


def test_a_module_that_keeps_its_moment_is_used_again_at_that_moment(isolation) -> None:
    lib = isolation("import time\nSTART = time.time()\n")
    starts = [run(lib, lambda module: module.START, clock) for clock in (0, 0, 0, 50, 100)]
    assert [each - starts[0] for each in starts] == [0, 0, 0, 50, 100]
    assert lib.executed == 4
    assert any("told something else" in why for why in lib.spoilt)


def test_a_module_that_only_looks_at_the_clock_is_used_again(isolation) -> None:
    lib = isolation("import time\ntime.monotonic()\n")
    for _ in range(4):
        run(lib, lambda module: None)
    assert lib.executed == 2


def test_a_module_that_draws_chance_is_used_again_where_it_would_draw_the_same(isolation) -> None:
    lib = isolation("import random\nSALT = random.random()\n")

    def use(module):
        return module.SALT, module.random.random()

    drawn = [run(lib, use) for _ in range(4)]
    assert all(each == drawn[0] for each in drawn)
    assert lib.executed == 2
    drawn = [run(lib, use, before=lambda: random.random()) for _ in range(3)]
    plain = run(Isolation(path=tuple(lib.sources.folders)), use, before=lambda: random.random())
    assert drawn == [plain] * 3
    assert drawn[0] != run(lib, use)


def test_a_module_that_looks_at_files_is_used_again_where_they_are_the_same(isolation) -> None:
    lib = isolation("import os.path\nFOUND = os.path.exists('/srv/flag')\n")
    touch = partial(Path("/srv/flag").touch)
    found = [run(lib, lambda module: module.FOUND, before=each) for each in (None, None, touch)]
    assert found == [False, False, True]
    executed = lib.executed
    assert run(lib, lambda module: module.FOUND) is False
    assert run(lib, lambda module: module.FOUND) is False
    assert lib.executed == executed + 1


def test_a_module_that_reads_files_is_used_again(isolation) -> None:
    lib = isolation("import os\nTEXT = open(os.__file__).read()\n")
    texts = {run(lib, lambda module: module.TEXT) for _ in range(4)}
    assert len(texts) == 1
    assert lib.executed == 2


def test_files_beside_a_package_are_found_where_they_are(tmp_path) -> None:
    """As `certifi` does, whose certificates are wanted as a real path."""
    home = tmp_path / "own" / "lib"
    home.mkdir(parents=True)
    (home / "data.txt").write_text("data")
    text = """
        from importlib.resources import as_file, files
        with as_file(files("lib") / "data.txt") as path:
            PATH = str(path)
        """
    (home / "__init__.py").write_text(textwrap.dedent(text), encoding="utf-8")
    isolation = Isolation(path=(str(home.parent),))
    paths = {run(isolation, lambda module: module.PATH, folders=home.parent) for _ in range(3)}
    assert paths == {str(home / "data.txt")}
    assert isolation.executed == 2


def test_what_a_module_does_while_it_is_imported_each_process_does(isolation) -> None:
    lib = isolation("open('/srv/log', 'w').close()\n")
    assert all(run(lib, lambda _: Path("/srv/log").exists()) for _ in range(4))
    lib = isolation("import socket\nBOX = socket.socket()\n")
    assert len({run(lib, lambda module: module.BOX.fileno()) for _ in range(4)}) == 1
    assert run(lib, lambda module: module.BOX.bind(("", 80))) is None


def test_what_a_module_wants_called_at_the_end_is_called_for_each_process(isolation) -> None:
    lib = isolation("import atexit\nDONE = []\natexit.register(DONE.append, 1)\n")
    lists: list = []
    ends: list = []
    for _ in range(4):
        run(lib, lambda module: lists.append(module.DONE), after=lambda: ends.append(lists[-1][:]))
    assert ends == [[1]] * 4
    assert lib.executed == 2


def host_and_setting() -> None:
    import lib

    here.expose(seen=(lib.HOST, lib.SETTING))
    time.sleep(1)


def test_a_copy_serves_one_node_whose_name_and_environment_its_modules_saw(tmp_path) -> None:
    text = "import os, socket\nHOST, SETTING = socket.gethostname(), os.environ.get('SETTING')\n"
    (tmp_path / "lib.py").write_text(text, encoding="utf-8")

    def view(node):
        return {"seen": node.get("seen")}

    def node(setting):
        return Node(host_and_setting, view=view, path=(tmp_path,), environ={"SETTING": setting})

    @always
    def all_see_their_own(world) -> bool:
        return all(each.seen in (None, (each.name, each.name * 2)) for each in world.nodes)

    system = RealSystem({"a": node("aa"), "b": node("bb")}, properties=[all_see_their_own])
    report = check(system, traces=None)
    assert report.exhausted and not report.violations


@pytest.mark.parametrize("name", ["clock_gettime", "getifaddrs"])
def test_what_the_c_library_knows_of_the_host_is_named_with_its_line(isolation, name) -> None:
    lib = isolation(f"import ctypes\nclock = ctypes.CDLL(None).{name}\n")
    with pytest.raises(Bypassed, match=rf"lib.py:2: node `n` takes `{name}`"):
        run(lib, lambda module: None)
    assert getattr(ctypes.CDLL(None), name)  # outside nobody minds


def test_shared_modules_are_executed_once(tmp_path, monkeypatch) -> None:
    """As if no process ran, and not again for the import that asked for it."""
    (tmp_path / "times.py").write_text(
        "from presage.process.context import running\nimport sys\n"
        "assert not running.stack\nsys.times = getattr(sys, 'times', 0) + 1\n"
    )
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "lib.py").write_text("import times\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    isolation = Isolation(("lib",), (str(tmp_path / "own"),))
    try:
        for _ in range(3):
            run(isolation, lambda module: None)
        assert sys.times == 1
    finally:
        del sys.times, sys.modules["times"]


DRAWS = """
import random
KEPT = random.Random()
def default(kept=random.Random()): return kept.random()
class Mask:
    KEPT = random.Random()
    def __init__(self, draw=random.Random()): self.bits = draw.getrandbits(32)
"""


def test_a_generator_that_a_shared_module_keeps_is_one_of_each_process(
    tmp_path, monkeypatch
) -> None:
    (tmp_path / "shared_draws.py").write_text(DRAWS, encoding="utf-8")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "lib.py").write_text("import shared_draws as draws\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    isolation = Isolation(("lib",), (str(tmp_path / "own"),))

    def drawn(module):
        draws = module.draws
        seen = [draws.KEPT.random(), draws.default(), draws.Mask.KEPT.gauss(), draws.Mask().bits]
        return [*seen, draws.KEPT.randint(1, 10**9), draws.KEPT.random()]

    try:
        first, again = (run(isolation, drawn) for _ in range(2))
        assert first == again and len(set(first)) == len(first)
        shared = sys.modules["shared_draws"]
        assert isinstance(shared.KEPT, random.Random)
        assert shared.KEPT.random() != first[0]  # outside it is what it was
    finally:
        del sys.modules["shared_draws"]


def use_library() -> None:
    import lib

    assert lib.VERSION


def test_a_checkpoint_of_another_version_of_a_library_is_another_definition(tmp_path) -> None:
    digests = []
    for at, version in enumerate((1, 1, 2)):
        folder = tmp_path / str(at)
        folder.mkdir()
        (folder / "lib.py").write_text(f"VERSION = {version}\n", encoding="utf-8")
        system = RealSystem({"n": Node(use_library, path=(folder,))})
        digests.append(system.sources())
        assert Definition(system).digest
    assert digests[0] == digests[1] != digests[2]


def test_what_waits_in_a_socket_tells_two_standings_apart() -> None:
    def program():
        import socket

        held.append(socket.socketpair())

    held: list = []
    process = Process(Host("n", ["n"]), program)
    process.begin()
    before = standing(process)
    assert standing(process) == before
    one, _ = held[0]
    process._settle(lambda: one.send(b"x"))
    assert standing(process) != before


def test_pending_tasks_tell_two_standings_apart() -> None:
    async def waits(count):
        kept = [asyncio.create_task(asyncio.Event().wait()) for _ in range(count)]
        await asyncio.gather(*kept)

    def stands(count):
        process = Process(Host("n", ["n"]), lambda: asyncio.run(waits(count)))
        process.begin()
        return standing(process)

    assert stands(1) == stands(1) != stands(2)


def test_a_socket_is_exactly_of_the_class_that_the_program_imports(isolation) -> None:
    lib = isolation(
        """
        import importlib.util, select, socket, ssl

        class Own(socket.socket):
            pass

        def kinds():
            one, other = socket.socketpair()
            made = [one, socket.socket(), other.dup(), socket.fromfd(one.fileno(), 1, 1)]
            made[1].bind(("", 80))
            made[1].listen()
            made.append(socket.create_connection(("127.0.0.1", 80)))
            made.append(made[1].accept()[0])
            exactly = [type(each) is socket.socket for each in made]
            own = Own()
            is_own = type(own) is Own and isinstance(own, socket.socket)
            return exactly, is_own, issubclass(ssl.SSLSocket, socket.socket)

        def names():
            found = importlib.util.find_spec("socket").name
            with select.epoll() as poller:
                return repr(socket.socket), found, isinstance(poller, select.epoll)
        """
    )
    for _ in range(2):
        assert run(lib, lambda module: module.kinds()) == ([True] * 6, True, True)
        names = run(lib, lambda module: module.names())
        assert names == ("<class 'socket.socket'>", "socket", True)


def test_what_a_program_puts_into_the_module_of_sockets_is_there_for_all(isolation) -> None:
    lib = isolation(
        """
        import socket

        def patch():
            socket.of_mine, socket.AF_PACKET = 1, socket.AF_PACKET
            try:
                return "of_mine" in dir(socket), socket.of_mine
            finally:
                del socket.of_mine
        """
    )
    assert run(lib, lambda module: module.patch()) == (True, 1)
    assert not hasattr(socket, "of_mine")
