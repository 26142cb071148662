"""What one message costs a live node, in processor time, beside a plain server in the same run.

Both echo 64 bytes over TCP on this machine, each in a process of its own. The client is the same
for both and is not counted. `one` message is under way at a time, or `64`. The plain server is what
one would write without presage: an asyncio protocol, a length before each message, msgspec. Rounds
of both take turns. With one message under way, most of the cost is that of waking a process up; it
depends on the machine, and on whether client and server share a core. Fails if a node needs more
than the limits.

    .venv/bin/python benchmarks/live.py [--seconds 3]
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import resource
import signal
import socket
import struct
import sys
import tempfile
import time
from typing import cast

import msgspec
from msgspec import Struct

from presage import Service, Streams, System, on, state
from presage._core import Codec
from presage.runtime.cluster import Cluster
from presage.runtime.frame import HEADER, Frame, Hello, Kind, encode, hello_frame, pack
from presage.runtime.link import Greeting
from presage.runtime.link import encode as encode_greeting
from presage.runtime.process import Task, loop_run, run
from presage.runtime.up import local_cluster
from presage.search.checkpoint.code_digest import Definition
from presage.version import VERSION

LIFE = 2 << 16
ROUNDS = 30  # the quietest counts: other processes cost caches, not messages
LIMITS = {1: 50.0, 64: 12.0}  # microseconds for each message, by those under way


class Echo(Struct, frozen=True):
    number: int
    text: str


class Echoing(Service):
    """Sends back what it gets, and counts."""

    count: int = state(0)

    @on(Echo)
    def echo(self, message: Echo, source: str) -> None:
        self.count += 1
        self.stream.send(source, message)


def system() -> System:
    return System({"a": Echoing(), "b": Echoing()}, streams=Streams())


class Plain(asyncio.Protocol):
    """The server without presage."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.count = 0
        self.decoder = msgspec.msgpack.Decoder(Echo)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        answers = []
        at = 0
        while len(self.buffer) - at >= 4:
            (length,) = struct.unpack_from(">I", self.buffer, at)
            if len(self.buffer) - at - 4 < length:
                break
            message = self.decoder.decode(self.buffer[at + 4 : at + 4 + length])
            at += 4 + length
            self.count += 1
            body = msgspec.msgpack.encode(message)
            answers.append(struct.pack(">I", len(body)) + body)
        del self.buffer[:at]
        self.transport.write(b"".join(answers))


def serve_plain(port: int) -> int:
    async def main() -> int:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        await loop.create_server(Plain, "127.0.0.1", port)
        await stop.wait()
        return 0

    return loop_run(main())


def serve_live(cluster: Cluster, definition: Definition, made: System) -> int:
    return run(Task(made, definition, cluster), "a", [signal.SIGTERM])


class Client:
    """Sends messages, and reads as many answers."""

    def __init__(self, port: int) -> None:
        for _ in range(500):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                time.sleep(0.01)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def prepare(self) -> None:
        """Whatever comes before messages."""

    def message(self, number: int) -> bytes:
        raise NotImplementedError

    def answer(self) -> None:
        raise NotImplementedError

    def measure(self, seconds: float, window: int) -> int:
        """Keep `window` messages under way for some seconds; how many there were."""
        count, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            batch = b"".join(self.message(count + at) for at in range(window))
            self.socket.sendall(batch)
            for _ in range(window):
                self.answer()
            count += window
        return count


class PlainClient(Client):
    def message(self, number: int) -> bytes:
        body = msgspec.msgpack.encode(Echo(number, "x" * 56))
        return struct.pack(">I", len(body)) + body

    def answer(self) -> None:
        (length,) = struct.unpack(">I", self.file.read(4))
        self.file.read(length)


class LiveClient(Client):
    """Node `b`, made of bytes."""

    def __init__(self, port: int, definition: Definition) -> None:
        super().__init__(port)
        self.codec = Codec()
        self.handled = 0
        said = Hello("b", definition.digest, VERSION, 1)
        self.socket.sendall(encode(hello_frame(said)))
        meant = encode_greeting(Greeting(1, 1, 0, 0))
        self.socket.sendall(encode(Frame(Kind.LIFE, 0, LIFE, 0, meant)))

    def message(self, number: int) -> bytes:
        body = self.codec.encode(Echo(number, "x" * 56))
        return pack(Kind.MESSAGE, 0, LIFE, self.handled, body)

    def answer(self) -> None:
        while True:
            length, _, kind, *_ = HEADER.unpack(self.file.read(HEADER.size))
            self.file.read(length + 4 - HEADER.size)
            if kind == Kind.MESSAGE:
                self.handled += 1
                return


def in_child(serve: object, *args: object) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = serve(*args)  # type: ignore[operator]
        finally:
            os._exit(status)
    return pid


def processor_time(pid: int) -> float:
    """Seconds of processor time that the main thread of a process has used."""
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e9


def costs(
    clients: dict[str, tuple[int, Client]], seconds: float, window: int
) -> dict[str, tuple[float, float]]:
    """Microseconds of processor time, and of real time, for each message; the least of rounds."""
    for _, client in clients.values():
        client.measure(0.2, window)
    least = dict.fromkeys(clients, (math.inf, math.inf))
    for _ in range(ROUNDS):
        for name, (pid, client) in clients.items():
            before, began = processor_time(pid), time.monotonic()
            count = client.measure(seconds / ROUNDS, window)
            cpu = (processor_time(pid) - before) / count * 1e6
            real = (time.monotonic() - began) / count * 1e6
            least[name] = (min(cpu, least[name][0]), min(real, least[name][1]))
    return least


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--profile", metavar="FILE", help="profile the live node, and write there")
    parser.add_argument("--window", type=int, default=64, help="messages under way, in a profile")
    args = parser.parse_args()
    made = system()
    definition = Definition(made)
    print(f"{'':8} {'under way':>10} {'CPU us':>8} {'real us':>8} {'times':>8}")
    with tempfile.TemporaryDirectory() as folder:
        ports = local_cluster(["a", "b", "plain"], folder)
        cluster = Cluster({n: ports.nodes[n] for n in ("a", "b")}, live=ports.live)
        if args.profile:
            return profiled(args, cluster, definition, made)
        plain = in_child(serve_plain, ports.nodes["plain"].port)
        live = in_child(serve_live, cluster, definition, made)
        clients = {
            "plain": (plain, PlainClient(ports.nodes["plain"].port)),
            "presage": (live, LiveClient(ports.nodes["a"].port, definition)),
        }
        cheap = True
        for window, limit in LIMITS.items():
            found = costs(clients, args.seconds, window)
            for name, (cpu, real) in found.items():
                times = cpu / found["plain"][0]
                print(f"{name:8} {window:>10} {cpu:>8.1f} {real:>8.1f} {times:>8.1f}")
            cheap = cheap and found["presage"][0] <= limit
        for pid in (plain, live):
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)
    return 0 if cheap else 1


def profiled(args: argparse.Namespace, cluster: Cluster, *how: object) -> int:
    """Where the time of a node goes."""

    def serve() -> int:
        import cProfile

        profile = cProfile.Profile(time.process_time)
        status = profile.runcall(serve_live, cluster, *how)
        profile.dump_stats(args.profile)
        return int(status)

    pid = in_child(serve)
    client = LiveClient(cluster.nodes["a"].port, how[0])  # type: ignore[arg-type]
    client.measure(args.seconds, args.window)
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)
    return 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
