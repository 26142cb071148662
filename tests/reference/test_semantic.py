"""Executions that move faults and events: never a state or violation that is not there.

Also: nothing is ever claimed. Where no fault is left out and no move is left, moves have led to
nearly every state, but not to all.
"""

from collections import Counter
from itertools import islice

import pytest
from reference.batches import batches
from reference.test_alike import broken, kinds, searched, small, wanted

from presage import check
from presage.systems.samc.zle import system as election

EXECUTIONS_MAX = 5_000
NEARLY_ALL = 0.95  # of the states, where the search ends by itself


@pytest.mark.parametrize("batch", batches(1, 4))
def test_what_is_met_and_found_is_there(batch):
    outcomes: Counter[str] = Counter()
    for make in kinds():
        systems = small(make, 600_000 + batch * 10_000, ("crash", "drop", "reset"))
        for seed, system, breadth, states in islice(systems, wanted(batch)):
            report, met = searched(system, search="semantic", walks=EXECUTIONS_MAX)
            assert met <= states, seed
            assert broken(report) <= broken(breadth), seed
            assert not report.exhausted and report.is_partial
            assert "held" not in report.properties.values()
            assert "exhaustively" not in str(report) and " held" not in str(report)
            ended = report.executions < EXECUTIONS_MAX
            if ended and not report.skipped.skipped:
                outcomes["met"] += len(met)
                outcomes["there"] += len(states)
    assert 0 < outcomes["there"] * NEARLY_ALL <= outcomes["met"]


def test_an_execution_in_which_a_property_breaks_is_counted():
    report = check(election(bug="ZK-1075"), search="semantic", traces=None)
    assert [found.prop for found in report.violations] == ["can_join"]
    assert 1 <= report.executions <= 11


def test_the_same_executions_are_run_again():
    how = {"search": "semantic", "walks": 30, "traces": None}
    one, other = (check(election(bug="ZK-975", fixed=True), **how) for _ in range(2))
    assert (one.executions, one.unique, one.generated) == (30, other.unique, other.generated)


def test_nothing_is_claimed_where_no_fault_is_possible():
    report = check(election(crashes=0, restarts=0), search="semantic", walks=5, traces=None)
    assert report.skipped.places == 0 and not report.exhausted
    assert "held" not in report.properties.values() and "no violation found" in str(report)
