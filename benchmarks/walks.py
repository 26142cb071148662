"""The speed of random walks once every step is known, and how much faster that is than live code.

The same hunt runs on one kernel until it runs no handler any more; the last one counts. Beside it
walk live worlds, by the same weights, as every tool does that runs the code itself at each step.
Run by `make bench`.
"""

from __future__ import annotations

import random
import sys
import time

from presage import World
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.model.weights import Weights
from presage.model.world.system import System
from presage.search.check import build
from presage.search.hunt import executions
from presage.search.hunt.settings import Hunt
from presage.search.kernel.bridge import Bridge
from presage.systems import chord, mace_transport, pastry, randtree

GOAL = 500_000  # steps per second of RandTree with four nodes
ROUNDS = 4
EXECUTIONS = 2_000
LIVE_STEPS = 2_000

CASES = {
    "randtree nodes=4": randtree.system(nodes=4),
    "mace_transport": mace_transport.system(),
    "chord nodes=3": chord.system(nodes=3),
    "pastry nodes=3": pastry.system(nodes=3),
}
LIMITS = Limits(seconds=60.0, walks=EXECUTIONS)


def memoised(system: System) -> float:
    """Steps per second of CPU time of random executions on a warm kernel."""
    how = Hunt(executions="random", prefixes=0)
    with Sandbox() as sandbox:
        kernel = build(system, Bridge(system, sandbox))
        for _ in range(ROUNDS):
            began = time.process_time()
            raw = executions.run(kernel, system, how, LIMITS)
            spent = time.process_time() - began
    return raw.generated / spent


def live(system: System) -> float:
    """Steps per second of CPU time of walks of live worlds."""
    rng = random.Random(0)
    weights = system.weights or Weights()
    began, steps = time.process_time(), 0
    while steps < LIVE_STEPS:
        world = World.initial(system)
        for _ in range(100):
            events = [e for e in world.enabled() if e.kind in ("restart", "heal") or calm(e.kind)]
            if not events:
                break
            [event] = rng.choices(events, [weights.of(e.kind) or 1 for e in events])
            world.apply(event, rng.choice(world.runs(event)))
            steps += 1
    return steps / (time.process_time() - began)


def calm(kind: str) -> bool:
    return kind in ("deliver", "receive", "timer", "action", "call", "broken", "refused", "wake")


def main() -> int:
    rates = {name: (memoised(system), live(system)) for name, system in CASES.items()}
    print(f"{'random walks, one thread':<26}{'steps/s warm':>14}{'live code':>12}{'ratio':>9}")
    for name, (warm, plain) in rates.items():
        print(f"{name:<26}{warm:>14,.0f}{plain:>12,.0f}{warm / plain:>8,.0f}x")
    rate = rates["randtree nodes=4"][0]
    print(f"goal: {GOAL:,} steps/s on randtree nodes=4: {'met' if rate >= GOAL else 'missed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
