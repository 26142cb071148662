"""Modules that are loaded when something of theirs is asked for."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

from presage.supervise import deferred


def in_process(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A deferred module that takes a while to load, and counts how often it is."""
    text = "import builtins, time\nbuiltins.loads += 1\nfirst = 1\ntime.sleep(0.05)\nlast = 2\n"
    (tmp_path / "slow_module.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("builtins.loads", 0, raising=False)
    monkeypatch.delitem(sys.modules, "slow_module", raising=False)
    deferred.defer(("slow_module",), known=3)
    return sys.modules["slow_module"]


def loads() -> int:
    return vars(sys.modules["builtins"])["loads"]


def test_an_import_loads_nothing_and_a_name_everything(slow: ModuleType) -> None:
    import slow_module  # type: ignore[import-not-found]

    assert slow_module is slow and slow.__name__ == "slow_module" and loads() == 0
    assert slow.__file__ is not None and slow.__spec__ is not None and slow.known == 3
    assert loads() == 0
    assert (slow.first, slow.last, loads(), type(slow)) == (1, 2, 1, ModuleType)
    assert not hasattr(slow, "known")


def test_what_is_set_before_is_kept(slow: ModuleType) -> None:
    slow.first = 7
    assert (slow.first, slow.last, loads()) == (7, 2, 1)


def test_a_listing_is_that_of_the_whole_module(slow: ModuleType) -> None:
    assert {"first", "last"} <= set(dir(slow))


def test_threads_wait_for_the_one_that_loads(slow: ModuleType) -> None:
    found: list[tuple[int, int]] = []
    threads = [
        threading.Thread(target=lambda: found.append((slow.last, slow.first))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(2, 1)] * 3 and loads() == 1


def test_what_is_deferred_in_a_command_works_as_ever() -> None:
    program = (
        "import os, sys; from presage.supervise.deferred import defer; defer();"
        "defer(('platform',), system=lambda: os.uname().sysname);"
        "import dataclasses, inspect, platform, uuid, textwrap, ipaddress, dis;"
        "print(type(inspect).__name__, platform.system() == __import__('platform').uname().system);"
        "from inspect import signature; print(signature(lambda a, b=1: 0), type(inspect).__name__);"
        "print(dis.opname[0] != '', ipaddress.ip_address('::1'), textwrap.dedent(' a'))"
    )
    assert in_process(program).split("\n")[:3] == [
        "Deferred True",
        "(a, b=1) module",
        "True ::1 a",
    ]


def test_msgspec_has_the_same_from_typing_as_from_typing_extensions() -> None:
    pytest.importorskip("typing_extensions")
    compared = (
        "import sys, typing, typing_extensions as more\n"
        "from msgspec import _utils\n"
        "same = [getattr(typing, n) is getattr(more, n) for n in ('Required', 'NotRequired')]\n"
        "class Plain(typing.Generic[typing.TypeVar('T')]):\n"
        "    a: 'typing.Annotated[int, 1]'\n"
        "    b: 'typing.Optional[int]' = None\n"
        "hints = [m.get_type_hints(Plain, include_extras=True) for m in (typing, more)]\n"
        "print(all(same), hints[0] == hints[1])"
    )
    assert in_process(compared) == "True True\n"


def test_a_module_left_out_is_left_out_only_meanwhile() -> None:
    seen: list[object] = []
    deferred.without("no_such_module", lambda: seen.append(sys.modules["no_such_module"]), 5)
    assert seen == [5] and "no_such_module" not in sys.modules
    deferred.without("os", lambda: seen.append(sys.modules["os"]), 5)
    assert seen[1] is os


def test_a_module_of_a_package_is_deferred_before_the_package_is_loaded() -> None:
    program = (
        "import sys; from presage.supervise.deferred import defer; defer(('msgspec.inspect',));"
        "import msgspec; deferred = type(sys.modules['msgspec.inspect']).__name__;"
        "print(deferred, msgspec.inspect.type_info(int), msgspec.json.schema(int))"
    )
    assert in_process(program) == "Deferred IntType(gt=None, ge=None, lt=None, le=None," + (
        " multiple_of=None) {'type': 'integer'}\n"
    )
