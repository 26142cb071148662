"""`presage mpirun`: one plain run, with the output and the status of the script."""

import subprocess
import sys

from mpi.scripts import written


def mpirun(*args, folder):
    command = [sys.executable, "-m", "presage", "mpirun", *map(str, args)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def test_a_script_gets_its_ranks_and_arguments(tmp_path):
    text = "import sys\nprint(rank, size, __name__, sys.argv[1:])\n"
    path = written(tmp_path, text)
    status, out, err = mpirun("-n", 2, path.name, "--flag", "x", folder=tmp_path)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "0 2 __main__ ['--flag', 'x']",
        "1 2 __main__ ['--flag', 'x']",
    ]


def test_lines_can_be_tagged(tmp_path):
    path = written(tmp_path, "print('a', end='')\ncomm.barrier()\nprint('b')\n")
    _, out, _ = mpirun("-n", 2, "--tag-output", path, folder=tmp_path)
    assert sorted(out.splitlines()) == ["[0] ab", "[1] ab"]


def test_a_deadlock_is_explained(tmp_path):
    path = written(tmp_path, "comm.recv(source=1 - rank, tag=7)\n")
    status, out, err = mpirun("-n", 2, path.name, folder=tmp_path)
    assert (status, out) == (1, "")
    assert "rank 0 waits in recv(source=1, tag=7) at script.py:6, for rank 1" in err
    assert "rank 1 waits in recv(source=0, tag=7) at script.py:6, for rank 0" in err


def test_a_failure_is_explained(tmp_path):
    path = written(tmp_path, "assert rank == 0, 'not the first'\n")
    status, _, err = mpirun("-n", 2, path.name, folder=tmp_path)
    assert status == 1
    assert "rank 1: AssertionError: not the first at script.py:6" in err


def test_a_script_may_end_itself(tmp_path):
    path = written(tmp_path, "import sys\nsys.exit(0 if rank else None)\n")
    assert mpirun("-n", 2, path, folder=tmp_path)[0] == 0
    path = written(tmp_path, "import sys\nsys.exit('no')\n")
    assert mpirun("-n", 2, path, folder=tmp_path)[0] == 1
    path = written(tmp_path, "comm.Abort(3)\n")
    status, _, err = mpirun("-n", 2, path, folder=tmp_path)
    assert status == 1 and "Abort(errorcode=3)" in err


def test_a_missing_script_is_told(tmp_path):
    status, _, err = mpirun("-n", 2, "nothing.py", folder=tmp_path)
    assert status == 2
    assert "usual cause:" in err and "way out:" in err


def test_modules_beside_the_script_are_the_ranks_own(tmp_path):
    helper = "from mpi4py import MPI\nseen = []\nrank = MPI.COMM_WORLD.rank\n"
    written(tmp_path, helper, "helper.py", head="")
    text = "import helper\nhelper.seen.append(rank)\ncomm.barrier()\n"
    text += "from helper import seen, rank as other\nassert (seen, other) == ([rank], rank)\n"
    path = written(tmp_path, text)
    assert mpirun("-n", 3, path, folder=tmp_path)[0] == 0


def test_who_sleeps_longer_comes_later(tmp_path):
    path = written(tmp_path, "import time\ntime.sleep(3 - rank)\nprint(rank)\n")
    assert mpirun("-n", 3, path, folder=tmp_path)[1].split() == ["2", "1", "0"]


def test_what_there_is_not_is_told(tmp_path):
    path = written(tmp_path, "MPI.Nothing\n")
    status, _, err = mpirun(path, folder=tmp_path)
    assert status == 1 and "mpi4py.MPI has no `Nothing`" in err
