"""Connections by themselves: what their transports bring, in which pieces and order ever."""

from __future__ import annotations

import asyncio
import random
import socket
from typing import Any, cast

import pytest

from presage.runtime.connection import Connection
from presage.runtime.frame import (
    BadFrame,
    Frame,
    Hello,
    Kind,
    Messages,
    encode,
    hello_frame,
)

PEERS = ("a", "b", "c")


class Transport:
    """Of one connection: whether it is read from, and what was written."""

    def __init__(self) -> None:
        self.reading = True
        self.aborted = False
        self.closing = False
        self.written = b""
        self._socket = socket.socket()

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def write(self, data: bytes) -> None:
        assert not self.closing, "asyncio would complain on standard error"
        self.written += data

    def is_closing(self) -> bool:
        return self.closing

    def get_extra_info(self, name: str) -> Any:
        return self._socket

    def abort(self) -> None:
        self.aborted = True
        self._socket.close()


class Owner:
    """Takes frames of each peer, as many as it has room for."""

    def __init__(self) -> None:
        self.hello = Hello("me", "ab12", "1", 1)
        self.frame_max = 4096
        self.keep_alive = 1.0
        self.paused: set[Connection] = set()
        self.bytes_read = 0
        self.reading = memoryview(bytearray(500))
        self.space = dict.fromkeys(PEERS, 10**9)
        self.got: dict[str, list[Any]] = {name: [] for name in PEERS}
        self.faults: list[str] = []
        self.over: list[str] = []
        self.settled = 0

    def greeted(self, connection: Connection, said: Hello) -> str | None:
        connection.accept(said)
        return None

    def passed(self, connection: Connection, frame: Frame) -> None:
        assert connection.peer is not None
        if frame.kind is Kind.BYE:
            raise BadFrame("not now")
        self.got[connection.peer].append((frame.kind, frame.body))

    def messages(self, peer: str, messages: Messages) -> None:
        assert len(messages.bodies) <= self.space[peer]
        self.space[peer] -= len(messages.bodies)
        self.got[peer] += [(Kind.MESSAGE, body) for body in messages.bodies]

    def settle(self) -> None:
        self.settled += 1

    def room(self, peer: str) -> int:
        return self.space[peer]

    def faulty(self, connection: Connection, reason: str) -> None:
        self.faults.append(reason)

    def ended(self, connection: Connection, reason: str) -> None:
        self.over.append(reason)


def connected(owner: Owner) -> tuple[Connection, Transport]:
    connection, transport = Connection(owner, opener=False), Transport()
    connection.connection_made(cast("asyncio.Transport", transport))
    return connection, transport


def bring(connection: Connection, data: bytes) -> None:
    """Let one read bring `data`, as an event loop does it."""
    buffer = connection.get_buffer(-1)
    buffer[: len(data)] = data
    connection.buffer_updated(len(data))
    buffer[: len(data)] = b"\xff" * len(data)  # whose it is next


def spoken(dice: random.Random, name: str) -> tuple[bytes, list[Any]]:
    """All that a peer says, and what is to be made of it."""
    frames = [
        Frame(dice.choice((Kind.MESSAGE, Kind.MESSAGE, Kind.ALIVE)), 1, 2, at, dice.randbytes(9))
        for at in range(dice.randrange(40))
    ]
    said = hello_frame(Hello(name, "ab12", "1", 1))
    data = b"".join(map(encode, (said, *frames)))
    return data, [(frame.kind, frame.body) for frame in frames]


@pytest.mark.parametrize("seed", range(30))
def test_reads_of_several_connections_in_any_pieces_are_not_mixed_up(seed: int) -> None:
    async def test() -> None:
        dice, owner = random.Random(seed), Owner()
        bounded = seed % 2 == 1
        if bounded:
            owner.space = dict.fromkeys(PEERS, 3)
        left, wanted, made = {}, {}, {}
        for name in PEERS:
            left[name], wanted[name] = spoken(dice, name)
            made[name] = connected(owner)
        while any(left.values()):
            name = dice.choice([each for each in PEERS if left[each]])
            connection, transport = made[name]
            if bounded and dice.random() < 0.5:
                owner.space[name] = 3
                connection.advance()
            if transport.reading:
                size = dice.randint(1, 200)
                bring(connection, left[name][:size])
                left[name] = left[name][size:]
        for name, (connection, transport) in made.items():
            while bounded and len(owner.got[name]) < len(wanted[name]):
                owner.space[name] = 3
                connection.advance()
            assert owner.got[name] == wanted[name]
            assert transport.reading and connection.is_open
            connection.reset("the end")
            assert transport.aborted
        assert owner.faults == []

    asyncio.run(test())


def test_reading_pauses_while_there_is_no_room_and_bytes_wait() -> None:
    async def test() -> None:
        owner = Owner()
        connection, transport = connected(owner)
        owner.space["a"] = 1
        bring(connection, encode(hello_frame(Hello("a", "ab12", "1", 1))))
        bring(connection, encode(Messages(0, 1, 0, [b"one", b"two"])))
        assert owner.got["a"] == [(Kind.MESSAGE, b"one")]
        assert not transport.reading and owner.paused == {connection}
        owner.space["a"] = 1
        owner.paused.clear()
        connection.advance()
        assert owner.got["a"][1:] == [(Kind.MESSAGE, b"two")] and transport.reading
        connection.reset("the end")

    asyncio.run(test())


def test_nothing_is_passed_on_after_a_frame_that_means_nothing() -> None:
    async def test() -> None:
        owner = Owner()
        connection, transport = connected(owner)
        bring(connection, encode(hello_frame(Hello("a", "ab12", "1", 1))))
        bad = encode(Frame(Kind.BYE)) + encode(Messages(0, 1, 0, [b"one"]))
        bring(connection, encode(Frame(Kind.ALIVE)) + bad)
        bring(connection, encode(Messages(0, 1, 0, [b"two"])))
        assert owner.got["a"] == [(Kind.ALIVE, b"")]
        assert transport.aborted and owner.over == owner.faults == ["not now"]
        assert not connection.is_open

    asyncio.run(test())


def test_nothing_is_written_to_a_transport_whose_last_write_has_failed() -> None:
    async def main() -> None:
        connection, transport = connected(Owner())
        before = transport.written
        transport.closing = True  # the owner is told in the next turn of the loop
        assert connection.write(b"lost") == 0 and connection.is_open
        assert transport.written == before

    asyncio.run(main())
