"""A bounded search covers exactly what lies within its bound, whatever the order it goes in."""

from itertools import count

import pytest
from reference.batches import batches
from reference.explorer import TooLarge, explore
from reference.random_systems import random_system

from presage import check

SYSTEMS_PER_TEST = 6


def bounded(system, search, depth, threads=1):
    report = check(
        system,
        search=search,
        depth=depth,
        threads=threads,
        keep_going=True,
        liveness="rest",
        traces=None,
    )
    broken = {found.prop for found in report.violations if found.kind != "unreached"}
    return report.unique, report.exhausted, broken


@pytest.mark.parametrize("batch", batches(1, 4))
def test_a_bounded_depth_first_search_misses_nothing_within_its_bound(batch):
    compared = 0
    for seed in count(90_000 + batch * 1_000):
        system = random_system(seed)
        try:
            expected = explore(system, most=300)
        except TooLarge:
            continue
        if expected.depth < 4:
            continue
        depth = expected.depth // 2 + 1
        breadth_first = bounded(system, "bfs", depth)
        assert bounded(system, "dfs", depth) == breadth_first, seed
        assert bounded(system, "dfs", depth, threads=3) == breadth_first, seed
        assert not breadth_first[1]
        compared += 1
        if compared == SYSTEMS_PER_TEST:
            return


def test_walks_go_only_where_the_exhaustive_search_has_been():
    for seed in range(95_000, 95_020):
        system = random_system(seed)
        try:
            expected = explore(system, most=300)
        except TooLarge:
            continue
        report = check(system, search="walk", walks=200, depth=60, keep_going=True, traces=None)
        assert not report.exhausted
        assert report.unique <= expected.states
        broken = {found.prop for found in report.violations}
        assert broken <= set(expected.decided), seed
