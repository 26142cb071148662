"""Weights: how likely each event is in a random walk. An exhaustive search does not look at them.

A walk draws among what can happen next; an event of weight 8 comes eight times as often as one of
weight 1, and one of weight 0 never. The defaults are MaceMC's, whose walks they let come to rest:
what the application and the network have to do goes first, timers are rare.

Place: below `declare` and `service`, which take weights for single timers, actions and choices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from presage.errors import BadSystem
from presage.model.keywords import named_arguments
from presage.model.source import caller
from presage.records import record

WEIGHT_MAX = 1_000_000
UNIT = 1 << 20  # the kernel counts weights in whole numbers of 1 / UNIT
RECOVERIES = frozenset({"restart", "heal"})  # ends of faults: a calm walk lets them happen
LOSSES = ("broken", "refused", "keepalive")  # how a node hears that a stream is gone


@named_arguments
@record(frozen=True)
class Weights:
    """The weight of each kind of event; `fault` is that of every fault."""

    deliver: float = 8  # of a message, be it on a stream
    broken: float = 8
    refused: float = 2
    keepalive: float = 1
    timer: float = 1  # of a timer that has no weight of its own
    action: float = 40  # of an action that has no weight of its own
    call: float = 40
    write: float = 40
    wake: float = 40
    restart: float = 40
    heal: float = 40
    fault: float = 1

    def __post_init__(self) -> None:
        for each in fields(self):
            checked_weight(getattr(self, each.name), f"`Weights({each.name}=...)`")

    def of(self, kind: str) -> float:
        """The weight of events of `kind`; a kind without a weight of its own is a fault."""
        return float(getattr(self, kind, self.fault))


def checked_weight(weight: Any, where: str) -> float:
    """`weight`, if it is one."""
    number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not number or not 0 <= weight <= WEIGHT_MAX:
        raise BadSystem(
            f"{where}: {weight!r} is not a weight",
            "a negative number, a flag or a text",
            f"give a number from 0 (never in a walk) to {WEIGHT_MAX:,}",
        )
    return float(weight)


USUAL = Weights()  # of systems that say nothing else


def share(weights: Sequence[float], k: int) -> float:
    """The part of option `k` in a choice with these weights."""
    return weights[k] / math.fsum(weights)


def checked_shares(weights: Any, n: int) -> tuple[float, ...]:
    """`weights`, if they are those of a choice among `n`."""
    where = f"{caller()}: weights of a choice"
    given = tuple(checked_weight(each, where) for each in weights)
    if len(given) != n or not any(given):
        raise BadSystem(
            f"{where}: {weights!r} for {n} options",
            "a weight left out or added, or nothing but zeros",
            "give one weight per option, at least one of them above zero",
        )
    return given


@cache
def units(weight: float) -> int:
    """A weight as the kernel counts it; what is above zero stays so."""
    return max(round(weight * UNIT), 1) if weight > 0 else 0
