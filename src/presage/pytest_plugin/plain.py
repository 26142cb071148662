"""`--presage-off`: a marked test as any other, once, on real sockets and the real clock.

Each node is a process of the operating system with an address of the loopback of its own, and its
name resolves to that. A node is started when the test names it, and waited for until it waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import multiprocessing
import os
import selectors
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

import pytest

from presage.errors import BadCall
from presage.frontends.real import here as here_module
from presage.frontends.real.node import Node
from presage.pytest_plugin.body import Test
from presage.pytest_plugin.nodes import TEST, Nodes, Started
from presage.pytest_plugin.options import Options

READY_SECONDS = 2.0  # a node that does not wait by then is let go on
VIEW_SECONDS = 10.0
END_SECONDS = 5.0
NETWORK = "127.7.0."  # all of 127.0.0.0/8 is the loopback
BLOCKING = ("accept", "recv", "recv_into", "recvfrom", "connect")
fork = multiprocessing.get_context("fork")


def run(item: pytest.Function, options: Options) -> None:
    """Run the test in this process, its nodes in others."""
    test = Test(item, options)
    with RealNodes(test.nodes, options).running():
        own = [] if test.instance is None else [test.instance]
        made = test.function(*own, *test.args)
        if inspect.iscoroutine(made):
            asyncio.run(made)


class RealNodes:
    """Stands in for `Nodes` while the test runs."""

    def __init__(self, nodes: Nodes, options: Options) -> None:
        self._nodes = nodes
        self._options = options
        self._addresses = {TEST: f"{NETWORK}254"}
        self._processes: dict[str, Any] = {}
        self._pipes: dict[str, Connection] = {}

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        nodes: Any = self._nodes
        nodes.start, nodes.view, nodes.address = self.start, self.view, self._addresses.get
        try:
            with names_resolved(self._addresses), here_is(TEST, self._addresses):
                yield
        finally:
            for name in ("start", "view", "address"):
                delattr(nodes, name)
            for process in self._processes.values():
                process.kill()
                process.join(END_SECONDS)

    def start(self, name: str, program: Any, *args: Any, **options: Any) -> Started:
        if name not in self._processes:
            self._addresses[name] = f"{NETWORK}{len(self._addresses)}"
            defaults = {**self._options.nodes, **options}
            node = program if isinstance(program, Node) else Node(program, *args, **defaults)
            mine, theirs = fork.Pipe()
            process = fork.Process(
                target=serve, args=(name, node, dict(self._addresses), theirs), daemon=True
            )
            process.start()
            theirs.close()
            self._processes[name], self._pipes[name] = process, mine
            if mine.poll(READY_SECONDS):
                mine.recv()
        return Started(name, self._nodes)

    def view(self, name: str) -> Any:
        pipe = self._pipes.get(name)
        if pipe is None:
            raise BadCall(
                f"there is no other node `{name}`", "a misspelt name", "`nodes.start` it first"
            )
        try:
            pipe.send("view")
            while pipe.poll(VIEW_SECONDS):
                kind, value = pipe.recv()
                if kind == "view":
                    return value
        except (EOFError, OSError):
            pass
        return None


@contextlib.contextmanager
def names_resolved(addresses: dict[str, str]) -> Iterator[None]:
    """Let the names of nodes resolve to their addresses."""
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **more: Any) -> Any:
        return real(addresses.get(host, host), *args, **more)

    socket.getaddrinfo = getaddrinfo
    try:
        yield
    finally:
        socket.getaddrinfo = real


@contextlib.contextmanager
def here_is(name: str, addresses: dict[str, str]) -> Iterator[SimpleNamespace]:
    """Let `here` answer for a process that is a real one."""
    names = tuple(addresses)
    peers = tuple(each for each in names if each != name)
    host = SimpleNamespace(name=name, names=names, peers=peers, addresses=addresses)
    nothing: Callable[[Any], None] = lambda value: None  # noqa: E731
    process = SimpleNamespace(host=host, life=0, notes={}, log=[], record=nothing, name=name)
    module = vars(here_module)
    real = module["current"]
    module["current"] = lambda: process
    try:
        yield process
    finally:
        module["current"] = real


def serve(name: str, node: Node, addresses: dict[str, str], pipe: Connection) -> None:
    """What the process of a node runs; it tells when it waits for the first time."""
    asyncio.events._set_running_loop(None)
    asyncio.set_event_loop(None)
    with names_resolved(addresses), here_is(name, addresses) as process:
        tell_when_waiting(pipe)
        shown = SimpleNamespace(
            name=name,
            life=0,
            ended=False,
            files={},
            get=lambda each, default=None: process.notes.get("exposed", {}).get(each, default),
            module=sys.modules.get,
        )
        threading.Thread(target=answer, args=(node, shown, pipe), daemon=True).start()
        os.environ.update(node.environ)
        sys.argv = list(node.argv)
        made = node.main(*node.args)
        if inspect.iscoroutine(made):
            asyncio.run(made)


def tell_when_waiting(pipe: Connection) -> None:
    """Send one message when the program first waits for something."""
    warned = threading.Event()

    def tell() -> None:
        if not warned.is_set():
            warned.set()
            with contextlib.suppress(OSError):
                pipe.send(("ready", None))

    def telling(real: Callable[..., Any]) -> Callable[..., Any]:
        def wait(*args: Any, **more: Any) -> Any:
            tell()
            return real(*args, **more)

        return wait

    selector: Any = selectors.DefaultSelector
    selector.select = telling(selector.select)
    for name in BLOCKING:
        setattr(socket.socket, name, telling(getattr(socket.socket, name)))


def answer(node: Node, shown: SimpleNamespace, pipe: Connection) -> None:
    """Send the view of the node as often as it is asked for."""
    while True:
        try:
            pipe.recv()
            view = None if node.view is None else dict(node.view(shown))
            pipe.send(("view", view))
        except (EOFError, OSError):
            return
