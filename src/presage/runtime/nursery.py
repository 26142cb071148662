"""The process that starts nodes: it has loaded the system, and forks one child per node.

A node must begin as a fresh process would, quickly and with memory that it shares with the others.
So the system is loaded once, in a process that never has a thread or an event loop, and every node,
also one that is started again hours later, is a fork of that.

Nobody is left behind: each process dies with the one that started it (`die_with`), whatever ended
that one. Signals of the terminal reach `presage up` alone, which ends the nodes in order.

Invariant: every node that was started is reported as ended exactly once.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol, TypeVar

import msgspec
from msgspec import Struct

from presage import lifeline
from presage._core import die_with

MESSAGE_MAX = 65536
STATUS_OURS = 4
BATCH = 500  # nodes of one order


class Closable(Protocol):
    """What a node is given of the nursery, and nobody else keeps."""

    def close(self) -> None:
        """Let go of it."""


T = TypeVar("T", bound=Closable)


class Work(Protocol[T]):
    """What is done for each node."""

    def prepare(self, name: str, /) -> T | None:
        """What the node needs before any node of its batch runs."""

    def main(self, name: str, prepared: T | None, /) -> int:
        """Run the node to its end; gives its exit status."""


class Order(Struct, frozen=True, omit_defaults=True):
    """To the nursery: start nodes, or send them a signal."""

    nodes: list[str]
    signal: int = 0  # 0: start


class News(Struct, frozen=True, omit_defaults=True):
    """From the nursery: a node has started, or has ended with a status."""

    node: str
    pid: int
    status: int | None = None  # negative: the signal that ended it


class Nursery:
    """The end of the nursery that `presage up` holds."""

    def __init__(self, work: Work[Any]) -> None:
        """Fork the nursery; to be called before there is a thread or an event loop."""
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            mine.close()
            _enter(parent)
            # A signal to the whole group is for the command and for nodes: who ends those is here.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            _leave(_serve, theirs, work)
        theirs.close()
        self.socket = mine
        self.socket.setblocking(False)

    def order(self, nodes: Sequence[str], number: int = 0) -> None:
        """Start nodes, all of which have their addresses before one runs; or send a signal."""
        for at in range(0, len(nodes), BATCH):
            order = Order(list(nodes[at : at + BATCH]), number)
            self.socket.send(msgspec.json.encode(order))

    def news(self) -> list[News] | None:
        """All news there are; None if the nursery has ended."""
        found: list[News] = []
        while True:
            try:
                data = self.socket.recv(MESSAGE_MAX)
            except BlockingIOError:
                return found
            except OSError:
                return found or None
            if not data:
                return found or None
            found.append(msgspec.json.decode(data, type=News))

    def close(self) -> None:
        """End the nursery and whatever nodes are left, and wait for it."""
        self.socket.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _enter(parent: int) -> None:
    """Become a process of its own: it dies with `parent`, and no terminal interrupts it."""
    lifeline.detach()
    die_with(parent)
    for number in (signal.SIGINT, signal.SIGHUP, *lifeline.endings()):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(function: Callable[..., int], *args: object) -> NoReturn:
    """Call a function as the whole rest of this process."""
    status = STATUS_OURS
    try:
        status = function(*args)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        lifeline.leave(status)


def _serve(orders: socket.socket, work: Work[Any]) -> int:
    """Do what is ordered, and tell who ended, until nobody listens any more."""
    heard, waker = socket.socketpair()
    for each in (heard, waker):
        each.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    nodes: dict[int, str] = {}  # by process id
    while True:
        ready, _, _ = select.select([orders, heard], [], [])
        if heard in ready:
            heard.recv(MESSAGE_MAX)
            _tell_ended(orders, nodes)
        if orders in ready:
            data = _next_order(orders)
            if not data:
                break
            _obey(msgspec.json.decode(data, type=Order), orders, nodes, work)
    for pid in nodes:
        os.kill(pid, signal.SIGKILL)
    for pid in nodes:
        os.waitpid(pid, 0)
    return 0


def _next_order(orders: socket.socket) -> bytes:
    """What was ordered; nothing if nobody listens any more, be it that our last news lie unread."""
    try:
        return orders.recv(MESSAGE_MAX)
    except ConnectionResetError:
        return b""


def _obey(order: Order, orders: socket.socket, nodes: dict[int, str], work: Work[Any]) -> None:
    if order.signal:
        for pid, node in nodes.items():
            if node in order.nodes:
                os.kill(pid, order.signal)
        return
    prepared = {node: work.prepare(node) for node in order.nodes}
    for node in order.nodes:
        pid = _fork(node, prepared, orders, work)
        nodes[pid] = node
        orders.send(msgspec.json.encode(News(node, pid)))
    for each in prepared.values():
        if each is not None:
            each.close()


def _fork(
    node: str, prepared: Mapping[str, Closable | None], orders: socket.socket, work: Work[Any]
) -> int:
    """The process of one node, which has nothing of the others."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        orders.close()
        for other, each in prepared.items():
            if other != node and each is not None:
                each.close()
        _enter(parent)
        os.dup2(2, 1)  # standard output is for what `presage up` reports
        _leave(work.main, node, prepared[node])
    return pid


def _tell_ended(orders: socket.socket, nodes: dict[int, str]) -> None:
    while nodes:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        node = nodes.pop(pid, None)
        if node is not None:
            code = os.waitstatus_to_exitcode(status)
            with contextlib.suppress(OSError):
                orders.send(msgspec.json.encode(News(node, pid, code)))
