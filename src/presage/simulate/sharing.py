"""Who gets how much of what several use at once.

Links: max-min fair sharing. A rate can only grow at the cost of one that is no larger, which comes
down to each flow having a *bottleneck*: a full link on which no other flow is faster. Progressive
filling finds it: the link that leaves the least for each of its flows is full first; its flows have
their rates, and what they take elsewhere is gone.

Processors: every computation gets the same, and none more than one core.

All of it is made of +, -, / and comparisons, so exact fractions go through as well as floats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def fair_rates(
    routes: Sequence[Sequence[str]], capacity: Mapping[str, float], own: Mapping[str, float]
) -> list[float]:
    """The max-min fair rate of one flow for each of `routes`, which name links.

    `capacity` is of the links that flows share; `own` is of those that give each flow their whole
    bandwidth. A flow that crosses no link at all is infinitely fast.
    """
    left, crossing = _claims(routes, capacity, own)
    rates = [math.inf] * len(routes)
    open_flows = {at for at, route in enumerate(routes) if route}
    while open_flows:
        link = min(crossing, key=lambda name: left[name] / len(crossing[name]))
        rate = left[link] / len(crossing[link])
        for flow in crossing.pop(link):
            rates[flow] = rate
            open_flows.remove(flow)
            for other in _links_of(flow, routes, own):
                if other in crossing:
                    left[other] = max(left[other] - rate, 0)
                    del crossing[other][flow]
                    if not crossing[other]:
                        del crossing[other]
    return rates


def _claims(
    routes: Sequence[Sequence[str]], capacity: Mapping[str, float], own: Mapping[str, float]
) -> tuple[dict[tuple[str, int], float], dict[tuple[str, int], dict[int, None]]]:
    """What each link has, and which flows cross it; a link of `own` is one for each flow."""
    left: dict[tuple[str, int], float] = {}
    crossing: dict[tuple[str, int], dict[int, None]] = {}
    for flow, route in enumerate(routes):
        for link, name in zip(_links_of(flow, routes, own), route, strict=True):
            left[link] = own[name] if name in own else capacity[name]
            crossing.setdefault(link, {})[flow] = None
    return left, crossing


def _links_of(
    flow: int, routes: Sequence[Sequence[str]], own: Mapping[str, float]
) -> list[tuple[str, int]]:
    return [(name, flow if name in own else -1) for name in routes[flow]]


def core_rate(speed: float, cores: int, computations: int) -> float:
    """How fast each of so many computations runs on a host."""
    return speed if computations <= cores else speed * cores / computations
