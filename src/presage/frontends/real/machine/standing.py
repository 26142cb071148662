"""Where a process stands, as far as its kernel and its loops know: what every view needs.

A view that a user writes says what the program holds. What the kernel holds for it is the same for
all programs, so it is added to each view: open sockets with what waits in them, threads with what
they wait for, timers by their order, tasks by the names of their coroutines.

Left out on purpose: what a clock says, and by how much deadlines differ. Only their order counts.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import Any

from presage.frontends.real.machine.datagrams import DatagramEnd
from presage.frontends.real.machine.descriptors import Description
from presage.frontends.real.machine.flocks import HELD
from presage.frontends.real.machine.greenlets import SimulatedThread, describe_wait
from presage.frontends.real.machine.opened import OpenFile
from presage.frontends.real.machine.pairs import PipeEnd, UnixEnd
from presage.frontends.real.machine.process import Process
from presage.frontends.real.machine.tcp import StreamEnd

SIZE = 16


def standing(process: Process) -> bytes:
    """A digest of all that the kernel and the loops of a process hold."""
    open_numbers = sorted(process.stack.descriptors.open.items())
    held = (
        [_thread(each) for each in process.threads],
        _by_deadline(process.threads),
        [(number, _description(each)) for number, each in open_numbers],
        sorted(map(repr, process.stack.connections)),
        _tasks(process),
        _locked(process, open_numbers),
    )
    return blake2b(repr(held).encode("utf-8", "replace"), digest_size=SIZE).digest()


def _thread(thread: SimulatedThread) -> Any:
    return thread.name, thread.what, thread.deadline is None, thread.is_paused, _timers(thread)


def _by_deadline(threads: list[SimulatedThread]) -> list[tuple[str, str]]:
    waiting = [(each.deadline, at, each) for at, each in enumerate(threads) if each.deadline]
    return [(each.name, describe_wait(each)) for _, _, each in sorted(waiting, key=_order)]


def _order(entry: tuple[float, int, Any]) -> tuple[float, int]:
    return entry[:2]


def _timers(thread: SimulatedThread) -> list[str]:
    """The timers of a thread's loop that were not cancelled, the earliest first."""
    scheduled = getattr(thread.loop, "_scheduled", ())
    handles = sorted(each for each in scheduled if not each._cancelled)
    return [_name(each._callback) for each in handles]


def _tasks(process: Process) -> list[tuple[str, int]]:
    """How many tasks are pending, by the names of their coroutines."""
    tasks = process.aio.tasks if "aio" in process.__dict__ else ()
    return sorted(Counter(_name(task.get_coro()) for task in tasks if not task.done()).items())


def _locked(process: Process, numbers: list[tuple[int, Description]]) -> list[tuple[int, bool]]:
    """The descriptors that hold locks on files, and whether for themselves alone."""
    held: dict[Description, bool] = {}
    for each in process.notes.get(HELD, {}).values():
        held |= each
    return [(number, held[each]) for number, each in numbers if each in held]


def _name(thing: Any) -> str:
    while hasattr(thing, "func"):
        thing = thing.func
    return str(getattr(thing, "__qualname__", type(thing).__qualname__))


def _description(end: Description) -> Any:
    common = (type(end).__name__, end.nonblocking)
    if isinstance(end, StreamEnd):
        flags = (end.error, end.read_shut, end.write_shut, end.fin_received, end.choked)
        waiting = (bytes(end.inbox), tuple(end.held), [_description(each) for each in end.queue])
        return *common, end.state, end.phase, end.local, end.remote, flags, waiting
    if isinstance(end, DatagramEnd):
        return *common, end.local, end.remote, end.error, list(end.queue)
    if isinstance(end, UnixEnd):
        shut = (end.read_shut, end.write_shut, end.peer is None)
        return *common, list(end.messages), list(map(_description, end.queue)), end.bound, shut
    if isinstance(end, OpenFile):
        return *common, end.at, end.flags
    if isinstance(end, PipeEnd):
        return *common, end.reads, bytes(end._data), end._other is None
    return common
