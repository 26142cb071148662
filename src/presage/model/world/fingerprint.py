"""The fingerprint of a state of a live world, written out; the kernel sums up differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from presage._core import combine, mix
from presage.model.world.faults import UNLIMITED
from presage.model.world.snapshot import Local, without_ghosts
from presage.model.world.system import System

LOCAL, OBSERVER, BUDGET = 0, 1, 2  # kinds of parts of a fingerprint
WORD = 2**64


def fingerprint(
    system: System,
    locals: Sequence[Local],
    observers: Sequence[bytes],
    budgets: Sequence[float],
    between: Iterable[int],
) -> int:
    """64 bits that stand for a state; `between`: the parts of what is between the nodes."""
    digest, parts = system.codec.digest, list(between)
    for automaton, local in zip(system.automata, locals, strict=True):
        digests = [digest(value) for value in without_ghosts(automaton.ghosts, local)]
        parts.append(mix(LOCAL, automaton.index, combine(digests)))
    for at, state in enumerate(observers):
        parts.append(mix(OBSERVER, at, digest(state)))
    for fault, granted in enumerate(system.faults.budgets):
        if 0 < granted < UNLIMITED:
            parts.append(mix(BUDGET, fault, int(budgets[fault])))
    return sum(parts) % WORD or 1
