"""What the simulated operating system costs: an event, a boot, a disposal. Run by `make bench`.

An event is a datagram that CPython's own loop reads, hands to a protocol, and answers. A boot is
`asyncio.run` up to its first wait, with a datagram endpoint and without. A disposal lets go of such
a process; collecting its garbage, which is done for many processes at once, is counted apart.

Time is that of the processor, the least of many repetitions: other work on the machine only adds.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from typing import Any

from presage.frontends.real.machine import kernel
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.packets import Datagram
from presage.frontends.real.machine.process import Process
from presage.process.leaves import ORIGINALS, TABLE

EVENTS, BOOTS, ROUNDS = 1000, 200, 15
GOALS = {"event": 12, "boot": 150, "boot with an endpoint": 150, "disposal": 40}
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


def main() -> None:
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
        "disposal": min(disposal for _, disposal, _ in served),
        "garbage of a process": min(garbage for _, _, garbage in served),
    }
    for name, seconds in found.items():
        goal, cost = GOALS.get(name), seconds * 1e6
        verdict = "" if goal is None else f"goal {goal:4} us  {'met' if cost <= goal else 'MISSED'}"
        print(f"  {name:24} {cost:8.1f} us   {verdict}")
    TABLE.down()


if __name__ == "__main__":
    main()
