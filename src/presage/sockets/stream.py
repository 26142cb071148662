"""Connections made of mailboxes: written once, for plain functions and coroutines.

A connection is two mailboxes, one for each direction. A send puts one segment there and does not
wait; a receive gets the first segment, and keeps what it did not return. The end of a direction is
a segment `None`. A listener is a mailbox to which names of connections are put.

What is under way: each socket and listener has at most one get under way, posted by whoever first
waits for it, and kept when that gives up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from presage.mailbox import comm, locks
from presage.mailbox.comm import Activity, misuse
from presage.process.context import Asking, current
from presage.process.ops import NONE, Recv, Send


class Source:
    """What can be waited for: a socket or a listener."""

    def __init__(self, mailbox: str) -> None:
        self._from = mailbox
        self._under_way: Activity | None = None
        self._arrived: list[Any] = []  # got, and not asked for yet
        self._closed = False

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed


class Stream(Source):
    """One end of a connection."""

    def __init__(self, name: str, *, accepts: bool) -> None:
        there, back = f"{name}, sent", f"{name}, answered"
        super().__init__(there if accepts else back)
        self._to = back if accepts else there
        self.name = name


S = TypeVar("S", bound=Stream)


class Door(Source, Generic[S]):
    """Where connections come in."""

    def __init__(self, address: str) -> None:
        super().__init__(f"listening at {address}")
        self.address = address


def open_connection(address: str, timeout: float | None) -> Asking[str]:
    """Wait until somebody accepts; the name of the connection."""
    context = current()
    number = context.notes.get("connections", 0)
    context.notes["connections"] = number + 1
    name = f"connection {number} of {context.name} to {address}"
    call = Activity(Send(f"listening at {address}", name))
    yield from comm.start(call)
    try:
        yield from comm.wait_or_withdraw(call, timeout)
    except comm.TimeoutException as error:
        raise TimeoutError(f"nobody accepts at {address}") from error
    return name


def next_of(source: Source, timeout: float | None) -> Asking[Any]:
    """What arrives first, in the order of arrival."""
    _check_open(source)
    if not source._arrived:
        got = yield from _ask(source)
        try:
            yield from comm.wait_for(got, timeout)
        except comm.TimeoutException as error:
            raise TimeoutError(f"nothing came within {timeout or 0.0:g} s") from error
        _arrive(source)
    return source._arrived.pop(0)


def send(stream: Stream, data: bytes) -> Asking[int]:
    """Send all of `data`, without waiting."""
    _check_open(stream)
    if not isinstance(data, bytes | bytearray | memoryview):
        raise misuse(
            f"sends a `{type(data).__name__}` through a socket",
            "text that was not encoded",
            "send bytes: `text.encode()`",
        )
    if data:
        yield from locks.drop(stream._to, bytes(data))
    return len(data)


def recv(stream: Stream, size: int, timeout: float | None = None) -> Asking[bytes]:
    """Wait for data: at most `size` bytes of the first segment, b"" at the end."""
    segment = yield from next_of(stream, timeout)
    if segment is None:
        stream._arrived.insert(0, None)  # the end is the end, however often one looks
        return b""
    data: bytes = segment[:size]
    if len(data) < len(segment):
        stream._arrived.insert(0, segment[size:])
    return data


def close(source: Source) -> Asking[None]:
    """Send, or accept, no more; once the other end of a connection has received all, it receives
    b"". Who connects later waits for ever."""
    if source._closed:
        return
    if source._under_way is not None:
        if not (yield from comm.cancel(source._under_way)):
            yield from comm.wait(source._under_way)
        source._under_way = None
    source._closed = True
    if isinstance(source, Stream):
        yield from locks.drop(source._to, None)


def select(
    readers: Sequence[Source], writers: Sequence[Source], timeout: float | None
) -> Asking[tuple[list[Source], list[Source]]]:
    """Wait until something can be read without waiting; a socket can always be written to."""
    for source in (*readers, *writers):
        _check_open(source)
    comms = []
    for source in readers:
        if not source._arrived:
            comms.append((yield from _ask(source)))
    if not (writers or any(source._arrived for source in readers)):
        if not comms and timeout is None:
            raise misuse(
                "selects among no sockets, which never ends",
                "all connections were closed",
                "ask whether some are left before selecting",
            )
        found = (yield from comm.wait_any_for(comms, timeout)) if comms else NONE
        if found == NONE:
            return [], []
    for source in readers:
        if source._under_way is not None and (yield from comm.test(source._under_way)):
            _arrive(source)
    return [source for source in readers if source._arrived], list(writers)


def _ask(source: Source) -> Asking[Activity]:
    if source._under_way is None:
        source._under_way = Activity(Recv(source._from))
        yield from comm.start(source._under_way)
    return source._under_way


def _arrive(source: Source) -> None:
    assert source._under_way is not None
    source._arrived.append(source._under_way.get_payload())
    source._under_way = None


def _check_open(source: Source) -> None:
    if source._closed:
        raise misuse(
            "uses a socket that it has closed",
            "a socket that stayed in a list after it was closed",
            "take it out of the list where it is closed",
        )
