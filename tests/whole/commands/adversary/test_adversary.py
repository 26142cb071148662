"""Misbehaving code, run by real commands: each is reported with its line, and nothing is lost."""

import pytest
from whole.commands.adversary import cases
from whole.commands.adversary.cases import Case
from whole.commands.harness import run_cold, told, write

TEXT = """
    import _thread, asyncio, copy, ctypes, datetime, decimal, faulthandler, glob, hashlib, io
    import itertools, logging, mmap, multiprocessing, os, pathlib, random, re, resource, secrets
    import shutil, signal, socket, sqlite3, subprocess, sys, tempfile, threading, time, traceback
    import uuid, warnings, zlib
    from concurrent import futures
    from dataclasses import dataclass
    from os import listdir
    from time import time as now

    LIBC = ctypes.CDLL(None)
    for function in (LIBC._exit, LIBC.abort, LIBC.strlen):
        pass
    COUNT, KEPT = itertools.count(), []
    MODULE

    @dataclass(frozen=True)
    class Frozen:
        text: str

    class Node(Service):
        n: int = 0
        x: str = ""
        @action(when=lambda self: (GUARD, self.n < 1)[1])
        def go(self) -> None:
            self.n += 1
            HANDLER

    @always
    def fine(world):
        PROPERTY
        return True

    def system() -> System:
        return System(nodes={"n0": Node()}, properties=[fine])
"""
FINE = {"MODULE": "pass", "GUARD": "None", "HANDLER": "pass", "PROPERTY": "pass"}
# One of each kind is tried each time; all of them with the slow tests.
QUICK = {
    *("open('x')", "os.environ['HOME']", "socket.socket()", "os.fork()", "os.closerange(0, 500)"),
    *("signal.signal(signal.SIGINT, signal.SIG_IGN)", "LIBC._exit(0)", "sys.exit(0)"),
    *("threading.Thread(target=print).start()", "7**10**8", "return next(COUNT) % 2 == 0"),
    "import numpy; numpy.random.rand()",
}


def parameters(given: list[Case]) -> list[object]:
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(each, id=each.code, marks=marks[each.code in QUICK]) for each in given]


def attempt(part: str, case: Case) -> None:
    text = TEXT
    for name, code in (FINE | {part: case.code}).items():
        mark = "  # HERE" if name == part and name != "GUARD" and "\n" not in code else ""
        text = text.replace(f"{name}\n", f"{code}{mark}\n").replace(f"({name},", f"({code},")
    place = write(text)
    ended = run_cold("check", "bad.py", "--json", "--handler-seconds", "1")
    assert ended.returncode == case.status, ended.stderr
    assert "Traceback" not in ended.stderr
    assert case.needle in ended.stderr + ended.stdout
    if ended.returncode in (2, 3):
        assert ended.stdout == "" and "\nerror: " in f"\n{ended.stderr}"
    unplaced = ("run twice from the same", "ended the process, with exit", "gave another verdict")
    if ":" in place and ended.returncode == 3 and not any(u in ended.stderr for u in unplaced):
        assert f"error: {place}: " in ended.stderr


@pytest.mark.parametrize("case", parameters(cases.HANDLER))
def test_a_handler_that_misbehaves_is_reported(case: Case) -> None:
    attempt("HANDLER", case)


@pytest.mark.parametrize("case", parameters(cases.STUCK))
def test_a_handler_that_never_ends_is_ended(case: Case) -> None:
    attempt("HANDLER", case)


@pytest.mark.parametrize("case", parameters(cases.PROPERTY))
def test_a_property_that_misbehaves_is_reported(case: Case) -> None:
    attempt("PROPERTY", case)


@pytest.mark.parametrize("case", parameters(cases.GUARD))
def test_a_guard_that_misbehaves_is_reported(case: Case) -> None:
    attempt("GUARD", case)


@pytest.mark.parametrize("case", parameters(cases.MODULE))
def test_a_module_that_misbehaves_while_it_is_loaded_is_reported(case: Case) -> None:
    attempt("MODULE", case)


def test_ordinary_code_is_left_alone() -> None:
    body = "\n            ".join(cases.HARMLESS)
    text = TEXT.replace("HANDLER\n", f"{body}\n")
    for name, code in FINE.items():
        text = text.replace(f"{name}\n", f"{code}\n").replace(f"({name},", f"({code},")
    write(text)
    assert told(run_cold("check", "bad.py", "--json"), 0)["exhausted"]
