"""What compiled code does past the kernel is named; so is what outlives its process."""

import asyncio
import gc
import os
import sys
import threading
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from presage import always, check
from presage.errors import PresageError
from presage.frontends.real.machine.effects import Bypassed, Outlived
from presage.process.leaves import ORIGINALS
from presage.real import Node, RealSystem, here

OPEN = ORIGINALS.get((os, "eventfd"))
HIDDEN = (OPEN,)  # where the leaves of a search do not find it
KEPT: list[asyncio.AbstractEventLoop] = []
UNWOUND: list[int] = []
needs_eventfd = pytest.mark.skipif(OPEN is None, reason="no descriptors to open")


def opens() -> None:
    OPEN(0)  # as compiled code would do it


async def opens_later() -> None:
    await asyncio.sleep(1)
    OPEN(0)


def opens_and_starts_a_thread() -> None:
    try:
        HIDDEN[0](0), threading.Thread(target=print).start()  # noqa: B018
    finally:
        UNWOUND.append(1)


SESSION = (ORIGINALS[os, "getsid"],)  # as compiled code has it


def asks_about_itself() -> None:
    SESSION[0](os.getpid())


async def asks_about_itself_later() -> None:
    await asyncio.sleep(1)
    try:
        SESSION[0](os.getpid())
    except ProcessLookupError as error:
        raise RuntimeError("no session") from error


def asks_and_goes_on() -> None:
    try:
        SESSION[0](os.getpid())
    except ProcessLookupError:
        UNWOUND.append(2)


def asks_rightly() -> None:
    own = os.getpid()
    assert os.getsid(0) == os.getsid(own) == os.getpgrp() == os.getpgid(0) == own
    assert os.sched_getaffinity(0) == {0} and os.getpriority(os.PRIO_PROCESS, own) == 0
    with pytest.raises(ProcessLookupError):
        os.sched_getaffinity(1 + own)
    raise ProcessLookupError(3, "what a program raises is its own")


def reads(path: str) -> None:
    open(path)


def asks_for_one() -> None:
    os.eventfd(0)


async def keeps() -> None:
    for loop in KEPT:
        loop.is_closed()
    KEPT.append(asyncio.get_running_loop())


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a compiled package be there."""
    module = ModuleType("fast")
    module.__file__ = "/packages/fast.so"
    monkeypatch.setitem(sys.modules, "fast", module)


@needs_eventfd
def test_a_descriptor_that_compiled_code_opens_is_named_with_the_line(compiled: None) -> None:
    line = opens.__code__.co_firstlineno + 1
    text = "node `a` opens a real socket, pipe or poll in compiled code, of `fast`"
    with pytest.raises(Bypassed, match=rf"test_native.py:{line}: {text}"):
        RealSystem({"a": Node(opens)})


@needs_eventfd
def test_one_that_it_opens_later_is_named_with_the_event(compiled: None) -> None:
    system = RealSystem({"a": Node(opens_later)})
    with pytest.raises(Bypassed, match="at `.*opens_later`: node `a` opens a real socket"):
        check(system, traces=None)


@needs_eventfd
def test_code_in_the_middle_of_a_call_in_c_is_not_unwound(compiled: None) -> None:
    """It is compiled, too, and may not bear an exception; so it never goes on.

    What never goes on is kept until the end of a command. So that is a process of its own.
    """
    child = os.fork()
    if not child:
        os._exit(unwound_in_the_middle())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def unwound_in_the_middle() -> int:
    line = opens_and_starts_a_thread.__code__.co_firstlineno + 2
    try:
        with pytest.raises(Bypassed, match=rf"test_native.py:{line}: node `a` opens a real socket"):
            RealSystem({"a": Node(opens_and_starts_a_thread, isolate=())})
        gc.collect()
        return len(UNWOUND)
    except BaseException:
        traceback.print_exc()
        return 100


@needs_eventfd
def test_without_a_compiled_package_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presage.frontends.real.native.ENDINGS", (".none",))
    RealSystem({"a": Node(opens)})


@needs_eventfd
def test_one_that_python_opens_is_refused_by_name() -> None:
    line = asks_for_one.__code__.co_firstlineno + 1
    with pytest.raises(PresageError, match=rf"test_native.py:{line}: .* calls `os.eventfd`"):
        RealSystem({"a": Node(asks_for_one)})


ABOUT = "node `a` asks the real kernel about a process of the simulated one"


def test_an_answer_of_the_real_kernel_about_a_simulated_process_is_no_violation() -> None:
    line = asks_about_itself.__code__.co_firstlineno + 1
    with pytest.raises(Bypassed, match=rf"test_native.py:{line}: {ABOUT}"):
        RealSystem({"a": Node(asks_about_itself)})


def test_so_it_is_where_the_program_raises_something_else_later() -> None:
    line = asks_about_itself_later.__code__.co_firstlineno + 3
    with pytest.raises(Bypassed, match=rf"test_native.py:{line}: {ABOUT}"):
        check(RealSystem({"a": Node(asks_about_itself_later)}), traces=None)


def test_so_it_is_where_the_program_goes_on_when_it_starts(compiled: None) -> None:
    line = asks_and_goes_on.__code__.co_firstlineno + 2
    with pytest.raises(Bypassed, match=rf"test_native.py:{line}: {ABOUT}"):
        RealSystem({"a": Node(asks_and_goes_on)})


def test_what_the_simulated_kernel_says_about_a_process_is_an_answer() -> None:
    report = check(RealSystem({"a": Node(asks_rightly)}), traces=None)
    (found,) = report.violations
    assert "what a program raises is its own" in found.message


def test_a_real_file_that_nobody_gave_is_named_with_the_way_out(tmp_path: Path) -> None:
    path = str(tmp_path / "settings")
    Path(path).write_text("x", encoding="utf-8")
    (found,) = check(RealSystem({"a": Node(reads, path)}), traces=None).violations
    line = reads.__code__.co_firstlineno + 1
    assert f"`{path}` is on the real disk, and not among the files of `a`" in found.message
    assert f"test_native.py:{line} in reads" in found.message


def test_what_outlives_its_process_is_named() -> None:
    KEPT.clear()
    line = keeps.__code__.co_firstlineno + 2
    with pytest.raises(Outlived, match=f"test_native.py:{line}: ") as caught:
        RealSystem({"a": Node(keeps, isolate=()), "b": Node(keeps, isolate=())})
    assert isinstance(caught.value, PresageError) and caught.value.exit_status == 3


def names_libraries() -> None:
    import ctypes
    import ctypes.util

    here.expose(
        found=ctypes.util.find_library("c"),
        named=hasattr(ctypes.CDLL(None), "pthread_setname_np"),
        lock=type(threading.RLock()).__module__,
    )


def shown(node) -> dict[str, Any]:
    return {name: node.get(name) for name in ("found", "named", "lock")}


@always
def nothing_of_c(world) -> bool:
    return world["a"].named is False and world["a"].lock == "_thread"


def test_where_a_library_is_may_be_asked_and_threads_of_c_are_not_there() -> None:
    """Programs of the host tell where libraries are; a number of a thread is no address."""
    system = RealSystem({"a": Node(names_libraries, view=shown)}, properties=[nothing_of_c])
    report = check(system, traces=None)
    assert report.exhausted and not report.violations


def fails_at_times() -> None:
    lock, done = threading.Lock(), []

    def work() -> None:
        with lock:
            done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    with lock:
        assert done, "the thread came later"
    thread.join()


def test_a_node_that_fails_in_one_order_only_has_the_fields_of_its_view() -> None:
    system = RealSystem({"a": Node(fails_at_times, view=lambda node: {"name": node.name})})
    assert [each.prop for each in check(system, traces=None).violations] == ["no_exception"]
