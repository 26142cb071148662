"""The three programs under presage: every order, every fault within its budget."""

import json
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent))

from programs import File, in_order, increment, serve  # noqa: E402

from presage import Faults, always, check  # noqa: E402
from presage.real import Node, RealSystem, here  # noqa: E402

CLIENTS = ("ann", "bob")
SECONDS = 300


async def server(remembers: bool, keeps_names: bool, stores: bool) -> None:
    store = File("/var/count") if stores else None
    await serve(lambda counter: here.expose(counter=counter), store, remembers, keeps_names)


def count(node) -> dict[str, int]:
    counter = node.get("counter")
    return {"count": 0 if counter is None else counter.count}


@always
def counted_once(world) -> bool:
    return (world["server"].count or 0) <= len(CLIENTS)


def counter_system(faults: Faults, *how: bool) -> RealSystem:
    nodes = {"server": Node(server, *how, view=count)}
    nodes |= {name: Node(increment, name) for name in CLIENTS}
    return RealSystem(nodes, faults=faults, properties=[counted_once])


def crashing_system(keeps_names: bool) -> RealSystem:
    nodes = {
        "server": Node(server, True, keeps_names, True, view=count),
        "ann": Node(increment, "ann"),
    }

    @always
    def counted_once(world) -> bool:
        return (world["server"].count or 0) <= 1  # nothing while it is down

    faults = Faults(crash=1, restart=1, drop=1, nodes=["server"])
    return RealSystem(nodes, faults=faults, properties=[counted_once])


SYSTEMS = {
    "counter, wrong": lambda: counter_system(Faults(drop=1), False, True, False),
    "counter, right": lambda: counter_system(Faults(drop=1), True, True, False),
    "call_soon twice": lambda: RealSystem({"program": Node(in_order)}),
    "crash after write, wrong": lambda: crashing_system(False),
    "crash after write, right": lambda: crashing_system(True),
}


def main() -> None:
    for name, make in SYSTEMS.items():
        begin = perf_counter()
        report = check(make(), seconds=SECONDS, traces=None)
        assert not report.errors, report.errors
        steps = report.violations[0].step if report.violations else None
        found = f"violation in {steps} steps" if steps is not None else "none"
        proof = "proof: every order and fault" if report.exhausted else f"{report.unique:,} states"
        print(
            json.dumps(
                {
                    "program": name,
                    "finds": found,
                    "looked": f"{report.unique:,} states, {report.generated:,} transitions",
                    "seconds": round(perf_counter() - begin, 2),
                    "claims": "a bug, replayed" if steps is not None else proof,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
