"""Three programs in plain asyncio, each in a right version and a wrong one; for every checker.

`serve` is a counter over UDP whose clients ask again if no answer came: without remembering whom
it has counted, it counts some twice. It may keep its count in a store: one that forgets in a crash
whom it has counted counts them twice, if it crashes between the write and the answer's arrival.
`in_order` relies on what asyncio promises: callbacks run in the order they were given.
"""

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any, Protocol

PORT = 9000
TRIES = 2
SECONDS = 1.0


class Store(Protocol):
    """What survives a crash."""

    def load(self) -> bytes | None: ...
    def save(self, data: bytes) -> None: ...


class File:
    """A store in a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def load(self) -> bytes | None:
        if not os.path.exists(self.path):
            return None
        with open(self.path, "rb") as file:
            return file.read()

    def save(self, data: bytes) -> None:
        with open(self.path, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


class Counter(asyncio.DatagramProtocol):
    """Counts each name once if it `remembers`; `keeps_names` says whether crashes change that."""

    def __init__(self, store: Store | None, remembers: bool, keeps_names: bool) -> None:
        self.store, self.remembers, self.keeps_names = store, remembers, keeps_names
        self.count, self.names = 0, []
        kept = store.load() if store is not None else None
        if kept is not None:
            self.count, self.names = json.loads(kept)

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, address: Any) -> None:
        name = data.decode()
        if not self.remembers or name not in self.names:
            self.count += 1
            self.names.append(name)
            if self.store is not None:
                names = self.names if self.keeps_names else []
                self.store.save(json.dumps([self.count, names]).encode())
        self.transport.sendto(data, address)


async def serve(
    made: Callable[[Counter], None],
    store: Store | None = None,
    remembers: bool = True,
    keeps_names: bool = True,
    address: str = "0.0.0.0",
) -> None:
    counter = Counter(store, remembers, keeps_names)
    made(counter)
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(lambda: counter, local_addr=(address, PORT))
    await asyncio.Event().wait()


class Asking(asyncio.DatagramProtocol):
    """Waits for one answer."""

    def __init__(self) -> None:
        self.answered = asyncio.Event()

    def datagram_received(self, data: bytes, address: Any) -> None:
        self.answered.set()


async def increment(name: str, server: str = "server") -> None:
    """Have the server count `name`; ask again if it does not answer in time."""
    loop = asyncio.get_running_loop()
    transport, asking = await loop.create_datagram_endpoint(Asking, remote_addr=(server, PORT))
    for _ in range(TRIES):
        transport.sendto(name.encode())
        try:
            await asyncio.wait_for(asking.answered.wait(), SECONDS)
            break
        except TimeoutError:
            pass
    transport.close()


async def in_order() -> list[int]:
    """The order in which two callbacks ran."""
    order: list[int] = []
    loop = asyncio.get_running_loop()
    loop.call_soon(order.append, 1)
    loop.call_soon(order.append, 2)
    while len(order) < 2:
        await asyncio.sleep(0)
    assert order == [1, 2], f"callbacks ran in the order {order}"
    return order
