"""`select`, `poll` and `epoll` in a simulated process: one scan of what is ready behind all three.

`selectors`, and so asyncio and `socketserver`, run unmodified on top. What is ready is listed in
the order of registration, so it is the same in every run.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from typing import Any

from presage.frontends.real.machine.descriptors import (
    ERR,
    HUP,
    IN,
    OUT,
    PRI,
    RDNORM,
    WRNORM,
    Description,
    failure,
)
from presage.frontends.real.machine.stack import Owner, Stack, here

# Which answers of `poll` count for each list of `select`, as in Linux.
READS, WRITES, EXCEPTS = RDNORM | IN | HUP | ERR, WRNORM | OUT | ERR, PRI

ONESHOT, EDGE = 1 << 30, 1 << 31
CLOEXEC = 0o2000000
NVAL = 0x020
ALWAYS = ERR | HUP  # told even if nobody asks for them


def descriptor_of(thing: Any) -> int:
    """The number that `select` means by this."""
    number = thing if isinstance(thing, int) else getattr(thing, "fileno", lambda: None)()
    if not isinstance(number, int):
        raise TypeError("argument must be an int, or have a fileno() method.")
    if number < 0:
        raise ValueError(f"file descriptor cannot be a negative integer ({number})")
    return number


class Wait:
    """One call of a poller: what it found, and whether that still holds.

    A scan holds until a thread runs or a stimulus comes, so the scheduler may ask for it often.
    """

    __slots__ = ("_fresh", "_process", "_scan", "_step", "_turn", "found")

    def __init__(self, process: Owner, scan: Callable[[], list[Any]]) -> None:
        self._process, self._scan = process, scan
        self.found = scan()
        self._fresh = True  # the thread that asks has done nothing since
        self._step, self._turn = process.steps, process.turns + 1  # from the moment when it waits

    def is_ready(self) -> bool:
        if self._fresh:
            self._fresh = False
            return bool(self.found)
        process = self._process
        thread = process.thread
        if thread is None or getattr(thread.ready, "__self__", None) is self:
            if self._step != process.steps or self._turn != process.turns:
                self.found, self._step, self._turn = self._scan(), process.steps, process.turns
        else:  # another thread runs, and may change something in a moment
            self.found, self._step, self._turn = self._scan(), -1, -1
        return bool(self.found)

    def holds(self) -> bool:
        """Whether nothing can have changed since the last scan."""
        return self._step == self._process.steps and self._turn == self._process.turns


def await_ready(stack: Stack, scan: Callable[[], list[Any]], timeout: float | None) -> list[Any]:
    """Wait until `scan` finds something, or the timeout; gives what it found."""
    process = stack.process
    deadline = None if timeout is None else process.now + timeout
    while True:
        wait, turns = Wait(process, scan), process.turns
        if wait.found:
            process.note_poll()
        if not process.block(wait.is_ready, deadline, "select"):
            return []
        if process.turns == turns or wait.holds():
            return wait.found


def select(
    reads: Iterable[Any],
    writes: Iterable[Any],
    excepts: Iterable[Any],
    timeout: float | None = None,
    /,
) -> tuple[list[Any], list[Any], list[Any]]:
    """As `select.select`."""
    stack = here()
    if timeout is not None and timeout < 0:
        raise ValueError("timeout must be non-negative")
    watched = [
        (at, thing, stack.descriptors.get(descriptor_of(thing)), events)
        for at, (things, events) in enumerate(
            ((reads, READS), (writes, WRITES), (excepts, EXCEPTS))
        )
        for thing in things
    ]
    found = await_ready(
        stack, lambda: [(at, t) for at, t, each, bits in watched if each.mask() & bits], timeout
    )
    lists: tuple[list[Any], list[Any], list[Any]] = [], [], []
    for at, thing in found:
        lists[at].append(thing)
    return lists


class Poll:
    """As what `select.poll()` gives."""

    def __init__(self) -> None:
        self._stack = here()
        self._events: dict[int, int] = {}

    def register(self, fd: Any, eventmask: int = IN | PRI | OUT, /) -> None:
        self._events[descriptor_of(fd)] = eventmask

    def modify(self, fd: Any, eventmask: int, /) -> None:
        number = descriptor_of(fd)
        if number not in self._events:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        self._events[number] = eventmask

    def unregister(self, fd: Any, /) -> None:
        del self._events[descriptor_of(fd)]

    def poll(self, timeout: float | None = None, /) -> list[tuple[int, int]]:
        seconds = None if timeout is None or timeout < 0 else timeout / 1000
        return await_ready(self._stack, self._scan, seconds)

    def _scan(self) -> list[tuple[int, int]]:
        found, opened = [], self._stack.descriptors.open
        for number, events in self._events.items():
            description = opened.get(number)
            mask = NVAL if description is None else description.mask() & (events | ERR | HUP)
            if mask:
                found.append((number, mask))
        return found


class _Watched:
    """A registration with an epoll."""

    __slots__ = ("description", "events", "mask", "seen", "wanted")

    def __init__(self, description: Description, events: int) -> None:
        self.description = description
        self.mask = description.mask
        self.ask(events)

    def ask(self, events: int) -> None:
        """From now on, wait for these."""
        self.events = events
        self.wanted = events | ALWAYS
        self.seen: tuple[int, int] | None = None  # the last answer, if edges are wanted


class Epoll(Description):
    """As what `select.epoll()` gives."""

    __slots__ = ("_fd", "_stack", "_watched")

    def __init__(self, sizehint: int = -1, flags: int = 0) -> None:
        if not isinstance(sizehint, int) or not isinstance(flags, int):
            raise TypeError("an integer is required")
        if sizehint != -1 and sizehint <= 0:
            raise ValueError("negative sizehint")
        if flags & ~CLOEXEC:
            raise failure(errno.EINVAL)
        super().__init__()
        self._stack = here()
        self._watched: dict[int, _Watched] = {}
        self._fd = self._stack.descriptors.add(self)

    def fileno(self) -> int:
        self._check()
        return self._fd

    @property
    def closed(self) -> bool:
        return self._fd < 0

    def close(self) -> None:
        number, self._fd = self._fd, -1
        if number >= 0 and self._stack.is_live() and number in self._stack.descriptors.open:
            self._stack.descriptors.close(number)

    def __enter__(self) -> Epoll:
        self._check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self) -> None:
        if self._fd < 0:
            raise ValueError("I/O operation on closed epoll object")

    def _registered(self, number: int) -> _Watched:
        description = self._stack.descriptors.get(number)
        watched = self._watched.get(number)
        if watched is None or watched.description is not description:
            raise failure(errno.ENOENT)
        return watched

    def register(self, fd: Any, eventmask: int = IN | PRI | OUT) -> None:
        self._check()
        number = descriptor_of(fd)
        description = self._stack.descriptors.get(number)
        if not description.pollable:
            raise failure(errno.EPERM)
        watched = self._watched.get(number)
        if watched is not None and watched.description is description:
            raise failure(errno.EEXIST)
        self._watched.pop(number, None)  # one that was closed
        self._watched[number] = _Watched(description, eventmask)

    def modify(self, fd: Any, eventmask: int) -> None:
        self._check()
        watched = self._registered(descriptor_of(fd))
        watched.ask(eventmask)

    def unregister(self, fd: Any) -> None:
        self._check()
        number = descriptor_of(fd)
        self._registered(number)
        del self._watched[number]

    def poll(self, timeout: float | None = None, maxevents: int = -1) -> list[tuple[int, int]]:
        if self._fd < 0:
            self._check()
        if maxevents == 0 or maxevents < -1:
            raise ValueError(f"maxevents must be greater than 0, got {maxevents}")
        seconds = None if timeout is None or timeout < 0 else timeout
        found = await_ready(self._stack, self._scan, seconds)
        if maxevents > 0:
            del found[maxevents:]
        for number, mask in found:
            watched = self._watched[number]
            if watched.events & (ONESHOT | EDGE):
                self._told(watched, mask)
        return found

    def _told(self, watched: _Watched, mask: int) -> None:
        if watched.events & ONESHOT:
            watched.events = ONESHOT
        elif watched.events & EDGE:
            watched.seen = (mask, watched.description.changes)

    def _scan(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for number, watched in self._watched.items():
            mask = watched.mask() & watched.wanted
            if mask:
                events, description = watched.events, watched.description
                if not description.refs or events == ONESHOT:
                    continue
                if events & EDGE and watched.seen == (mask, description.changes):
                    continue
                found.append((number, mask))
        return found

    def mask(self) -> int:
        return IN | RDNORM if self._scan() else 0
