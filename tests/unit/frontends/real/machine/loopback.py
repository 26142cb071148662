"""Random scripts of socket calls, run on the real loopback and on simulated hosts.

A script is a list of calls on numbered sockets; every socket is non-blocking. Its transcript has
the result of each call, or its error. Ports are written by the name that the script gives them, or
by the order in which they turn up.
"""

from __future__ import annotations

import errno
import select
import socket
import time
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from unit.frontends.real.machine.hosts import Hosts

SIDES = ("a", "b")
PORTS = 2  # known ones of each side
REAL = {"a": "127.0.0.1", "b": "127.0.0.2"}
MASK = ~(0x040 | 0x100)  # RDNORM and WRNORM say the same as IN and OUT
PAUSES = (0.0, 0.002, 0.02)  # seconds after each real call
IN, PRI, OUT, RDHUP = 0x001, 0x002, 0x004, 0x2000

STREAM_CALLS = (
    "make make listen listen connect connect connect accept accept send send send send recv recv"
    " recv shutdown close poll poll select peer name error peek connected"
).split()
DATAGRAM_CALLS = (
    "make bind bind connect sendto sendto sendto send recvfrom recvfrom recvfrom recv"
    " shutdown close poll select peer name error peek"
).split()


class Call(NamedTuple):
    """One call: what, on which socket, and three numbers that it may use."""

    what: str
    on: int
    n: int
    m: int
    k: int


def random_script(seed: int, length: int, calls: list[str]) -> list[Call]:
    rng = Random(seed)
    begin = [Call("make", 0, each, 0, 0) for each in (0, 1)]
    if calls is STREAM_CALLS and rng.randrange(4):  # most begin with a connection
        begin += [
            Call("listen", 1, 1, 0, 1),
            Call("connect", 0, 1, 0, 0),
            Call("accept", 1, 0, 0, 0),
        ]
    picks = [
        Call(rng.choice(calls), *(rng.randrange(1000) for _ in range(4))) for _ in range(length)
    ]
    return begin + picks


class Machine:
    """Runs the calls of a script: on real sockets, or within hosts."""

    def __init__(self, kind: int, hosts: Hosts | None, pause: float = 0.0) -> None:
        self._kind, self._hosts, self._pause = kind, hosts, pause
        self._across = hosts is not None and len(hosts.nodes) > 1
        self._sockets: list[tuple[str, socket.socket]] = []
        self._symbols: dict[int, str] = {}
        self._seen: dict[int, int] = {}
        self._shut: set[socket.socket] = set()  # while they were not connected
        self._ports: dict[tuple[str, int], int] = {}
        for side in SIDES:
            for at in range(PORTS):
                number = self._free_port(side) if hosts is None else 5000 + at + 100 * ord(side)
                self._ports[side, at] = number
                self._symbols[number] = f"{side}{at}"

    def _free_port(self, side: str) -> int:
        with socket.socket(socket.AF_INET, self._kind) as probe:
            probe.bind((REAL[side], 0))
            return int(probe.getsockname()[1])

    def _host(self, side: str) -> str:
        return side if self._across else REAL[side]

    def close(self) -> None:
        for side, each in self._sockets:
            self._within(side, each.close)

    def _within(self, side: str, function: Callable[[], Any]) -> Any:
        if self._hosts is not None:
            return self._hosts.call(side if self._across else "a", function)
        try:
            return function()
        finally:
            if self._pause:
                time.sleep(self._pause)

    def run(self, script: list[Call]) -> list[Any]:
        return [(call.what, self._run(call)) for call in script]

    def _run(self, call: Call) -> Any:
        if call.what == "make" or not self._sockets:
            side = SIDES[call.n % 2]
            self._sockets.append((side, self._within(side, self._make)))
            return side
        side, on = self._sockets[call.on % len(self._sockets)]
        try:
            result = self._within(side, lambda: getattr(self, f"_{call.what}")(side, on, call))
        except (OSError, ValueError) as error:
            number = getattr(error, "errno", None)
            return errno.errorcode[number] if number else type(error).__name__
        return result

    def _make(self) -> socket.socket:
        made = socket.socket(socket.AF_INET, self._kind)
        made.setblocking(False)
        if self._kind == socket.SOCK_STREAM:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # all is sent at once
        return made

    def _shown(self, address: Any) -> Any:
        if not address:
            return address
        number = address[1]
        if not number:
            return "none"
        if number in self._symbols:
            return self._symbols[number]
        return self._seen.setdefault(number, len(self._seen))

    def _target(self, call: Call) -> tuple[str, int]:
        side = SIDES[call.n % 2]
        return self._host(side), self._ports[side, call.m % PORTS]

    # The calls.

    def _bind(self, side: str, on: socket.socket, call: Call) -> Any:
        port = self._ports[side, call.m % PORTS] if call.k % 4 else 0
        on.bind((self._host(side), port))
        return self._shown(on.getsockname())

    def _listen(self, side: str, on: socket.socket, call: Call) -> Any:
        if on in self._shut:
            return "not tried"  # Linux has odd rules for what comes of it
        if call.k % 5:
            on.bind((self._host(side), self._ports[side, call.m % PORTS]))
        on.listen(50)  # enough: a real `syn` that finds no room is sent again a second later
        return self._shown(on.getsockname())

    def _connect(self, side: str, on: socket.socket, call: Call) -> Any:
        if on in self._shut and self._kind == socket.SOCK_STREAM:
            return "not tried"
        return on.connect(self._target(call))

    def _connected(self, side: str, on: socket.socket, call: Call) -> Any:
        return "not tried" if on in self._shut else on.connect_ex(self._target(call))

    def _accept(self, side: str, on: socket.socket, call: Call) -> Any:
        made, address = on.accept()
        made.setblocking(False)
        self._sockets.append((side, made))
        return self._shown(address)

    def _send(self, side: str, on: socket.socket, call: Call) -> Any:
        return on.send(bytes([call.n % 256]) * (call.m % 40))

    def _sendto(self, side: str, on: socket.socket, call: Call) -> Any:
        return on.sendto(bytes([call.k % 256]) * (call.k % 40), self._target(call))

    def _recv(self, side: str, on: socket.socket, call: Call) -> Any:
        return on.recv(call.n % 60)

    def _peek(self, side: str, on: socket.socket, call: Call) -> Any:
        return on.recv(1 + call.n % 60, socket.MSG_PEEK)

    def _recvfrom(self, side: str, on: socket.socket, call: Call) -> Any:
        data, source = on.recvfrom(1 + call.n % 60)
        return data, self._shown(source)

    def _shutdown(self, side: str, on: socket.socket, call: Call) -> Any:
        try:
            return on.shutdown(call.n % 3)
        except OSError:
            self._shut.add(on)
            raise

    def _close(self, side: str, on: socket.socket, call: Call) -> Any:
        return on.close()

    def _peer(self, side: str, on: socket.socket, call: Call) -> Any:
        return self._shown(on.getpeername())

    def _name(self, side: str, on: socket.socket, call: Call) -> Any:
        return self._shown(on.getsockname())

    def _error(self, side: str, on: socket.socket, call: Call) -> Any:
        return on.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

    def _poll(self, side: str, on: socket.socket, call: Call) -> Any:
        poller = select.poll()
        poller.register(on, IN | PRI | OUT | RDHUP)
        return [mask & MASK for _, mask in poller.poll(0)]

    def _select(self, side: str, on: socket.socket, call: Call) -> Any:
        near = [each for where, each in self._sockets if where == side and each.fileno() >= 0]
        ready = select.select(near, near, near, 0)
        return [[near.index(each) for each in part] for part in ready]


def transcript(kind: int, script: list[Call], hosts: int, pause: float | None = None) -> list[Any]:
    """What a script shows: on real sockets if a pause after each call is given."""
    machine = Machine(kind, Hosts(*SIDES[:hosts]) if pause is None else None, pause or 0.0)
    try:
        return machine.run(script)
    finally:
        machine.close()


def difference(kind: int, script: list[Call], hosts: int = 2) -> str:
    """Where the simulated hosts differ from the real loopback; empty if nowhere.

    The real kernel may be slow to deliver on a loaded machine, so a difference is looked at again
    with longer and longer pauses.
    """
    ours = transcript(kind, script, hosts)
    text = ""
    for pause in PAUSES:
        real = transcript(kind, script, hosts, pause)
        text = ""
        for at, (one, other) in enumerate(zip(real, ours, strict=True)):
            if one != other:
                steps = "\n".join(f"  {c} {r}" for c, r in zip(script[:at], real, strict=False))
                text = f"{steps}\ncall {at} {script[at]}: real {one[1]!r}, simulated {other[1]!r}"
                break
        if not text:
            break
    return text
