"""A violation is called a race on what all orders say, not on what a few random ones do."""

import pytest

from presage.frontends.mpi.report import races
from presage.search.scripts import check_script

RARE = """\
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    order = [comm.recv(source=MPI.ANY_SOURCE) for _ in range(5)]
    assert order {claim}
else:
    comm.send(comm.rank, dest=0)
"""
NEVER = "> [9]"
ONE_ORDER = "== [5, 4, 3, 2, 1]"


def violation(tmp_path, claim, **options):
    path = tmp_path / "orders.py"
    path.write_text(RARE.format(claim=claim))
    report = check_script(path, 6, buffering="eager", traces=None, **options)
    (found,) = report.violations
    return found


@pytest.mark.parametrize("keep_going", [False, True])
def test_what_one_order_of_many_passes_is_a_race(tmp_path, keep_going):
    found = violation(tmp_path, ONE_ORDER, keep_going=keep_going)
    assert found.kind == races.RACE
    assert "with another order of arrival the program ends well: a receive of rank 0 got" in (
        found.message
    )


def test_what_no_order_passes_is_no_race_whatever_races_there_are(tmp_path):
    found = violation(tmp_path, NEVER)
    assert found.kind == "exception"
    assert races.NOT_KNOWN not in found.message
    assert "another order" not in found.message


def test_where_the_search_is_cut_the_label_says_that_it_is_not_known():
    def cut():
        return races.Passing(None, False)

    class Step:
        process, post, then = "rank 0", None, None
        op = races.Recv("0/1", want=(races.ANY, races.ANY))

    kind, text = races.refined("deadlock", "stuck", [Step()], cut)
    assert (kind, text) == ("deadlock", f"stuck\n{races.NOT_KNOWN}")


def test_a_violation_without_a_receive_from_anyone_starts_no_search():
    def search():
        raise AssertionError("nothing can race")

    assert races.refined("deadlock", "stuck", [], search) == ("deadlock", "stuck")
