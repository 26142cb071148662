"""Nodes in one event loop, on real sockets of this machine; and peers that do not behave."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from msgspec import Struct, structs

from presage import Service, Streams, System, broken, on, state, timer
from presage.runtime.admission import admit
from presage.runtime.clock import Clock
from presage.runtime.cluster import Cluster, Live
from presage.runtime.driver import Driver
from presage.runtime.frame import Decoder, Frame, Hello, encode, hello, hello_frame
from presage.runtime.listening import Sockets
from presage.runtime.node import LiveNode
from presage.runtime.step import Options
from presage.runtime.store import MemoryStore
from presage.runtime.up import local_cluster
from presage.runtime.vocabulary import teach
from presage.search.checkpoint.code_digest import Definition

PATIENCE = 20.0  # seconds; only a guard against a hang


class Note(Struct, frozen=True):
    text: str


class Held(Struct, frozen=True):
    """Is let in once its receiver is open."""

    text: str


class Talker(Service):
    """Sends what it is called to, and keeps what it gets."""

    got: list[str] = state(list)
    lost: list[str] = state(list)
    open: bool = state(False)

    def say(self, to: str, text: str) -> bool:
        return self.stream.send(to, Note(text))

    def hold(self, to: str, text: str) -> bool:
        return self.stream.send(to, Held(text))

    def throw(self, to: str, text: str) -> None:
        self.send(to, Note(text))

    def leave(self, to: str) -> None:
        self.stream.close(to)

    def let_in(self) -> None:
        self.open = True

    def fail(self) -> None:
        raise RuntimeError("on purpose")

    @on(Note)
    def note(self, note: Note, source: str) -> None:
        self.got.append(f"{source}: {note.text}")

    @on(Held, when=lambda self: self.open)
    def held(self, held: Held, source: str) -> None:
        self.got.append(f"{source}: {held.text}")

    @broken
    def broke(self, peer: str) -> None:
        self.lost.append(peer)

    @timer
    def unused(self) -> None:
        self.open = True


def talkers(*names: str, queue_size: int | None = None) -> System:
    return System({name: Talker() for name in names}, streams=Streams(queue_size=queue_size))


class Town:
    """Nodes that run, by name."""

    def __init__(self, system: System, cluster: Cluster) -> None:
        self.system = system
        self.cluster = cluster
        self.definition = Definition(system)
        self.drivers: dict[str, Driver] = {}
        self.stores: dict[str, MemoryStore] = {}
        self.said: list[str] = []

    async def start(self, *names: str) -> None:
        sockets = {name: Sockets(name, self.cluster.nodes[name]) for name in names}
        for name in names:
            store = self.stores.setdefault(name, MemoryStore())

            def make(host: Any, name: str = name, store: MemoryStore = store) -> LiveNode:
                return LiveNode(self.system, name, store, Clock(), host, Options())

            driver = self.drivers[name] = Driver(make, self.cluster, self.said.append)
            teach(self.system, driver.node.automaton.codec, definition=self.definition)
            admit(self.system, driver.node.automaton.codec)
            await driver.start(self.definition, sockets[name])

    def stop(self, name: str) -> None:
        self.drivers.pop(name).close()

    async def call(self, node: str, method: str, *args: Any) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.drivers[node].node.call(method, args, answer)
        self.drivers[node].schedule()
        reply = await asyncio.wait_for(answer, PATIENCE)
        return reply.value if reply.error is None else reply.error

    def field(self, node: str, name: str) -> Any:
        live = self.drivers[node].node
        at = live.automaton.fields.index(name) + 1
        return live.automaton.codec.decode(live.local[at])

    async def until(self, node: str, name: str, wanted: Any) -> None:
        await until(lambda: self.field(node, name) == wanted, lambda: self.field(node, name))

    def hello(self, name: str, life: int = 1) -> Hello:
        return hello(name, self.definition, life)


async def until(holds: Callable[[], bool], shown: Callable[[], Any] = lambda: "") -> None:
    """Wait until something is so."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"it never came: {shown()}") from None


@contextlib.asynccontextmanager
async def town(
    *names: str, absent: tuple[str, ...] = (), queue_size: int | None = None, **live: Any
) -> AsyncIterator[Town]:
    """A town of talkers; those in `absent` have addresses, and do not run."""
    system = talkers(*names, queue_size=queue_size)
    cluster = local_cluster(names, "unused")
    made = Town(system, structs.replace(cluster, live=Live(**live)))
    try:
        await made.start(*(name for name in names if name not in absent))
        yield made
    finally:
        for name in list(made.drivers):
            made.stop(name)


class Fake:
    """A peer made of bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._decoder = Decoder()

    async def frame(self) -> Frame | None:
        """The next frame; None if the connection has ended."""
        while (frame := self._decoder.pull()) is None:
            try:
                data = await asyncio.wait_for(self.reader.read(65536), PATIENCE)
            except ConnectionError:
                return None
            if not data:
                return None
            self._decoder.feed(data)
        return frame

    async def ended(self) -> bool:
        """Wait until the other end gives it up."""
        while await self.frame() is not None:
            pass
        return True

    def write(self, *frames: Frame | bytes) -> None:
        for each in frames:
            self.writer.write(each if isinstance(each, bytes) else encode(each))

    def close(self) -> None:
        self.writer.transport.abort()


async def dial(made: Town, node: str, said: Hello | None = None) -> Fake:
    """Connect to a node as a stranger, or as somebody who says hello."""
    address = made.cluster.nodes[node]
    fake = Fake(*await asyncio.open_connection(address.host, address.port))
    if said is not None:
        fake.write(hello_frame(said))
    return fake


def run(test: Callable[[], Awaitable[None]], seconds: float = 60) -> None:
    asyncio.run(asyncio.wait_for(test(), seconds))  # type: ignore[arg-type]


def udp() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
