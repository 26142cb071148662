"""All nodes of a system as local processes: started, looked after, and ended together.

A node that fails stays down, or with `failure = "restart"` is started again, each time after a
longer pause. One that was killed on purpose stays down until it is started again. When `presage up`
ends, by itself or by a signal, every node is asked to end, and killed if it does not within a
second.

Invariant: when `run` returns, no process that it started is left.
"""

from __future__ import annotations

import asyncio
import random
import signal
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from msgspec import Struct

from presage.errors import CannotListen, CommandRefused, did_you_mean
from presage.runtime.cluster import Address, Cluster, Live
from presage.runtime.control import CONTROL, Control, Request
from presage.runtime.nursery import News, Nursery, Work
from presage.runtime.process import EXIT_OURS, deafen, loop_run

PATIENCE = 1.0  # seconds that nodes have to end in order
PAUSE_FIRST, PAUSE_MAX = 0.1, 10.0  # seconds before a failed node is started again
STEADY = 10.0  # seconds after which a node that runs counts as well
PORTS = range(10_000, 30_000)  # below those that systems give to outgoing connections
LOCALHOST = "127.0.0.1"


class Node:
    """One node, as its supervisor knows it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pid: int | None = None
        self.status: int | None = None  # of its last process
        self.starts = 0
        self.since = 0.0
        self.pause = PAUSE_FIRST
        self.on_purpose = False  # it was killed by a command, or everything ends
        self.again: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        return self.pid is not None

    def facts(self) -> dict[str, Any]:
        """What `presage status` says of it."""
        return {
            "running": self.is_running,
            "pid": self.pid,
            "starts": self.starts,
            "status": self.status,
        }


class Ended(Struct, frozen=True):
    """What became of all nodes."""

    status: int
    failed: dict[str, int]  # exit statuses of those that failed, by name


class Supervisor:
    """`presage up`: the processes of one cluster."""

    def __init__(
        self,
        cluster: Cluster,
        nursery: Nursery,
        *,
        seconds: float | None = None,
        stops: Iterable[int] = (),
        say: Callable[[str], None],
    ) -> None:
        self._cluster = cluster
        self._nursery = nursery
        self._seconds = seconds
        self._stops = tuple(stops)
        self._say = say
        self._nodes = {name: Node(name) for name in cluster.nodes}
        self._failed: dict[str, int] = {}
        self._over = asyncio.Event()
        self._lost = False  # the nursery is gone

    async def main(self) -> Ended:
        """Start all nodes, wait until something ends all, and end them."""
        loop = asyncio.get_running_loop()
        for number in self._stops:
            loop.add_signal_handler(number, self._over.set)
        loop.add_reader(self._nursery.socket, self._hear)
        control = Control(self._cluster.data / CONTROL, self._handle)
        await control.start()
        try:
            self._start(*self._nodes.values())
            try:
                await asyncio.wait_for(self._over.wait(), self._seconds)
            except TimeoutError:
                pass
        finally:
            control.close()
            await self._end_all()
            loop.remove_reader(self._nursery.socket)
            deafen(self._stops)
        status = EXIT_OURS if self._lost else max(self._failed.values(), default=0)
        return Ended(status, self._failed)

    # -- processes ---------------------------------------------------------------------------

    def _start(self, *nodes: Node) -> None:
        for node in nodes:
            node.again = None
            node.on_purpose = False
            node.starts += 1
            node.since = time.monotonic()
            node.pid = 0  # until the nursery has forked it
        self._nursery.order([node.name for node in nodes])

    def _hear(self) -> None:
        news = self._nursery.news()
        if news is None:
            self._lost = True
            self._say("error: the process that starts nodes has ended")
            asyncio.get_running_loop().remove_reader(self._nursery.socket)
            for node in self._nodes.values():
                node.pid = None
            self._over.set()
        for each in news or ():
            self._take(each)

    def _take(self, news: News) -> None:
        node = self._nodes[news.node]
        if news.status is None:
            node.pid = news.pid
            return
        node.pid, node.status = None, news.status
        if not node.on_purpose and not self._over.is_set():
            self._failure(node, news.status)

    def _failure(self, node: Node, status: int) -> None:
        """A node has ended by itself, or somebody has killed it behind our back."""
        how = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
        if status > 0:
            self._failed[node.name] = status
        if self._cluster.live.failure == "stop" or status == 2:
            self._say(f"{node.name}: ended ({how}); `presage start {node.name}` starts it again")
            return
        steady = time.monotonic() - node.since > STEADY
        pause = node.pause = PAUSE_FIRST if steady else min(2 * node.pause, PAUSE_MAX)
        self._say(f"{node.name}: ended ({how}); starts again in {pause:g} s")
        loop = asyncio.get_running_loop()
        node.again = loop.call_later(pause, self._start, node)

    async def _end_all(self) -> None:
        self._over.set()
        for node in self._nodes.values():
            if node.again is not None:
                node.again.cancel()
            node.on_purpose = True
        for number in (signal.SIGTERM, signal.SIGKILL):
            running = [node for node in self._nodes.values() if node.is_running]
            if running and not self._lost:
                self._nursery.order([node.name for node in running], number)
            end = time.monotonic() + PATIENCE
            while any(node.is_running for node in running) and time.monotonic() < end:
                await asyncio.sleep(0.01)

    # -- commands ----------------------------------------------------------------------------

    async def _handle(self, request: Request) -> Any:
        if request.do == "status":
            return {name: node.facts() for name, node in self._nodes.items()}
        if request.do in ("kill", "start"):
            node = self._nodes.get(request.name)
            if node is None:
                raise CommandRefused(
                    f"there is no node `{request.name}`{did_you_mean(request.name, self._nodes)}",
                    f"its nodes are {', '.join(self._nodes)}",
                    "name one of these",
                )
            return await (self._kill(node) if request.do == "kill" else self._revive(node))
        raise CommandRefused(
            f"`presage up` does not know the command `{request.do}`",
            "another version of presage",
            "use the same version for all commands",
        )

    async def _kill(self, node: Node) -> dict[str, Any]:
        if node.again is not None:
            node.again.cancel()
            node.again = None
        if not node.is_running:
            raise CommandRefused(f"`{node.name}` does not run")
        node.on_purpose = True
        self._nursery.order([node.name], signal.SIGKILL)
        while node.is_running:
            await asyncio.sleep(0.005)
        return node.facts()

    async def _revive(self, node: Node) -> dict[str, Any]:
        if node.is_running:
            raise CommandRefused(f"`{node.name}` runs already")
        if node.again is not None:
            node.again.cancel()
        self._start(node)
        while node.pid == 0:
            await asyncio.sleep(0.005)
        return node.facts()


def run(
    cluster: Cluster,
    work: Work[Any],
    *,
    seconds: float | None,
    stops: Iterable[int],
    say: Callable[[str], None],
    beside: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Ended:
    """Run all nodes; `work` is what each process does. Ends after `seconds`, or by a signal.

    `beside` goes on meanwhile; it may have threads, as the processes are forked by another one.
    """
    nursery = Nursery(work)
    try:
        ended: list[Ended] = []

        async def whole() -> int:
            supervisor = Supervisor(cluster, nursery, seconds=seconds, stops=stops, say=say)
            ended.append(await supervisor.main())
            return 0

        with beside():
            loop_run(whole())
        return ended[0]
    finally:
        nursery.close()


def local_cluster(names: Iterable[str], data: str) -> Cluster:
    """A cluster on this machine, at ports that are free now."""
    dice, taken, nodes = random.SystemRandom(), set[int](), {}
    for name in names:
        for _ in range(1000):
            port = dice.choice(PORTS)
            if port not in taken and _is_free(port):
                break
        else:
            raise CannotListen(
                f"no port from {PORTS.start} to {PORTS.stop} is free for `{name}`",
                "very many processes that listen",
                "give addresses in a cluster file: `--config cluster.toml`",
            )
        taken.add(port)
        nodes[name] = Address(LOCALHOST, port)
    return Cluster(nodes, live=Live(data=data))


def _is_free(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as tried:
            try:
                tried.bind((LOCALHOST, port))
            except OSError:
                return False
    return True
