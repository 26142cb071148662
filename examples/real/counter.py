"""A counter over UDP, as one would write it: a server, and clients that try again.

Nothing here knows of presage. `python counter.py serve` and `python counter.py count HOST` run it.
"""

import asyncio
import sys

PORT = 9000
TRIES = 2


class Server(asyncio.DatagramProtocol):
    """Counts each request once, however often it arrives."""

    def __init__(self, deduplicate: bool = True) -> None:
        self.count = 0
        self.seen: set[bytes] = set()
        self.deduplicate = deduplicate

    def connection_made(self, transport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, sender) -> None:
        if data not in self.seen or not self.deduplicate:
            self.seen.add(data)
            self.count += 1
        self.transport.sendto(b"ok " + data.split()[1], sender)


class Client(asyncio.DatagramProtocol):
    """Sends a request until it is answered, or gives up."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.done = 0
        self.answers: dict[bytes, asyncio.Future] = {}

    def connection_made(self, transport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, sender) -> None:
        answer = self.answers.get(data)
        if answer is not None and not answer.done():
            answer.set_result(None)

    async def increment(self, number: int) -> bool:
        answer = self.answers[b"ok %d" % number] = asyncio.get_running_loop().create_future()
        for _ in range(TRIES):
            self.transport.sendto(f"{self.name} {number}".encode())
            try:
                await asyncio.wait_for(asyncio.shield(answer), 1)
            except TimeoutError:
                continue
            self.done += 1
            return True
        return False


async def serve(deduplicate: bool = True) -> Server:
    loop = asyncio.get_running_loop()
    _, server = await loop.create_datagram_endpoint(
        lambda: Server(deduplicate), local_addr=("0.0.0.0", PORT)
    )
    return server


async def connect(host: str, name: str) -> Client:
    loop = asyncio.get_running_loop()
    _, client = await loop.create_datagram_endpoint(lambda: Client(name), remote_addr=(host, PORT))
    return client


async def main(command: str, host: str = "localhost") -> None:
    if command == "serve":
        await serve()
        await asyncio.Event().wait()
    client = await connect(host, "me")
    print(await client.increment(0))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
