"""The three programs under simloom: seeded schedules, and its systematic search where it ends."""

import asyncio
import json
import random
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent))

import simloom  # noqa: E402
from programs import in_order, increment, serve  # noqa: E402

CLIENTS = ("ann", "bob")
RUNS = 2000
LOSS_PERCENT = 20


class Disk:
    """A store on the disk of a host of simloom, which has no files of its own."""

    def __init__(self, host) -> None:
        self.host = host

    def load(self) -> bytes | None:
        return self.host.disk.read("count") if self.host.disk.exists("count") else None

    def save(self, data: bytes) -> None:
        self.host.disk.write("count", data)
        self.host.disk.fsync("count")


def counting(remembers: bool):
    async def main(world) -> None:
        counters = []
        world.net.set_datagram_loss(LOSS_PERCENT)
        world.net.set_latency(0.0, 2.0)
        world.host("server").spawn(
            lambda: serve(counters.append, None, remembers, address="server")
        )
        await world.sleep(0.1)
        hosts = [world.host(name) for name in CLIENTS]
        tasks = [host.spawn(lambda name=host.name: increment(name)) for host in hosts]
        await asyncio.gather(*tasks)
        await world.sleep(10)
        assert counters[-1].count <= len(CLIENTS), f"counted {counters[-1].count}"

    return main


def crashing(keeps_names: bool):
    async def main(world) -> None:
        counters = []
        world.net.set_datagram_loss(LOSS_PERCENT)
        world.net.set_latency(0.0, 2.0)
        server = world.host("server")
        disk = Disk(server)
        server.spawn(lambda: serve(counters.append, disk, True, keeps_names, "server"))
        await world.sleep(0.1)
        task = world.host("ann").spawn(lambda: increment("ann"))
        await world.sleep(random.uniform(0, 3))
        server.crash()
        server.restart()
        await task
        await world.sleep(10)
        assert counters[-1].count <= 1, f"counted {counters[-1].count}"

    return main


PROGRAMS = {
    "counter, wrong": counting(False),
    "counter, right": counting(True),
    "call_soon twice": in_order,
    "crash after write, wrong": crashing(False),
    "crash after write, right": crashing(True),
}


def main() -> None:
    for name, program in PROGRAMS.items():
        begin = perf_counter()
        result = simloom.explore(program, runs=RUNS, seed_randomness=True)
        found = "none"
        if result.failed:
            found = f"{result.failures[0].error}: {result.failures[0].message}"
        print(
            json.dumps(
                {
                    "program": name,
                    "finds": found,
                    "looked": f"{result.runs:,} schedules",
                    "seconds": round(perf_counter() - begin, 2),
                    "claims": "a seed" if result.failed else f"{result.runs:,} schedules passed",
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
