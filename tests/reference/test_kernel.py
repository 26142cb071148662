"""The kernel against the reference explorer, on random systems: states, verdicts, lengths."""

from itertools import count

import pytest
from hypothesis import HealthCheck, assume, given, settings
from reference.batches import batches
from reference.explorer import TooLarge, explore
from reference.random_systems import random_system, systems

from presage import check

STATES_MAX = 250
SYSTEMS_PER_TEST = 20  # on every run, and what hypothesis thinks of


def outcome(system, **how):
    """What the kernel says: counts, violations with their lengths, and what was reached."""
    report = check(system, keep_going=True, traces=None, liveness="rest", **how)
    assert report.exhausted
    assert report.errors == ()
    broken = {found.prop: found.steps for found in report.violations if found.kind != "unreached"}
    reached = {name for name, said in report.properties.items() if said == "reached"}
    return report, broken, reached


def compare(system, expected):
    kinds = {prop.name: prop.kind for prop in system.properties} | {"no_exception": "step"}
    shortest = {name: n for name, n in expected.decided.items() if kinds[name] != "sometimes"}
    reached = set(expected.decided) - set(shortest)
    for threads in (1, 3):
        report, broken, found = outcome(system, threads=threads)
        assert (report.unique, report.generated) == (expected.states, expected.generated)
        assert report.depth == expected.depth
        assert broken == shortest
        assert found == reached
    report, broken, found = outcome(system, search="dfs", threads=2)
    assert (report.unique, report.generated) == (expected.states, expected.generated)
    assert set(broken) == set(shortest)
    assert found == reached


def agrees(system) -> bool:
    """Compare, unless the system is too large to wait for."""
    try:
        expected = explore(system, STATES_MAX)
    except TooLarge:
        return False
    compare(system, expected)
    return True


@pytest.mark.parametrize("batch", batches(1, 4))
def test_kernel_and_reference_agree_on_random_systems(batch):
    compared = 0
    for seed in count(batch * 10_000):
        try:
            compared += agrees(random_system(seed))
        except AssertionError as error:
            raise AssertionError(f"random_system({seed}): {error}") from error
        if compared == SYSTEMS_PER_TEST:
            return


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(systems())
def test_kernel_and_reference_agree_on_whatever_hypothesis_thinks_of(system):
    assume(agrees(system))
