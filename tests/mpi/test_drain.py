"""Calls of `Waitany` that nobody asks for an index: no choice, and nothing is left out."""

from random import Random

import pytest
from mpi.scripts import written
from mpi.test_deliveries import explored

from presage.frontends.mpi.point.request_sets import RequestSets
from presage.search.scripts import check_script

RANKS = 3
POSTS = """\
log, kept = [], []
if rank == 0:
    bufs = [bytearray(1) for _ in range(3)]
    reqs = [comm.Irecv(bufs[0], 1), comm.Irecv(bufs[1], 2), comm.Irecv(bufs[2], 2)]
"""
OTHERS = """\
elif rank == 1:
    comm.Bsend(b"1", 0)
else:
    {wait}
    comm.Bsend(b"2", 0)
    comm.Bsend(b"3", 0)
raise type(repr(log), (Exception,), {{}})
"""
LINES = (
    *["kept.append(MPI.Request.Waitany(reqs))"] * 4,
    "MPI.Request.Waitany(reqs)",
    "log.append(kept[-1] == MPI.UNDEFINED)",
    "log.append(int(kept[-1]))",
    "log.append(kept[0] + 1)",
    "log.append('x' if kept[-1] in (0, 2) else 'y')",
    "log.append(bool(reqs[0]))",
    "log.append(reqs[1] == MPI.REQUEST_NULL)",
    "log.append(bytes(bufs[1])) if not reqs[1] else None",
    "comm.bsend(0, 2)",
    "assert not log",
    "log.append(MPI.Request.Testany(reqs)[1])",
)


def random_drain(seed):
    random = Random(seed)
    lines = [random.choice(LINES) for _ in range(random.randint(3, 6))]
    lines.insert(0, LINES[0])
    wait = "comm.recv(source=0)" if lines.count("comm.bsend(0, 2)") else "pass"
    body = "".join(f"    {line}\n" for line in lines)
    return POSTS + body + OTHERS.format(wait=wait)


def at_once(monkeypatch):
    """Decide each index when its call returns."""

    @classmethod
    def Waitany(cls, requests, status=None):
        return cls.waitany(requests, status)[0]

    monkeypatch.setattr(RequestSets, "Waitany", Waitany)


def batches():
    """A few on every run, all of them by `make test-all`."""
    return [pytest.param(at, marks=pytest.mark.slow if at else ()) for at in range(0, 200, 10)]


@pytest.mark.parametrize("first", batches())
def test_what_is_decided_later_comes_out_as_what_is_decided_at_once(first, tmp_path, monkeypatch):
    paths = [written(tmp_path, random_drain(at), f"d{at}.py") for at in range(first, first + 10)]
    later = [outcome(path) for path in paths]
    at_once(monkeypatch)
    assert later == [outcome(path) for path in paths]


def outcome(path):
    logs, stuck = explored(path, RANKS, "eager", "odpor", literal=False)
    return logs, stuck


def test_an_index_is_an_int(tmp_path):
    text = (
        "if rank == 0:\n"
        "    reqs = [comm.Irecv(bytearray(1), 1), comm.Irecv(bytearray(1), 1)]\n"
        "    one, two = (MPI.Request.Waitany(reqs) for _ in range(2))\n"
        "    assert isinstance(one, int) and {one, two} == {0, 1} and one != two\n"
        "    assert [5, 6][one] == 5 + one == f'{one + 5:d}' or f'{5 + one}' == str(5 + one)\n"
        "    assert one + two == 1 and max(one, two) == 1 and -one <= 0 and one < 2\n"
        "else:\n    comm.Send(b'1', 0)\n    comm.Send(b'2', 0)\n"
    )
    assert not check_script(written(tmp_path, text), 2, traces=None).violations


def test_a_call_that_never_returns_is_no_failure_of_what_follows(tmp_path):
    text = (
        "if rank == 0:\n    reqs = [comm.Irecv(bytearray(1), 1), comm.Irecv(bytearray(1), 1)]\n"
        "    MPI.Request.Waitany(reqs)\n    assert False\n"
    )
    [found] = check_script(written(tmp_path, text), 2, traces=None).violations
    assert found.prop == "no_deadlock" and "waitany(requests=2)" in found.message


HALO = """\
left, right = (rank - 1) % size, (rank + 1) % size
for step in range(3):
    ghosts = [bytearray(1), bytearray(1)]
    reqs = [
        comm.Irecv(ghosts[0], left, 1), comm.Irecv(ghosts[1], right, 2),
        comm.Isend(bytes([rank]), right, 1), comm.Isend(bytes([rank]), left, 2),
    ]
    while MPI.Request.Waitany(reqs) != MPI.UNDEFINED:
        pass
    assert [ghosts[0][0], ghosts[1][0]] == [left, right]
"""


def test_a_halo_that_drains_its_requests_has_one_order(tmp_path):
    report = check_script(written(tmp_path, HALO), 4, traces=None)
    assert report.exhausted and not report.violations and report.traces == 2


def test_tests_in_vain_of_a_barrier_do_not_multiply_with_what_others_do(tmp_path):
    text = "r = comm.Ibarrier()\nwhile not r.Test():\n    pass\n"
    report = check_script(written(tmp_path, text), 6, traces=None)
    assert report.stopped_by == "spins" and not report.violations and report.executions < 1_000
