"""`presage.sockets` for `async def` processes: the same names, to await."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from presage.mailbox.forms import awaited
from presage.process.context import awaiting
from presage.sockets import stream
from presage.sockets.stream import Door, Source, Stream

__all__ = ["Listener", "Socket", "connect", "listen", "select"]


class Socket(Stream):
    """One end of a connection. One send is one segment."""

    send = awaited(stream.send)
    recv = awaited(stream.recv)
    close = awaited(stream.close)


class Listener(Door[Socket]):
    """Where connections come in."""

    close = awaited(stream.close)

    async def accept(self, timeout: float | None = None) -> Socket:
        """Wait for a connection."""
        return Socket(await awaiting(stream.next_of(self, timeout)), accepts=True)


def listen(address: str) -> Listener:
    """Listen at an address, which is any text; one process may listen at each."""
    return Listener(address)


async def connect(address: str, timeout: float | None = None) -> Socket:
    """Wait until the connection is accepted."""
    return Socket(await awaiting(stream.open_connection(address, timeout)), accepts=False)


async def select(
    readers: Sequence[Socket | Listener],
    writers: Sequence[Socket] = (),
    timeout: float | None = None,
) -> tuple[list[Socket | Listener], list[Socket]]:
    """Which of `readers` have something to receive or accept, and `writers`, which always can.

    Waits until there is one, or until the timeout, and then both lists are empty.
    """
    ready: tuple[list[Source], list[Source]] = await awaiting(
        stream.select(readers, writers, timeout)
    )
    return cast("tuple[list[Socket | Listener], list[Socket]]", ready)
