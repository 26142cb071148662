"""Fair cycles by brute force: every set of edges that a closed walk could take, one by one.

A graph is a list of edges per state, (target, unit) each; units below 0 are nobody's concern.
"""

import random
from itertools import combinations


def random_graph(rng, states=4, edges=9, units=3):
    """A small graph in breadth-first order from state 0, all of it reachable."""
    count = rng.randint(1, states)
    drawn = [
        (rng.randrange(count), rng.randrange(count), rng.randrange(-2, units))
        for _ in range(rng.randint(1, edges))
    ]
    order = [0]
    for state in order:
        order += sorted({t for s, t, _ in drawn if s == state} - set(order))
    number = {state: at for at, state in enumerate(order)}
    graph = [[] for _ in order]
    for source, target, unit in drawn:
        if source in number:
            graph[number[source]].append((number[target], unit))
    return graph


def closed_walks(graph, allowed):
    """Every non-empty set of edges among `allowed` states that one closed walk can take."""
    edges = [(s, t, u) for s in allowed for t, u in graph[s] if t in allowed]
    for size in range(1, len(edges) + 1):
        for chosen in combinations(edges, size):
            if connected(chosen):
                yield chosen


def connected(edges):
    states = {state for s, t, _ in edges for state in (s, t)}
    forward = reach({min(states)}, edges)
    backward = reach({min(states)}, [(t, s, u) for s, t, u in edges])
    return forward == backward == states


def reach(states, edges):
    states = set(states)
    while new := {t for s, t, _ in edges if s in states} - states:
        states |= new
    return states


def fair(graph, fairness, states, taken, cut=None):
    """Whether a walk through `states` that takes units `taken` is fair, by definition.

    `cut` are the units of edges that the graph lacks, per state.
    """
    cut = cut or [[] for _ in graph]
    listed = {state: [*(unit for _, unit in graph[state]), *cut[state]] for state in states}
    enabled = [{unit for unit in units if unit >= 0} for units in listed.values()]
    units = set().union(*enabled)
    if fairness == "weak":
        return all(unit in taken or any(unit not in e for e in enabled) for unit in units)
    return fairness == "none" or all(unit in taken for unit in units)


def violated(graph, holds, fairness, cut=None):
    """Whether a fair closed walk avoids every state where the property holds."""
    lacking = [state for state in range(len(graph)) if not holds[state]]
    return any(
        fair(graph, fairness, {s for s, _, _ in walk}, {u for _, _, u in walk}, cut)
        for walk in closed_walks(graph, lacking)
    )


def territories(graph, holds, partial):
    """Live, unknown or dead, per state, where not all edges of `partial` states are known."""
    edges = [(s, t, u) for s, here in enumerate(graph) for t, u in here]
    told = []
    for state in range(len(graph)):
        reached = reach({state}, edges)
        if any(holds[other] for other in reached):
            told.append("live")
        else:
            told.append("unknown" if reached & set(partial) else "dead")
    return told


def graphs(seed, count, **size):
    rng = random.Random(seed)
    for _ in range(count):
        graph = random_graph(rng, **size)
        yield graph, [rng.random() < 0.25 for _ in graph], rng
