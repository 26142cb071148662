"""Fair cycles and territories on random graphs, against brute force."""

import pytest
from reference.batches import batches
from reference.brute import fair, graphs, territories, violated

from presage._core import Graph

FAIRNESSES = ("weak", "strong", "none")


def counted(graph, at):
    known = graph.reachability(at)
    return known.live, known.unknown, known.dead, known.critical


def check_lasso(graph, holds, fairness, lasso, cut=None):
    """It is what it claims to be: edges of the graph, closed, without the property, fair."""
    stem, loop = lasso
    path = [*stem, *(state for state, _ in loop), loop[0][0]]
    assert path[0] == 0
    for before, after in zip(path, path[1:], strict=False):
        assert after in [target for target, _ in graph[before]]
    for at, (state, unit) in enumerate(loop):
        assert (path[len(stem) + at + 1], unit) in graph[state]
    states = {state for state, _ in loop}
    assert not any(holds[state] for state in states)
    assert fair(graph, fairness, states, {unit for _, unit in loop}, cut)


@pytest.mark.parametrize("block", batches(1, 5))
def test_a_fair_cycle_is_found_iff_brute_force_finds_one(block):
    found = dict.fromkeys(FAIRNESSES, 0)
    for graph, holds, _ in graphs(block, 800):  # 4,000 in all
        native = Graph.of(graph, [holds])
        for fairness in FAIRNESSES:
            lasso = native.lasso(0, fairness)
            assert (lasso is not None) == violated(graph, holds, fairness), (graph, holds, fairness)
            if lasso is not None:
                check_lasso(graph, holds, fairness, lasso)
                found[fairness] += 1
    assert 0 < found["strong"] < found["weak"] < found["none"] < 800


def test_lassos_on_larger_graphs_are_what_they_claim_to_be():
    for graph, holds, _ in graphs(99, 400, states=60, edges=200, units=8):
        native = Graph.of(graph, [holds])
        lassos = {fairness: native.lasso(0, fairness) for fairness in FAIRNESSES}
        for fairness, lasso in lassos.items():
            if lasso is not None:
                check_lasso(graph, holds, fairness, lasso)
        assert lassos["strong"] is None or lassos["weak"] is not None
        assert lassos["weak"] is None or lassos["none"] is not None


def test_territories_are_those_of_brute_force_where_the_graph_is_cut_or_not():
    met = set()
    for graph, holds, rng in graphs(7, 700, states=8, edges=14):
        expanded = rng.choice([len(graph), rng.randint(1, len(graph))])
        cut = [edges if at < expanded else None for at, edges in enumerate(graph)]
        native = Graph.of(cut, [holds, [True] * len(graph)])
        known = [edges or [] for edges in cut]
        told = territories(known, holds, range(expanded, len(graph)))
        met |= set(told)
        assert native.territories(0, [at + 1 for at in range(len(graph))]) == told
        critical = [
            (state, target)
            for state in range(expanded)
            for target, _ in graph[state]
            if (told[state], told[target]) == ("live", "dead")
        ]
        counts = [told.count(kind) for kind in ("live", "unknown", "dead")]
        assert counted(native, 0) == (*counts, len(critical))
        assert counted(native, 1) == (len(graph), 0, 0, 0)
    assert met == {"live", "unknown", "dead"}


def cut_graph(graph, rng):
    """The edges that a bound lets pass, and per state the units of those that it does not."""
    kept = [[edge for edge in edges if rng.random() < 0.7] for edges in graph]
    lost = [[edge for edge in edges if edge not in kept[at]] for at, edges in enumerate(graph)]
    order = [0]
    for state in order:
        order += sorted({target for target, _ in kept[state]} - set(order))
    number = {state: at for at, state in enumerate(order)}
    followed = [[(number[t], unit) for t, unit in kept[state]] for state in order]
    return followed, [[unit for _, unit in lost[state]] for state in order], order


@pytest.mark.parametrize("block", batches(1, 4))
def test_a_cycle_is_fair_by_what_is_enabled_also_where_it_was_not_followed(block):
    found = dict.fromkeys(FAIRNESSES, 0)
    cautious = 0
    for whole, verdicts, rng in graphs(21 + 100 * block, 700):
        graph, cut, order = cut_graph(whole, rng)
        holds = [verdicts[state] for state in order]
        native, blind = Graph.of(graph, [holds], cut), Graph.of(graph, [holds])
        for fairness in FAIRNESSES:
            lasso = native.lasso(0, fairness)
            assert (lasso is not None) == violated(graph, holds, fairness, cut), (graph, cut, holds)
            cautious += lasso is None and blind.lasso(0, fairness) is not None
            if lasso is not None:
                check_lasso(graph, holds, fairness, lasso, cut)
                found[fairness] += 1
        partial = [state for state, units in enumerate(cut) if units]
        expected = territories(graph, holds, partial)
        assert native.territories(0, [at + 1 for at in range(len(graph))]) == expected
    assert 0 < found["strong"] < found["weak"] < found["none"]
    assert cautious > 25


def check_cycle(graph, holds, fairness, cycle, cut):
    """A closed walk through these states avoids the property and is fair."""
    pairs = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    units = [{unit for target, unit in graph[s] if target == t} for s, t in pairs]
    assert all(units) and not any(holds[state] for state in cycle)
    assert fair(graph, fairness, set(cycle), set().union(*units), cut)


@pytest.mark.parametrize("algorithm", ["map", "ndfs"])
@pytest.mark.parametrize("block", batches(1, 4))
def test_accepting_cycles_are_the_fair_ones_of_brute_force(block, algorithm):
    found = {"weak": 0, "none": 0}
    for whole, verdicts, rng in graphs(33 + 100 * block, 700):
        graph, cut, order = cut_graph(whole, rng)
        holds = [verdicts[state] for state in order]
        native = Graph.of(graph, [holds], cut)
        for fairness in found:
            cycle = native.cycle(0, fairness, algorithm)
            assert (cycle is not None) == violated(graph, holds, fairness, cut), (graph, cut, holds)
            if cycle is not None:
                check_cycle(graph, holds, fairness, cycle, cut)
                found[fairness] += 1
    assert 80 < found["weak"] < found["none"]


def test_all_algorithms_agree_on_larger_graphs():
    met = set()
    for graph, holds, rng in graphs(34, 400, states=60, edges=200, units=8):
        cut = [[rng.randrange(8)] if rng.random() < 0.3 else [] for _ in graph]
        native = Graph.of(graph, [holds], cut)
        for fairness in ("weak", "none"):
            expected = native.lasso(0, fairness) is not None
            met.add((fairness, expected))
            for algorithm in ("map", "ndfs"):
                cycle = native.cycle(0, fairness, algorithm)
                assert (cycle is not None) == expected, (graph, cut, holds, algorithm)
                if cycle is not None:
                    check_cycle(graph, holds, fairness, cycle, cut)
    assert {("weak", True), ("weak", False)} <= met


def test_several_properties_share_one_graph():
    for graph, holds, rng in graphs(11, 300, states=6, edges=10):
        other = [rng.random() < 0.5 for _ in graph]
        both = Graph.of(graph, [holds, other])
        for at, verdicts in enumerate([holds, other]):
            alone = Graph.of(graph, [verdicts])
            for fairness in FAIRNESSES:
                found, expected = both.lasso(at, fairness), alone.lasso(0, fairness)
                assert (found is None) == (expected is None)
            assert counted(both, at) == counted(alone, 0)


def test_a_state_at_rest_is_one_that_only_faults_and_idle_steps_leave():
    idle, fault, call, step = (0, 0), (1, -2), (1, -1), (1, 3)
    for edges, rests in [([], True), ([idle], True), ([idle, fault], True)]:
        assert (Graph.of([edges, []], [[False, True]]).rest(0) is not None) == rests
    for edges in ([call], [idle, step], [fault, step]):
        assert Graph.of([edges, []], [[False, True]]).rest(0) is None
    with pytest.raises(ValueError, match="no fairness is `fair`"):
        Graph.of([[]], [[False]]).lasso(0, "fair")
