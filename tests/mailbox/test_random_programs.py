"""Every reduction sees, in random programs, all that the plain search sees, and nothing else."""

import pytest
from process.explore import explore
from process.random_programs import SIMPLE, WHOLE, random_program

from presage import check

NODES_MAX = 250


def blocks(quick, all_of_them):
    """Of 20 seeds each; the first few run always."""
    slow = pytest.mark.slow
    return [pytest.param(n, marks=() if n < quick else slow) for n in range(all_of_them)]


def plainly(program, **options):
    try:
        found = explore(program, nodes_max=NODES_MAX, **options)
    except AssertionError:
        return None
    kinds = {kind for _, kind, _ in found.failures}
    return kinds | ({"deadlock"} if found.deadlocks else set()), found.runs


def natively(program, **options):
    report = check(program, keep_going=True, traces=None, **options)
    assert report.exhausted
    return {violation.kind for violation in report.violations}, report.traces


@pytest.mark.parametrize("block", blocks(2, 26))
@pytest.mark.usefixtures("verdicts_only")
def test_outcomes_are_those_of_the_plain_search(block):
    compared = 0
    for seed in range(block * 20, block * 20 + 20):
        expected = plainly(random_program(seed, WHOLE), reduced=True)
        if expected is None:
            continue
        compared += 1
        for reduction in ("dpor", "sdpor", "odpor"):
            found = natively(random_program(seed, WHOLE), reduction=reduction)
            assert found[0] == expected[0], (seed, reduction)
        assert natively(random_program(seed, WHOLE), search="bfs")[0] == expected[0], seed
    assert compared >= 4


@pytest.mark.parametrize("block", blocks(2, 13))
@pytest.mark.usefixtures("verdicts_only")
def test_traces_are_those_of_sleep_sets(block):
    compared = 0
    for seed in range(block * 20, block * 20 + 20):
        expected = plainly(random_program(seed, SIMPLE), reduced=True)
        if expected is None:
            continue
        compared += 1
        assert natively(random_program(seed, SIMPLE)) == expected, seed
    assert compared >= 4
