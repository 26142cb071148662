"""Executions that move faults and events: never a state or violation that is not there.

Also: nothing is ever claimed. Yet where no fault is left out, no execution is as long as may be and
no move is left, every state was met.
"""

from collections import Counter
from importlib import import_module
from itertools import islice

import pytest
from reference.batches import batches
from reference.test_alike import broken, kinds, searched, small, wanted

from presage import check
from presage.systems.samc.bugs import BUGS
from presage.systems.samc.zle import system as election

EXECUTIONS_MAX = 5_000
DEPTH = 200  # the greatest of an execution, by default

# At most so many until the bug: the paper's, but where it needs fewer.
EXECUTIONS = {bug.id: bug.paper.samc for bug in BUGS} | {"ZK-790": 100, "MR-4748": 20}


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
                outcomes["ended"] += 1
                assert met == states or report.depth >= DEPTH, seed
    assert outcomes["ended"]


@pytest.mark.parametrize(("kind", "seed"), [(1, 600_164), (2, 600_284)])
def test_what_leads_out_of_a_circle_is_tried_where_an_execution_comes_to_it_first(kind, seed):
    system = list(kinds())[kind](seed)
    _, states = searched(system, threads=1)
    report, met = searched(system, search="semantic", walks=EXECUTIONS_MAX)
    assert (report.executions < EXECUTIONS_MAX, report.skipped.skipped) == (True, 0)
    assert report.depth == DEPTH  # an execution goes round until it is cut
    assert met == states


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.id)
def test_one_configuration_finds_the_bugs_of_the_paper(bug):
    how = {"search": "semantic", "walks": EXECUTIONS[bug.id], "traces": None, "threads": 1}
    system = import_module(f"presage.systems.samc.{bug.model}").system(**bug.parameters)
    system.properties = tuple(each for each in system.properties if each.name == bug.property)
    report = check(system, **how)
    assert [found.prop for found in report.violations] == [bug.property]


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
