"""A network with nothing but this machine in it, for what is started here.

Ray listens on the address by which the machine is known outside, whatever it is asked. In a network
namespace that has only `lo` there is no such address, so nothing outside can connect. The thread
that enters one takes what it starts along; it leaves again when it is done.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP = 1


@contextmanager
def only_loopback() -> Iterator[bool]:
    """Be where there is only `lo`, where that is allowed; says whether it is."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        before = os.open("/proc/self/ns/net", os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        if libc.unshare(CLONE_NEWNET) != 0:
            yield False
            return
        try:
            _raise_loopback()
            yield True
        finally:
            libc.setns(before, CLONE_NEWNET)
    finally:
        os.close(before)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        fcntl.ioctl(plain, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", IFF_UP, b""))
