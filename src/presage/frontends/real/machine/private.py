"""Every private name of CPython that the machine touches, with the versions that have it.

A test compares the code of the machine with this table, so a new version of Python is a matter of
this table. `missing()` says what the running version lacks of what it should have.
"""

from __future__ import annotations

import asyncio
import concurrent.futures.thread
import importlib
import sys
import threading
from typing import Any

# Owner, names, and the first and last version that has them.
TABLE = """
asyncio.events               _get_running_loop _set_running_loop               3.11 3.13
asyncio.events               _event_loop_policy BaseDefaultEventLoopPolicy._Local  3.11 3.13
asyncio.events               Handle._callback Handle._args Handle._cancelled   3.11 3.13
asyncio.futures              _get_loop Future._callbacks                       3.11 3.13
asyncio.futures              Future._exception Future._log_traceback           3.11 3.13
asyncio.runners              Runner._lazy_init                                 3.11 3.13
asyncio.tasks                _all_tasks                                        3.11 3.11
asyncio.tasks                _scheduled_tasks                                  3.12 3.13
loop                         _ready _scheduled _task_factory                   3.11 3.13
loop                         _default_executor _getaddrinfo_debug              3.11 3.13
main                         _tstate_lock                                      3.11 3.12
main                         _handle                                           3.13 3.13
main                         _ident                                            3.11 3.13
runner                       _loop                                             3.11 3.13
timeout                      _task                                             3.11 3.13
threading                    _active _limbo _counter _register_atexit          3.11 3.13
threading                    _PyRLock _MainThread                              3.11 3.13
threading                    _set_sentinel _start_new_thread                   3.11 3.12
threading                    _shutdown_locks _shutdown_locks_lock              3.11 3.12
threading                    _start_joinable_thread _get_main_thread_ident     3.13 3.13
threading                    _ThreadHandle _make_thread_handle                 3.13 3.13
threading                    _thread_local_info                                3.13 3.13
queue                        _PySimpleQueue                                    3.11 3.13
concurrent.futures.thread    _threads_queues _shutdown _global_shutdown_lock   3.11 3.13
concurrent.futures.thread    ThreadPoolExecutor._counter                       3.11 3.13
importlib._bootstrap         _module_locks                                     3.11 3.13
warnings                     _warn_unawaited_coroutine                         3.11 3.13
random                       _urandom                                          3.11 3.13
selectors                    SelectSelector._select PollSelector._selector_cls 3.11 3.13
selectors                    EpollSelector._selector_cls                       3.11 3.13
socket                       _GiveupOnSendfile                                 3.11 3.13
tempfile                     _get_candidate_names _gettempdir _io              3.11 3.13
sys                          _getframe                                         3.11 3.13
"""


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


def entries() -> list[tuple[str, str, tuple[int, int], tuple[int, int]]]:
    """Owner, name, first and last version."""
    found = []
    for line in TABLE.strip().splitlines():
        owner, *names, first, last = line.split()
        found += [(owner, name, _version(first), _version(last)) for name in names]
    return found


def missing() -> list[str]:
    """What this version of Python should have and lacks; all of a version that is not known."""
    loop = asyncio.SelectorEventLoop()
    objects = {
        "loop": loop,
        "main": threading.main_thread(),
        "runner": asyncio.Runner(),
        "timeout": asyncio.Timeout(None),
    }
    running, absent = sys.version_info[:2], []
    newest = max(last for *_, last in entries())
    for owner, name, first, last in entries():
        if not first <= running <= last and running <= newest:
            continue
        found: Any = objects.get(owner) or importlib.import_module(owner)
        for part in name.split("."):
            found = getattr(found, part, entries)  # a value that no name has
        if found is entries:
            absent.append(f"{owner}.{name}")
    loop.close()
    return absent


def _present(*names: tuple[Any, str]) -> list[tuple[Any, str]]:
    return [(owner, name) for owner, name in names if hasattr(owner, name)]


# The set in which asyncio keeps the tasks of all loops.
ALL_TASKS: Any = getattr(
    *_present((asyncio.tasks, "_all_tasks"), (asyncio.tasks, "_scheduled_tasks"))[0]
)
# Locks of modules that are held while a thread waits, or may be.
LOCKS = _present(
    (concurrent.futures.thread, "_global_shutdown_lock"), (threading, "_shutdown_locks_lock")
)
SETS = _present((threading, "_shutdown_locks"))
# What `threading` itself keeps per thread.
LOCALS = _present((threading, "_thread_local_info"))
# Its `_module_locks` has the lock of each module that is being imported.
BOOTSTRAP: Any = importlib._bootstrap
# Where `Lock` is a class, and not a function: since 3.13.
LOCK_CLASSES = [(threading, "Lock")] if isinstance(threading.Lock, type) else []
