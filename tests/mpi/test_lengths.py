"""However long a script is, it is followed to its end; one that is cut short is no pass."""

import pytest
from mpi.scripts import written

from presage.cli import main
from presage.frontends.mpi.report.races import HAZARD
from presage.search import scripts
from presage.search.report import Report, Violation
from presage.search.scripts import check_script

COLLECTIVES = """
total = 0
for turn in range(80):
    total = comm.allreduce(total + rank)
"""


def test_a_script_with_many_collective_calls_is_checked_to_its_end(tmp_path):
    report = check_script(written(tmp_path, COLLECTIVES), 3, traces=None)
    assert report.depth > 1_000
    assert (report.exhausted, report.stopped_by, report.violations) == (True, None, ())
    assert report.traces == 1  # nothing in it depends on the buffering
    report.assert_holds()


def test_a_script_that_was_always_cut_short_is_no_pass(tmp_path, capsys):
    path = written(tmp_path, COLLECTIVES)
    assert main(["check", str(path), "--mpi", "3", "--depth", "100"]) == 2
    shown = capsys.readouterr().out
    assert shown.startswith("no execution came to its end")
    assert "every execution was cut short by `depth`" in shown


def test_one_limit_of_time_is_for_both_bufferings(tmp_path, monkeypatch):
    budgets = []
    real = scripts.check
    monkeypatch.setattr(
        scripts, "check", lambda *a, **k: (budgets.append(k["budget"]), real(*a, **k))[1]
    )
    check_script(written(tmp_path, "comm.bcast(1)\n"), 2, traces=None, seconds=50)
    assert len(budgets) == 2 and budgets[0] is budgets[1]
    assert budgets[0].seconds == 50


def test_a_script_that_does_not_depend_on_the_buffering_is_explored_once(tmp_path):
    once = check_script(written(tmp_path, "comm.barrier()\n"), 2, traces=None)
    assert once.exhausted and once.traces == 1
    twice = check_script(written(tmp_path, "comm.bcast(1)\n"), 2, traces=None)
    assert twice.exhausted and twice.traces == 2


@pytest.mark.parametrize(
    ("ended", "kind"), [(None, HAZARD), ("spins", HAZARD), ("seconds", "deadlock")]
)
def test_what_was_not_explored_says_nothing_of_needing_buffers(ended, kind):
    stuck = Report(violations=[Violation("no_deadlock", "deadlock", "rank 0 waits")])
    report = scripts._together(stuck, Report(stopped_by=ended, exhausted=ended is None))
    assert [found.kind for found in report.violations] == [kind]
