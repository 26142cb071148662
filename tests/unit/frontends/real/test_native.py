"""What compiled code does past the kernel is named; so is what outlives its process."""

import asyncio
import os
import sys
from types import ModuleType

import pytest

from presage import check
from presage.errors import PresageError
from presage.frontends.real.machine.effects import Outlived
from presage.frontends.real.machine.escapes import Bypassed
from presage.process.leaves import ORIGINALS
from presage.real import Node, RealSystem

OPEN = ORIGINALS.get((os, "eventfd"))
KEPT: list[asyncio.AbstractEventLoop] = []
needs_eventfd = pytest.mark.skipif(OPEN is None, reason="no descriptors to open")


def opens() -> None:
    OPEN(0)  # as compiled code would do it


async def opens_later() -> None:
    await asyncio.sleep(1)
    OPEN(0)


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
    with pytest.raises(Bypassed, match=rf"test_native.py:{line}: node `a` opens a real socket"):
        RealSystem({"a": Node(opens)})


@needs_eventfd
def test_one_that_it_opens_later_is_named_with_the_event(compiled: None) -> None:
    system = RealSystem({"a": Node(opens_later)})
    with pytest.raises(Bypassed, match="at `.*opens_later`: node `a` opens a real socket"):
        check(system, traces=None)


@needs_eventfd
def test_without_a_compiled_package_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presage.frontends.real.native.ENDINGS", (".none",))
    RealSystem({"a": Node(opens)})


@needs_eventfd
def test_one_that_python_opens_is_refused_by_name() -> None:
    line = asks_for_one.__code__.co_firstlineno + 1
    with pytest.raises(PresageError, match=rf"test_native.py:{line}: .* calls `os.eventfd`"):
        RealSystem({"a": Node(asks_for_one)})


def test_what_outlives_its_process_is_named() -> None:
    KEPT.clear()
    line = keeps.__code__.co_firstlineno + 2
    with pytest.raises(Outlived, match=f"test_native.py:{line}: ") as caught:
        RealSystem({"a": Node(keeps, isolate=()), "b": Node(keeps, isolate=())})
    assert isinstance(caught.value, PresageError) and caught.value.exit_status == 3
