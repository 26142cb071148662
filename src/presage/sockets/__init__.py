"""Sockets for processes that block: streams of bytes, and `select`, made of mailboxes.

stream      connections made of mailboxes
aio         the same names for coroutines, to await
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from presage.mailbox.forms import plain
from presage.process.context import blocking
from presage.sockets import stream
from presage.sockets.stream import Door, Source, Stream

__all__ = ["Listener", "Socket", "connect", "listen", "select"]


class Socket(Stream):
    """One end of a connection. One send is one segment."""

    send = plain(stream.send)
    recv = plain(stream.recv)
    close = plain(stream.close)


class Listener(Door[Socket]):
    """Where connections come in."""

    close = plain(stream.close)

    def accept(self, timeout: float | None = None) -> Socket:
        """Wait for a connection."""
        return Socket(blocking(stream.next_of(self, timeout)), accepts=True)


def listen(address: str) -> Listener:
    """Listen at an address, which is any text; one process may listen at each."""
    return Listener(address)


def connect(address: str, timeout: float | None = None) -> Socket:
    """Wait until the connection is accepted."""
    return Socket(blocking(stream.open_connection(address, timeout)), accepts=False)


def select(
    readers: Sequence[Socket | Listener],
    writers: Sequence[Socket] = (),
    timeout: float | None = None,
) -> tuple[list[Socket | Listener], list[Socket]]:
    """Which of `readers` have something to receive or accept, and `writers`, which always can.

    Waits until there is one, or until the timeout, and then both lists are empty.
    """
    ready: tuple[list[Source], list[Source]] = blocking(stream.select(readers, writers, timeout))
    return cast("tuple[list[Socket | Listener], list[Socket]]", ready)
