"""Ranks that poll: for ever, which is reported, or until something comes."""

import pytest
from mpi.scripts import written

from presage.search.scripts import check_script

POLLS = {
    "iprobe": "while not comm.iprobe(source=1):\n    pass\n",
    "improbe": "while comm.improbe() is None:\n    pass\n",
    "test": "r = comm.issend(1, dest=1)\nwhile not r.Test():\n    pass\n",
    "testall": "rs = [comm.irecv(source=1)]\nwhile not MPI.Request.Testall(rs):\n    pass\n",
    "testany": "rs = [comm.irecv()]\nwhile not MPI.Request.Testany(rs)[1]:\n    pass\n",
    "testsome": "rs = [comm.irecv()]\nwhile not MPI.Request.Testsome(rs):\n    pass\n",
}


@pytest.mark.usefixtures("verdicts_only")
@pytest.mark.parametrize("spins", [1, 2, 3])
@pytest.mark.parametrize("how", POLLS)
def test_a_rank_that_polls_for_ever_is_reported(how, spins, tmp_path):
    body = "".join(f"    {line}\n" for line in POLLS[how].splitlines())
    path = written(tmp_path, f"if rank == 0:\n{body}")
    [found] = check_script(path, 2, spins=spins, traces=None).violations
    assert found.prop == "no_deadlock" and "rank 0 waits in " in found.message
