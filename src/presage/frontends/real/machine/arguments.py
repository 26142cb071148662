"""Arguments of calls on sockets, checked as the C code of CPython checks them."""

from __future__ import annotations

import os
from operator import index
from typing import Any

PATH_MAX = 108  # bytes of the name of an AF_UNIX socket
INT_MAX = 2**31 - 1
FLOW_MAX = 2**20 - 1


def small(number: Any) -> int:
    """An `int` of C."""
    value = index(number)
    if not -INT_MAX - 1 <= value <= INT_MAX:
        raise OverflowError("Python int too large to convert to C int")
    return value


def descriptor(number: Any) -> int:
    """The number of an open descriptor."""
    if isinstance(number, float):
        raise TypeError("integer argument expected, got float")
    if index(number) < 0:
        raise ValueError("negative file descriptor")
    return index(number)


def inet_address(address: Any, what: str, *, six: bool = False) -> tuple[str, int]:
    """Host and port; `what` is the call. One of IPv6 may have a flow and a scope, too."""
    if type(address) is tuple and len(address) == 2:  # as nearly all are
        host, number = address
        if type(host) is str and type(number) is int and 0 <= number <= 0xFFFF:
            return host, number
    if not isinstance(address, tuple):
        kind, family = type(address).__name__, "AF_INET6" if six else "AF_INET"
        raise TypeError(f"{what}(): {family} address must be tuple, not {kind}")
    if len(address) != 2 and not (six and 2 < len(address) <= 4):
        if six:
            form = "a tuple (host, port[, flowinfo[, scopeid]])"
            raise TypeError(f"AF_INET6 address must be {form}")
        raise TypeError(f"{what}(): AF_INET address must be a pair (host, port)")
    host, port, *more = address
    if more and not 0 <= index(more[0]) <= FLOW_MAX:
        raise OverflowError(f"{what}(): flowinfo must be 0-1048575.")
    if isinstance(host, bytes | bytearray):
        host = host.decode("ascii")
    if not isinstance(host, str):
        raise TypeError(f"str, bytes or bytearray expected, not {type(host).__name__}")
    if not 0 <= (number := index(port)) <= 0xFFFF:
        raise OverflowError(f"{what}(): port must be 0-65535.")
    return host, number


def unix_path(address: Any) -> Any:
    """A name in the file system as text, one in the abstract space as bytes."""
    if not isinstance(address, str | bytes | bytearray):
        kind = type(address).__name__
        raise TypeError(f"a bytes-like object is required, not '{kind}'")
    path = os.fsencode(address) if isinstance(address, str) else bytes(address)
    if len(path) > PATH_MAX:
        raise OSError("AF_UNIX path too long")
    return path if path[:1] == b"\0" else os.fsdecode(path)


def check_ancillary(size: int) -> None:
    """The room for ancillary data, of which there is never any."""
    if index(size) < 0:
        raise ValueError("invalid ancillary data buffer length")


def bytes_of(data: Any) -> bytes:
    """What is to be sent."""
    if isinstance(data, str):
        raise TypeError("a bytes-like object is required, not 'str'")
    return data if isinstance(data, bytes) else bytes(memoryview(data).cast("B"))


def writable(buffer: Any) -> memoryview:
    """Where what is received is put."""
    view = memoryview(buffer).cast("B")
    if view.readonly:
        raise TypeError("a read-write bytes-like object is required")
    return view


def ancillary(items: Any) -> list[tuple[int, int, bytes]]:
    """Items of ancillary data: level, type and bytes of each."""
    checked = []
    for item in items:
        if not isinstance(item, tuple | list) or len(item) != 3:
            raise TypeError("[sendmsg() ancillary data items] must be 3-item sequences")
        level, kind, data = item
        checked.append((small(level), small(kind), bytes_of(data)))
    return checked
