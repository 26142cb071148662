"""Peers that are broken or hostile: no crash, bounded memory, and nobody else is affected."""

from __future__ import annotations

import asyncio
import gc
import random
import socket
import sys

import pytest
from msgspec import structs
from unit.runtime.sockets import Note, Town, dial, run, town, until

from presage.runtime import driver as drivers
from presage.runtime.frame import Frame, Hello, Kind, encode, hello_frame, pack
from presage.runtime.link import Greeting
from presage.runtime.link import encode as encode_greeting


def greeting(life: int = 1 << 16) -> Frame:
    return Frame(Kind.LIFE, 0, life, 0, encode_greeting(Greeting(1, 1, 0, 0)))


def bad_bytes(dice: random.Random, there: Town) -> bytes:
    """What a peer sends that is no peer, or was one until now."""
    said = hello_frame(there.hello("c"))
    codec = there.drivers["a"].node.automaton.codec
    good = [
        encode(said),
        encode(greeting()),
        pack(Kind.MESSAGE, 0, 1 << 16, 0, codec.encode(Note("x"))),
        pack(Kind.ALIVE, 0, 1 << 16, 0),
    ]
    what = dice.randrange(6)
    if what == 0:
        return dice.randbytes(dice.randint(1, 200))
    if what == 1:
        return dice.choice([b"\xff" * 40, b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100])
    data = bytearray(b"".join(good))
    if what == 2:
        return bytes(data[: dice.randrange(len(data))])
    for _ in range(dice.randint(1, 5)):
        data[dice.randrange(len(data))] = dice.randrange(256)
    if what == 3:
        return bytes(data)
    kinds = [Kind.GATHER, Kind.PATH, Kind.CHECKPOINT, Kind.HELLO, Kind.BYE, Kind.LIFE, Kind.MESSAGE]
    body = dice.choice([b"", b"\x01\x11" + bytes(8), b"\x00\x13", dice.randbytes(30)])
    return encode(said) + encode(greeting()) + pack(dice.choice(kinds), 0, 1 << 16, 0, body)


async def attack(there: Town, count: int, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(count):
        fake = await dial(there, "a")
        fake.write(bad_bytes(dice, there))
        if dice.random() < 0.5:
            await asyncio.sleep(0)
        fake.close()


def test_broken_bytes_on_sockets_harm_nobody() -> None:
    async def test() -> None:
        async with town("a", "b", "c", absent=("c",)) as there:
            await there.call("a", "say", "b", "before")
            await there.until("b", "got", ["a: before"])
            await attack(there, 300, 1)
            await there.call("a", "say", "b", "after")
            await there.call("b", "say", "a", "back")
            await there.until("b", "got", ["a: before", "a: after"])
            await until(lambda: "b: back" in there.field("a", "got"))
            assert there.field("b", "lost") == [] and "b" not in there.field("a", "lost")
            assert there.drivers["a"].node.up
            assert len(there.said) < 10  # not once for each

    run(test)


@pytest.mark.slow
def test_ten_thousand_connections_are_refused_in_order() -> None:
    async def test() -> None:
        async with town("a", "b", "c", absent=("c",)) as there:
            await there.call("a", "say", "b", "before")
            await there.until("b", "got", ["a: before"])
            wire = there.drivers["a"].wire
            other = structs.replace(there.hello("c"), definition="0" * 64)
            for at in range(10_000):
                fake = await dial(there, "a", other)
                bye = await fake.frame()
                assert bye is not None and bye.kind is Kind.BYE, at
                fake.close()
                if at == 500:
                    gc.collect()
                    blocks = sys.getallocatedblocks()
            gc.collect()  # in a process with much else Python puts that off for long
            assert sys.getallocatedblocks() - blocks < 5_000  # objects: not one a connection
            assert wire.dismissed == 10_000
            assert wire.connected == 1
            await there.call("a", "say", "b", "after")
            await there.until("b", "got", ["a: before", "a: after"])

    run(test, 280)


def test_strangers_that_say_nothing_do_not_pile_up() -> None:
    async def test() -> None:
        async with town("a", "b") as there:
            fakes = [await dial(there, "a") for _ in range(200)]
            await asyncio.sleep(0.05)
            wire = there.drivers["a"].wire
            assert len(wire._strangers) <= 64
            await there.call("a", "say", "b", "one")
            await there.until("b", "got", ["a: one"])
            assert await fakes[0].ended()
            for fake in fakes:
                fake.close()

    run(test)


async def deaf(there: Town) -> socket.socket:
    """A peer `b` that greets, and then reads no more."""
    address = there.cluster.nodes["a"]
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(made, (address.host, address.port))
    said = Hello("b", there.definition.digest, there.hello("b").version, 1)
    await loop.sock_sendall(made, encode(hello_frame(said)) + encode(greeting(2 << 16)))
    return made


def test_a_peer_that_does_not_read_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "OUTBOX_MAX", 1 << 20)

    async def test() -> None:
        async with town("a", "b", "c", absent=("b",)) as there:
            made = await deaf(there)
            await until(lambda: there.drivers["a"].wire.connected == 1)
            await there.call("a", "say", "c", "before")
            sent = 0
            while not there.field("a", "lost") and sent < 500:
                await there.call("a", "say", "b", "x" * 100_000)
                sent += 1
            await there.until("a", "lost", ["b"])
            assert sent < 200
            assert there.drivers["a"].host.held("b") == 0
            await there.call("a", "say", "c", "after")
            await there.until("c", "got", ["a: before", "a: after"])
            made.close()

    run(test)


def test_a_message_that_no_handler_names_resets_its_connection() -> None:
    async def test() -> None:
        async with town("a", "b", absent=("b",)) as there:
            codec = there.drivers["a"].node.automaton.codec
            fake = await dial(there, "a", there.hello("b"))
            fake.write(greeting(2 << 16))
            fake.write(pack(Kind.MESSAGE, 0, 2 << 16, 0, codec.encode(Note("good"))))
            await there.until("a", "got", ["b: good"])
            fake.write(pack(Kind.MESSAGE, 0, 2 << 16, 0, codec.encode(len)))
            assert await fake.ended()
            await there.until("a", "lost", ["b"])
            assert "a message cannot be read" in there.said[0]
            assert there.drivers["a"].node.up

    run(test)
