"""`presage.sockets` for `async def` processes: the same names, to await."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from presage.process.context import awaiting
from presage.sockets import stream
from presage.sockets.stream import Door, Source, Stream

__all__ = ["Listener", "Socket", "connect", "listen", "select"]


class Socket(Stream):
    """One end of a connection. One send is one segment."""

    async def send(self, data: bytes) -> int:
        """Send all of `data`, without waiting."""
        return await awaiting(stream.send(self, data))

    async def recv(self, size: int, timeout: float | None = None) -> bytes:
        """Wait for data: at most `size` bytes of the first segment, b"" at the end."""
        return await awaiting(stream.receive(self, size, timeout))

    async def close(self) -> None:
        """Send no more; once the other end has received all, it receives b""."""
        await awaiting(stream.close(self))


class Listener(Door[Socket]):
    """Where connections come in."""

    async def accept(self, timeout: float | None = None) -> Socket:
        """Wait for a connection."""
        return Socket(await awaiting(stream.next_of(self, timeout)), accepts=True)

    async def close(self) -> None:
        """Accept no more; who connects later waits for ever."""
        await awaiting(stream.close(self))


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
