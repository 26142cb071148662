"""Scripts on presage's mpi4py and on the real one, with MPICH, side by side."""

import pytest
from mpi.real_mpi import demos, on_mpich, on_presage, programs

pytestmark = pytest.mark.slow

# Programs of mpi4py's demo folder that print the same whenever they are run, and their ranks.
SAME = {
    "compute-pi/cpi-cco.py": 3,
    "compute-pi/cpi-rma.py": 3,
    "init-fini/test_0.py": 2,
    "init-fini/test_1.py": 2,
    "init-fini/test_2.py": 2,
    "init-fini/test_3.py": 2,
    "init-fini/test_4.py": 2,
    "init-fini/test_5.py": 2,
    "init-fini/test_6.py": 2,
    "init-fini/test_mpi40.py": 2,
    "libmpi-cffi/apigen.py": 2,
    "mpi-ref-v1/ex-2.01.py": 3,
    "mpi-ref-v1/ex-2.08.py": 3,
    "mpi-ref-v1/ex-2.16.py": 3,
    "mpi-ref-v1/ex-2.29.py": 3,
    "mpi-ref-v1/ex-2.32.py": 3,
    "mpi-ref-v1/ex-2.34.py": 3,
    "mpi-ref-v1/ex-2.35.py": 3,
    **{f"mpi-ref-v1/ex-3.{at:02}.py": 3 for at in (*range(1, 10), 11, 12, 13)},
    "nxtval/nxtval-dynproc.py": 3,
    "nxtval/nxtval-mpi3.py": 3,
    "nxtval/nxtval-onesided.py": 3,
    "nxtval/nxtval-scalable.py": 3,
    "profiling/cpi.py": 3,
    "profiling/ring.py": 3,
    "reductions/reductions.py": 3,
    "reductions/test_reductions.py": 3,
    "sequential/seq.py": 3,
}
# These print times, or the name of the machine.
MEASURES = {
    "helloworld.py": 3,
    "mandelbrot/mandelbrot.py": 3,
    "mandelbrot/mandelbrot-seq.py": 1,
    "osu_barrier.py": 3,
    "osu_bw.py": 2,
    "osu_bibw.py": 2,
    "osu_latency.py": 2,
    "sequential/test_seq.py": 3,
}
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
