"""Operations of `threading`, `queue` and `concurrent.futures`: each is one step of its thread.

Others may go first where it begins, and where it has to wait. In between it is alone: all of these
operations hold a lock while they do what they do.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from presage.frontends.mpi.threads.lines import user_line
from presage.frontends.mpi.threads.threads import running_threads

# Module, class, and methods; those behind a `?` look, and a loop of them may wait for others.
OPERATIONS = """
threading            _RLock            acquire
threading            Condition         wait wait_for notify notify_all
threading            Semaphore         acquire release
threading            BoundedSemaphore  release
threading            Event             set clear wait ? is_set
threading            Barrier           wait reset abort
threading            Thread            start join ? is_alive
queue                Queue             put get task_done join ? qsize empty full
queue                _PySimpleQueue    put get ? qsize empty
concurrent.futures._base  Future       result exception cancel set_result set_exception \
 add_done_callback set_running_or_notify_cancel ? done running cancelled
concurrent.futures.thread ThreadPoolExecutor  submit shutdown
"""
NEUTRAL = ("RLock.acquire", "Semaphore.acquire")
# They change nothing: others may go on where they wait, or else behind them.
HARMLESS = ("Thread.join", "Event.wait", "Future.result", "Future.exception")
WAITING = (*HARMLESS, "Thread.start")
ORDERED = (("threading", "Thread"), ("concurrent.futures._base", "Future"))


def _table() -> dict[str, list[tuple[str, str, str, bool]]]:
    """Of each module: class, method, what it is called, and whether it looks."""
    found: dict[str, list[tuple[str, str, str, bool]]] = {}
    for line in OPERATIONS.strip().splitlines():
        owner, kind, *methods = line.split()
        acts = methods[: methods.index("?")] if "?" in methods else methods
        title = kind.removeprefix("_Py").removeprefix("_")
        for method in methods:
            if method != "?":
                row = kind, method, f"{title}.{method}", method not in acts
                found.setdefault(owner, []).append(row)
    return found


TABLE = _table()


def guard(name: str, module: ModuleType) -> None:
    """Let the operations of a copied module be steps."""
    names = module.__dict__
    for kind, method, title, looks in TABLE.get(name, ()):
        cls = names[kind]
        setattr(cls, method, _operation(vars(cls)[method], title, looks))
    for owner, kind in ORDERED:
        if owner == name:
            names[kind].__hash__ = _number
    if name == "threading":
        for kind in ("_RLock", "Semaphore"):
            names[kind].__enter__ = names[kind].acquire


def _operation(function: Callable[..., Any], title: str, looks: bool) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        threads = running_threads()
        if threads is None or threads.current.depth:
            return function(*args, **named)
        thread = threads.current
        turns, before = threads.turns, sum(thread.vain.values())
        threads.begin(title, yields=title not in WAITING)
        try:
            result = function(*args, **named)
            if looks:
                threads.tested_in_vain(f"{title} of {id(args[0])} at {user_line()}")
            elif title in NEUTRAL:
                threads.touched()
            elif sum(thread.vain.values()) <= before:
                threads.done_something()
            return result
        finally:
            thread.depth -= 1
            if title in HARMLESS and threads.turns == turns:
                threads.give_way()

    return call


def _number(self: Any) -> int:
    """A hash by which sets have the order in which things were made: it is the same in each run."""
    known = self.__dict__.get("number given by presage")
    if known is None:
        threads = running_threads()
        known = id(self) >> 4 if threads is None else threads.count("object")
        self.__dict__["number given by presage"] = known
    return int(known)
