"""Every litmus test of threads has the verdict of the standard."""

import pytest
from mpi.threads.fails import FAILS
from mpi.threads.holds import HOLDS

from presage.search.scripts import check_script

LONG = (  # half a second of the processor, and more
    "which of two threads receives first",
    "a heart that beats until it is stopped",
    "a loop that nobody ends",
    "a number that is read before a message and written after it",
    "a number under a lock",
    "a queue between threads",
    "threads of a pool that send",
)


def marked(tests):
    return [
        pytest.param(each, marks=pytest.mark.slow, id=each.name)
        if each.name in LONG
        else pytest.param(each, id=each.name)
        for each in tests
    ]


def checked(litmus, folder):
    path = folder / "litmus.py"
    path.write_text(litmus.text)
    return check_script(path, litmus.ranks, traces=None)


def test_there_are_enough():
    assert len(FAILS) >= 12
    assert len(HOLDS) >= 12


@pytest.mark.parametrize("litmus", marked(FAILS))
def test_it_fails(litmus, tmp_path):
    report = checked(litmus, tmp_path)
    assert {found.prop for found in report.violations} == {litmus.breaks}, report


@pytest.mark.parametrize("litmus", marked(HOLDS))
def test_it_holds(litmus, tmp_path):
    report = checked(litmus, tmp_path)
    assert not report.violations, report.violations[0].explanation()
    assert report.leaves_out or "run(" not in litmus.text
    assert not (report.exhausted and report.leaves_out)
    assert report.stopped_by in (None, "spins"), report
