"""How random walks choose: by the weights of a system, and, if they are calm, without its faults.

A calm walk is what a system does while nothing goes wrong. The ends of faults are left to it: a
node that is down restarts, a partition heals, as far as the budgets of the system allow; a node
that a system never lets restart is gone for good, and the others have to do without it.
"""

from __future__ import annotations

from presage._core import FAULTS
from presage.limits import Weighing
from presage.model.weights import LOSSES, RECOVERIES, USUAL, units
from presage.model.world.system import System

CALM = "calm walks: no faults, and of the answers that have a likely one only that"


def kernel_weights(system: System, *, calm: bool) -> Weighing | None:
    """What events weigh in a walk; None: all states weigh alike."""
    if calm:
        return calm_weights(system)
    if system.weights is None:
        return None
    weights = system.weights
    faults = [units(weights.of(fault)) for fault in FAULTS]
    return Weighing(faults, [units(weights.of(loss)) for loss in LOSSES])


def calm_weights(system: System) -> Weighing:
    """Weights in which no fault happens, though what faults have broken may come back."""
    weights = system.weights or USUAL
    faults = [units(weights.of(fault)) if fault in RECOVERIES else 0 for fault in FAULTS]
    return Weighing(faults, [units(weights.of(loss)) for loss in LOSSES], calm=True)
