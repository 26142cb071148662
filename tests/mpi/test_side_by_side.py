"""Scripts on presage's mpi4py and on the real one, with MPICH, side by side."""

import pytest
from mpi.demos import FUTURES, LONG, MEASURES, OTHER, SAME, SHARED, SHARED_RANKS
from mpi.real_mpi import demos, on_mpich, on_presage, programs

pytestmark = pytest.mark.slow

POLICIES = ("default", "exception", "abort", "fatal")

LENGTHS = """\
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
status = MPI.Status()
if comm.rank == 0:
    comm.Send(np.arange(1.0), 1)
    comm.Send([np.arange(4.0), 1, MPI.DOUBLE], 1)
    comm.Send([np.arange(4.0), 2], 1)
else:
    for room in (2, 10):
        buf = np.full(room, 9.0)
        comm.Recv([buf, room, MPI.DOUBLE], 0, status=status)
        print(buf, status.Get_count(MPI.DOUBLE))
    comm.Recv([buf, 5, MPI.DOUBLE], 0)
    print(buf)
other = 1 - comm.rank
two = np.full(2, 7.0)
comm.Sendrecv([np.arange(2.0), 1, MPI.DOUBLE], other, 0, [two, 2, MPI.DOUBLE], other, 0)
print(two, comm.sendrecv(comm.rank, float(other), source=float(other)))
"""
AROUND = """\
import atexit, os, sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
atexit.register(lambda: print("end", comm.rank, comm.allreduce(1), MPI.Is_finalized()))
os.environ["MINE"] = str(comm.rank)
comm.Barrier()
print(comm.rank, os.environ["MINE"], os.environ["PMI_RANK"], os.environ["PMI_SIZE"])
print(repr(sys.stdin.read()) if comm.rank == 0 else "", sys.argv[1:])
"""


@pytest.fixture(scope="module")
def binaries():
    return programs() or pytest.skip("mpi4py and mpich cannot be had from PyPI")


@pytest.fixture(scope="module")
def folder():
    return demos() or pytest.skip("the source of mpi4py cannot be had from PyPI")


@pytest.mark.parametrize("name", SAME)
def test_a_demo_of_mpi4py_ends_and_prints_as_with_mpich(name, folder, binaries):
    real = on_mpich(binaries, folder / name, SAME[name])
    assert real[0] == 0
    assert on_presage(folder / name, SAME[name]) == real


@pytest.mark.parametrize("name", MEASURES)
def test_a_benchmark_of_mpi4py_ends_as_with_mpich(name, folder, binaries):
    real, ours = (
        on_mpich(binaries, folder / name, MEASURES[name]),
        on_presage(folder / name, MEASURES[name]),
    )
    assert (ours[0], len(ours[1])) == (real[0], len(real[1])) == (0, len(real[1]))


@pytest.mark.parametrize("name", SHARED)
def test_executors_of_a_demo_share_ranks_as_with_mpich(name, folder, binaries):
    real = on_mpich(binaries, folder / name, SHARED_RANKS, runner=FUTURES)
    ours = on_presage(folder / name, SHARED_RANKS, runner=FUTURES)
    assert real[0] == 0 and real[1]
    assert ours == real if name in SAME else (ours[0], len(ours[1])) == (0, len(real[1]))


def test_nine_of_ten_demos_end_as_with_mpich(folder):
    alike, every = {**SAME, **MEASURES, **LONG}, {**SAME, **MEASURES, **LONG, **OTHER}
    assert all((folder / name).is_file() for name in every)
    assert len(every) == 67 and len(alike) >= 0.9 * len(every)


@pytest.mark.parametrize("policy", POLICIES)
def test_handlers_of_errors_are_those_of_mpich(policy, folder, binaries):
    program, said = folder / "init-fini/test_0.py", f"errors={policy}"
    real = on_mpich(binaries, program, 2, said)
    assert real[0] == 0
    assert on_presage(program, 2, said) == real


@pytest.mark.parametrize("text", [LENGTHS, AROUND], ids=["lengths", "around"])
def test_a_script_ends_and_prints_as_with_mpich(text, tmp_path, binaries):
    path = tmp_path / "script.py"
    path.write_text(text)
    real = on_mpich(binaries, path, 2, "-x", "1")
    assert real[0] == 0 and real[1]
    assert on_presage(path, 2, "-x", "1") == real
