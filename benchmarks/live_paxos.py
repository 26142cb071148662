"""Paxos with either bug of the paper, in the scenario of its Figure 8: avoided by what, or missed.

All three nodes run for a while, as long-lived nodes do, before the scenario begins. Between its two
rounds is a gap that is drawn from the seed, the same in all modes. Predictions expect no crash: if
another one may come, no filter helps a node that keeps nothing on disk.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from live_modes import Measured, Pace, counts, steered

from presage.model.world.system import System
from presage.runtime.foresight import Foresight
from presage.runtime.shaping import Shape
from presage.runtime.step import Record
from presage.systems import mace_paxos

WARM = 20.0  # seconds before the scenario begins
AFTER = 2.0  # seconds after its last act
GAP_MAX = 20.0
NETWORK = Shape(delay=0.065, jitter=0.01)  # what is lost, the scenario says
KINDS = ("filter", "check", "missed", "harmless")


def buggy(bug: str) -> System:
    """Paxos with that bug."""
    how: Any = {"bug": bug}
    return mace_paxos.system(**how)


def run(
    system: System, mode: str, seed: int, pace: Pace, foresight: Foresight, *, reset: bool
) -> str:
    """One run: what kept two values from being chosen, or that nothing did."""
    gap = random.Random(f"gap {seed}").uniform(0, GAP_MAX)
    cluster = Measured(system, seed=seed, shape=NETWORK)
    values: set[int] = set()

    def note(name: str, record: Record) -> None:
        automaton = cluster.node(name).automaton
        values.update(automaton.codec.decode(record.after[automaton.positions["chosen"]]))

    cluster.on_commit.append(note)
    with steered(cluster, mode, pace, foresight) as steering:
        play(cluster, gap, reset)
    found = counts(steering)
    if len(values) > 1:
        return "missed"
    return "check" if found.get("refused") else "filter" if found.get("filtered") else "harmless"


def play(cluster: Measured, gap: float, reset: bool) -> None:
    """Let the scenario happen."""

    def all_others(do: Callable[[str, str], None], node: str) -> None:
        for other in cluster.system.names:
            if other != node:
                do(node, other)

    commands: dict[str, Callable[..., None]] = {
        "cut": lambda node: all_others(cluster.cut, node),
        "heal": lambda node: all_others(cluster.heal, node),
        "lose": lambda *what: cluster.lossy.add(what),
        "keep": lambda *what: cluster.lossy.discard(what),
        "call": cluster.call,
        "kill": cluster.kill,
        "start": cluster.start,
    }
    for act in mace_paxos.scenario(gap=gap, reset=reset):
        cluster.run(WARM + act.at)
        commands[act.do](*act.args)
    cluster.run(cluster.now + AFTER)


def runs(bug: str, mode: str, count: int, pace: Pace) -> dict[str, int]:
    """How many runs ended how."""
    system = buggy(bug)
    found = dict.fromkeys(KINDS, 0)
    with Foresight(system) as foresight:
        for seed in range(count):
            reset = bug == "PX-bug2"
            found[run(system, mode, seed, pace, foresight, reset=reset)] += 1
    return found
