"""What a search of real nodes did not cover, in sentences: bounds that cut, and what is assumed.

A bound of a node is no fault of the search, but neither is what lies behind it known. Every report
says which bounds kept something from happening.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from presage.frontends.real.automaton import RealAutomaton
from presage.frontends.real.machine.scheduler import POINTS_MAX


def reservations(nodes: Sequence[RealAutomaton]) -> Iterator[str]:
    """Sentences for the report."""
    bounds: dict[str, list[str]] = {}
    for node in nodes:
        for bound in node.bounds:
            bounds.setdefault(bound, []).append(node.name)
    for bound, names in bounds.items():
        yield f"bounded: `{bound}` kept more from happening at {', '.join(names)}"
    merging = [node.merging for node in nodes if node.merging is not None]
    if merging:
        agreed, merged = sum(m.agreed for m in merging), sum(m.merged for m in merging)
        yield (
            f"as far as the views are right: {merged:,} histories merged by view, {agreed:,} twins"
            " agreed"
        )
    shared = sorted({each for node in nodes for each in node.driver.isolation.sources.compiled()})
    if shared:
        yield f"all processes share compiled packages, and what these keep: {', '.join(shared)}"
    spun = sorted({thread for node in nodes for thread in node.driver.spun})
    if spun:
        yield f"threads that poll were stopped as if they slept: {', '.join(spun)}"
    threaded = [node for node in nodes if node.driver.threaded]
    if threaded:
        yield (
            "threads change places where they wait, and at locks, starts, sends and receives:"
            + "".join(f" {node.name} at most {node.real.preemptions} times;" for node in threaded)
            + " races between two lines without a lock are not looked for"
        )
    crowded = [node.name for node in nodes if node.driver.crowded]
    if crowded:
        yield (
            f"only the first {POINTS_MAX} places of a step were tried for a change of threads at"
            f" {', '.join(crowded)}"
        )
    plain = [node.name for node in nodes if node.driver.plain_tls]
    if plain:
        yield f"TLS was plain at {', '.join(plain)}: no keys, certificates not checked"
