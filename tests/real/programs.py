"""Small programs for tests of real nodes: ordinary code over sockets, files and timers."""

import asyncio
import os
import socket

from presage.real import here

PORT = 9000


class Server(asyncio.DatagramProtocol):
    """Counts requests, each once; keeps its count in a file if told to."""

    def __init__(self, deduplicate, file):
        self.file, self.deduplicate = file, deduplicate
        self.seen = set()
        if file and os.path.exists(file):
            with open(file) as lines:
                self.seen = set(lines.read().split(",")) - {""}

    def connection_made(self, transport):
        self.transport = transport

    @property
    def count(self):
        return len(self.seen)

    def datagram_received(self, data, sender):
        name = data.decode() if self.deduplicate else f"{data.decode()}/{self.count}"
        self.seen.add(name)
        if self.file:
            with open(self.file, "w") as lines:
                lines.write(",".join(sorted(self.seen)))
        self.transport.sendto(b"ok " + data, sender)


class Client(asyncio.DatagramProtocol):
    def __init__(self):
        self.done = 0
        self.at = (0, 0)
        self.answers = {}

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, sender):
        answer = self.answers.get(data)
        if answer is not None and not answer.done():
            answer.set_result(None)


async def serve(deduplicate=True, file=None):
    loop = asyncio.get_running_loop()
    _, server = await loop.create_datagram_endpoint(
        lambda: Server(deduplicate, file), local_addr=("0.0.0.0", PORT)
    )
    here.expose(server=server)
    await asyncio.Event().wait()


async def count(times=1, tries=2):
    loop = asyncio.get_running_loop()
    _, client = await loop.create_datagram_endpoint(
        Client, remote_addr=(here.address("server"), PORT)
    )
    here.expose(client=client)
    for number in range(times):
        request = f"{here.name}.{number}".encode()
        answer = client.answers[b"ok " + request] = loop.create_future()
        for attempt in range(tries):
            client.at = (number, attempt)
            client.transport.sendto(request)
            try:
                await asyncio.wait_for(asyncio.shield(answer), 1)
            except TimeoutError:
                continue
            client.done += 1
            break
        else:
            return


def counted(node):
    return {"count": node.get("server").count, "seen": sorted(node.get("server").seen)}


def acknowledged(node):
    client = node.get("client")
    return {"done": client.done, "at": client.at, "over": node.ended}


def without(view, field):
    """The same view, but for one field."""

    def coarser(node):
        return {name: value for name, value in view(node).items() if name != field}

    return coarser


# -- connections


async def echo():
    """A server of lines that keeps what it was told."""
    told = []
    here.expose(told=told)

    async def talk(reader, writer):
        try:
            while line := await reader.readline():
                told.append(line.strip().decode())
                writer.write(b"ok\n")
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "0.0.0.0", PORT)
    async with server:
        await server.serve_forever()


async def tell(*lines, attempts=1):
    said = []
    here.expose(said=said)
    for _ in range(attempts):
        try:
            reader, writer = await asyncio.open_connection(here.address("server"), PORT)
            for line in lines[len(said) :]:
                writer.write(line.encode() + b"\n")
                if not await reader.readline():
                    raise ConnectionError
                said.append(line)
            writer.close()
            break
        except ConnectionError:
            said.append("failed") if attempts == 1 else None


def heard(node):
    return {"told": list(node.get("told", ()))}


def spoken(node):
    return {"said": list(node.get("said", ()))}


# -- blocking code, files, endings


def write_twice(path="/var/data/log", sync=False):
    """Writes two lines, one at each datagram; the first only if there is no file yet."""
    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    box.bind(("", PORT))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path) as found:
            here.expose(found=found.read())
    with open(path, "a") as file:
        for line in ("one\n", "two\n"):
            box.recvfrom(100)
            file.write(line)
            file.flush()
            if sync:
                os.fsync(file.fileno())


def found(node):
    return {"found": node.get("found")}


def poke(times=2):
    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _ in range(times):
        box.sendto(b"go", (here.address("writer"), PORT))


def fail():
    raise RuntimeError("it fails")


async def fail_in_a_callback():
    asyncio.get_running_loop().call_later(1, fail)
    await asyncio.sleep(2)


async def end_well():
    import signal

    ended = []
    here.expose(ended=ended)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    ended.append("well")


def how_it_ended(node):
    return {"ended": list(node.get("ended", ()))}


# -- time, chance, records


async def tick(period, times=2):
    for number in range(times):
        await asyncio.sleep(period)
        here.record((here.name, number))


def draw():
    import random
    import time

    time.sleep(1)
    here.expose(drawn=random.randrange(4))
    time.sleep(1)


def drawn(node):
    return {"drawn": node.get("drawn")}


async def two_turns():
    """Sends twice, with one iteration of the loop between."""
    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for text in (b"one", b"two"):
        await asyncio.sleep(0)
        box.sendto(text, (here.address("b"), PORT))


def listen():
    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    box.bind(("", PORT))
    heard = []
    here.expose(heard=heard)
    while len(heard) < 2:
        heard.append(box.recv(10).decode())


def heard_texts(node):
    return {"heard": list(node.get("heard", ()))}


def spin():
    """Polls the clock until a second has passed."""
    import time

    end = time.monotonic() + 1
    while time.monotonic() < end:
        pass


async def register():
    """A register in one node; calls of the workload read and write it."""
    here.expose(cell=[0])
    await asyncio.Event().wait()


async def write(node, value):
    node.get("cell")[0] = value


async def read(node):
    return node.get("cell")[0]


async def read_badly(node):
    return 7
