"""How many walks recovered from each place of a trace: measured at some, between them estimated."""

from __future__ import annotations

from presage.records import NamedTuple
from presage.trace.trace import Trace


class Share(NamedTuple):
    """The share of walks that recover from the state after a step."""

    share: float
    measured: bool  # or else on the line between the two measured places around it


def shares(trace: Trace) -> dict[int, Share]:
    """By step, 0 for the initial state; empty where nothing was measured."""
    measured = {at: recovered / walks for at, recovered, walks in trace.recovery if walks}
    if not measured:
        return {}
    places = sorted(measured)
    found: dict[int, Share] = {}
    for left, right in zip(places, [*places[1:], len(trace.steps)], strict=True):
        for at in range(left, right + 1):
            ahead = measured.get(right, measured[left])
            part = (at - left) / (right - left) if right > left else 0
            found[at] = Share(measured[left] + (ahead - measured[left]) * part, at in measured)
    critical = trace.critical
    for at in found:
        if critical is not None and at >= critical:
            found[at] = Share(0.0, at in measured)
        elif critical is not None and not found[at].measured:
            # A cliff is no slope: before the critical step the last measured share stands.
            known = max(place for place in places if place <= at)
            found[at] = Share(measured[known], False)
    return {at: share for at, share in found.items() if at <= len(trace.steps)}
