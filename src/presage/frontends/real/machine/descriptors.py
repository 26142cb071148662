"""File descriptors of a simulated process, and what they stand for.

A descriptor is a number; it stands for a description, which several numbers may share (`dup`). The
numbers begin far above those that the real kernel gives, and the lowest free one is given, as POSIX
says. A number of the real kernel therefore never means something here, nor the reverse.

Invariant: a description is released exactly once, when its last number is closed and no thread
waits in it.
"""

from __future__ import annotations

import errno
import os
from heapq import heappop, heappush

FIRST = 1 << 20  # above every limit on open files that a kernel has

IN, PRI, OUT, ERR, HUP, RDHUP = 0x001, 0x002, 0x004, 0x008, 0x010, 0x2000
RDNORM, WRNORM = 0x040, 0x100
READABLE, WRITABLE = IN | RDNORM, OUT | WRNORM


def failure(number: int) -> OSError:
    """The exception for an error number; its class follows from the number."""
    return OSError(number, os.strerror(number))


class Description:
    """What a descriptor stands for; a socket, an end of a pipe, a poller."""

    __slots__ = ("changes", "nonblocking", "refs")

    pollable = True  # by epoll; what never waits is not

    def __init__(self) -> None:
        self.refs = 0  # numbers, and threads that wait in it
        self.changes = 0  # how often something came in; what is triggered by edges looks here
        self.nonblocking = False  # O_NONBLOCK, as `os.set_blocking` and `fcntl` see it

    def mask(self) -> int:
        """What `poll` would say of it."""
        raise NotImplementedError

    def release(self) -> None:
        """Its last number was closed."""

    def can_read(self) -> bool:
        """Whether a read returns at once, be it with an error."""
        return bool(self.mask() & (IN | ERR | HUP))

    def can_write(self) -> bool:
        return bool(self.mask() & (OUT | ERR | HUP))

    def read(self, size: int) -> bytes:
        """What `os.read` does with it, once it `can_read`."""
        raise failure(errno.EINVAL)

    def write(self, data: bytes) -> int:
        """What `os.write` does with it, once it `can_write`."""
        raise failure(errno.EINVAL)

    def forget(self) -> None:
        """One number or waiting thread less."""
        self.refs -= 1
        if not self.refs:
            self.release()


class Descriptors:
    """The open descriptors of one process."""

    __slots__ = ("_free", "_next", "open")

    def __init__(self, first: int = FIRST) -> None:
        self.open: dict[int, Description] = {}
        self._free: list[int] = []  # a heap
        self._next = first

    def add(self, description: Description) -> int:
        """A number for it, the lowest that is free."""
        number = self._lowest()
        while number in self.open:  # `dup2` took it
            number = self._lowest()
        self.open[number] = description
        description.refs += 1
        return number

    def _lowest(self) -> int:
        if self._free:
            return heappop(self._free)
        self._next += 1
        return self._next - 1

    def get(self, number: int) -> Description:
        description = self.open.get(number)
        if description is None:
            raise failure(errno.EBADF)
        return description

    def close(self, number: int) -> None:
        description = self.open.pop(number, None)
        if description is None:
            raise failure(errno.EBADF)
        if number >= FIRST:
            heappush(self._free, number)
        description.forget()

    def dup(self, number: int) -> int:
        return self.add(self.get(number))
