"""Litmus tests: of what MPI promises nothing fails, of what it does not promise all that can."""

import pytest
from mpi.litmus.fails import FAILS
from mpi.litmus.holds import HOLDS

from presage.search.scripts import check_script


def checked(test, folder):
    path = folder / "litmus.py"
    path.write_text(test.text)
    return check_script(path, test.ranks, eager_limit=test.limit, traces=None)


def test_there_are_enough_of_both_kinds():
    tests = FAILS + HOLDS
    assert len(FAILS) >= 30 and len(HOLDS) >= 30
    assert len({test.name for test in tests}) == len(tests)
    assert all(test.clause[0].isdigit() for test in tests)


@pytest.mark.usefixtures("verdicts_only")
@pytest.mark.parametrize("test", FAILS, ids=lambda test: test.name)
def test_it_may_fail(test, tmp_path):
    report = checked(test, tmp_path)
    assert test.breaks in {found.prop for found in report.violations}, report


@pytest.mark.usefixtures("verdicts_only")
@pytest.mark.parametrize("test", HOLDS, ids=lambda test: test.name)
def test_it_holds(test, tmp_path):
    report = checked(test, tmp_path)
    assert not report.violations
    assert report.exhausted or report.stopped_by == "spins"
