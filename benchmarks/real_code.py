"""What real code costs: an event, a boot, a restore, a disposal, a state. Run by `make bench`.

An event is a datagram that CPython's own loop reads, hands to a protocol, and answers. A boot is
`asyncio.run` up to its first wait, with a datagram endpoint and without. A disposal lets go of such
a process; collecting its garbage, which is done for many processes at once, is counted apart. A
restore makes a used copy of a library as new: twelve modules, which with their classes are fifty
dicts. States are those of a counter over UDP with four clients, one datagram lost; the first ones,
which run most of the real code, are not counted, so the rate is that of look-ups.

Time is that of the processor, the least of many repetitions: other work on the machine only adds.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from presage import Faults, check
from presage.frontends.real.isolate import Isolation
from presage.frontends.real.machine import kernel
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.packets import Datagram
from presage.frontends.real.machine.process import Process
from presage.process.leaves import ORIGINALS, TABLE
from presage.real import Node, RealSystem

EVENTS, BOOTS, RESTORES, ROUNDS = 1000, 200, 200, 15
MODULES, CLASSES = 12, 38
STATES_FIRST, STATES, RATE_GOAL = 300_000, 3_000_000, 1_000_000
GOALS = {"event": 12, "boot": 150, "boot with an endpoint": 150, "restore": 80, "disposal": 40}
HOST = Host("a", ("a", "b"))
PORT = 9000
NOW: Callable[[], float] = ORIGINALS[time, "thread_time"]
assert kernel


class Echo(asyncio.DatagramProtocol):
    """Sends back what comes."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._transport.sendto(data, addr)


async def serve() -> None:
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(Echo, local_addr=("0.0.0.0", PORT))
    await asyncio.Event().wait()


async def sleep() -> None:
    await asyncio.sleep(10)


def boot(main: Callable[[], Any]) -> Process:
    process = Process(HOST, lambda: asyncio.run(main()))
    process.begin()
    return process


def event() -> float:
    """Seconds for one datagram and its answer."""
    process = boot(serve)
    packets = [Datagram(1, PORT, b"%d" % number) for number in range(EVENTS)]
    started = NOW()
    for packet in packets:
        process.receive("b", packet)
    seconds = NOW() - started
    assert len(process.collect().sends) == EVENTS
    process.dispose()
    return seconds / EVENTS


def lives(main: Callable[[], Any]) -> tuple[float, float, float]:
    """Seconds for a boot, for a disposal, and for the garbage of one process."""
    started = NOW()
    processes = [boot(main) for _ in range(BOOTS)]
    booted = NOW()
    for process in processes:
        process.dispose()
    disposed = NOW()
    processes.clear()
    del process
    gc.collect(0)
    collected = NOW()
    times = (booted - started, disposed - booted, collected - disposed)
    return times[0] / BOOTS, times[1] / BOOTS, times[2] / BOOTS


def library(folder: str) -> None:
    """A package of so many modules and classes, each of which keeps something."""
    home = Path(folder, "library")
    home.mkdir()
    names = [f"part{number}" for number in range(MODULES - 1)]
    home.joinpath("__init__.py").write_text("".join(f"from . import {name}\n" for name in names))
    for at, name in enumerate(names):
        classes = range(at, CLASSES, len(names))
        text = "".join(f"class C{n}:\n    seen = []\n    size = {n}\n" for n in classes)
        home.joinpath(f"{name}.py").write_text(f"kept = {{}}\nlimit = 3\n{text}")


def restore(folder: str) -> float:
    """Seconds to make a copy of the library as new, after a process has changed something in it."""
    isolation = Isolation(path=(folder,))
    for _ in range(2):  # the first copy tells what is shared, and stays as it is
        copy = isolation.take()
        with copy.inside():
            module: Any = importlib.import_module("library")
    total = 0.0
    for _ in range(RESTORES):
        module.part0.kept["x"] = 1
        module.part1.C1.seen.append(2)
        started = NOW()
        if not copy.restore():
            raise RuntimeError("a copy of a plain library could not be restored")
        total += NOW() - started
    if module.part0.kept or module.part1.C1.seen:
        raise RuntimeError("a restored copy keeps what was done to it")
    return total / RESTORES


class Asks(asyncio.DatagramProtocol):
    """Waits for one answer."""

    def __init__(self, answered: asyncio.Event) -> None:
        self._answered = answered

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._answered.set()


async def ask(name: str) -> None:
    """A client of `Echo` that asks twice if it has to."""
    loop, answered = asyncio.get_running_loop(), asyncio.Event()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: Asks(answered), remote_addr=("10.0.0.1", PORT)
    )
    for _ in range(2):
        transport.sendto(name.encode())
        try:
            await asyncio.wait_for(answered.wait(), 1)
            return
        except TimeoutError:
            pass


def search(states: int) -> tuple[int, float]:
    """States of the counter, at least so many, and the seconds that they took."""
    clients = {name: Node(ask, name) for name in ("ann", "bob", "cyd", "dee")}
    system = RealSystem({"server": Node(serve), **clients}, faults=Faults(drop=1))
    started = time.process_time()
    report = check(system, states=states, traces=None)
    return report.unique, time.process_time() - started


def rate() -> float:
    """States a second, once most steps are known."""
    (few, first), (many, whole) = search(STATES_FIRST), search(STATES)
    return (many - few) / (whole - first)


def main() -> None:
    per_second = rate()
    with tempfile.TemporaryDirectory() as folder:
        library(folder)
        restored = min(restore(folder) for _ in range(ROUNDS))
    TABLE.up()
    gc.collect()
    gc.freeze()
    gc.disable()
    plain = [lives(sleep) for _ in range(ROUNDS)]
    served = [lives(serve) for _ in range(ROUNDS)]
    found = {
        "event": min(event() for _ in range(ROUNDS)),
        "boot": min(boot for boot, _, _ in plain),
        "boot with an endpoint": min(boot for boot, _, _ in served),
        "restore": restored,
        "disposal": min(disposal for _, disposal, _ in served),
        "garbage of a process": min(garbage for _, _, garbage in served),
    }
    for name, seconds in found.items():
        goal, cost = GOALS.get(name), seconds * 1e6
        verdict = "" if goal is None else f"goal {goal:4} us  {'met' if cost <= goal else 'MISSED'}"
        print(f"  {name:24} {cost:8.1f} us   {verdict}")
    TABLE.down()
    verdict = "met" if per_second >= RATE_GOAL else "MISSED"
    print(f"  {'states a second':24} {per_second:8,.0f}      goal {RATE_GOAL:,}  {verdict}")


if __name__ == "__main__":
    main()
