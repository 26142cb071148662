"""`presage mpirun`: one plain run, with the output and the status of the script."""

import subprocess
import sys

import pytest
from mpi.scripts import written

from presage.search.scripts import check_script


def mpirun(*args, folder):
    return presage("mpirun", *args, folder=folder)


def presage(*args, folder):
    command = [sys.executable, "-m", "presage", *map(str, args)]
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


def test_a_command_of_python_runs_its_script(tmp_path):
    path = written(tmp_path, "import sys\nprint(rank, sys.argv)\n")
    for words, ranks in (
        (("python",), "01"),
        (("python3.11", "-u"), "01"),
        ((sys.executable, "-m", "mpi4py"), "01"),
        (("python", "-m", "mpi4py.run"), "01"),
        (("python", "-m", "mpi4py.futures"), "0"),
    ):
        status, out, err = mpirun("-n", 2, *words, path.name, "x", folder=tmp_path)
        assert (status, err) == (0, "")
        assert out.splitlines() == [f"{each} ['{path.name}', 'x']" for each in ranks]
    for words in (("python", "-c", "pass"), ("python", "-m", "json.tool"), ("python",)):
        status, _, err = mpirun("-n", 2, *words, folder=tmp_path)
        assert status == 2 and "is no command that ranks can run" in err


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("comm.Abort(7)", 7),
        ("comm.Abort(-1)", 255),
        ("comm.Abort(0)", 0),
        ("comm.Abort()", 0),
        ("rank and comm.Abort(9)\ncomm.Barrier()", 9),
        ("try:\n    comm.Abort(5)\nexcept Exception:\n    pass", 5),
        ("try:\n    comm.Abort(5)\nexcept BaseException:\n    assert False", 1),
        ("import sys\nsys.exit(300)", 44),
        ("import atexit\natexit.register(comm.Abort, 4)", 4),
    ],
)
def test_a_script_that_ends_itself_gives_its_status(text, expected, tmp_path):
    path = written(tmp_path, f"{text}\n")
    status, _, err = mpirun("-n", 2, path, folder=tmp_path)
    assert status == expected and err.startswith("error: ")


def test_an_end_by_itself_is_a_violation_of_a_check(tmp_path):
    path = written(tmp_path, "rank and comm.Abort(7)\n")
    for report in (check_script(path, 2), check_script(path, 2, search="tree")):
        (found,) = report.violations
        assert found.kind == "abort" and "Abort(errorcode=7)" in found.message


def test_a_thread_of_the_real_module_is_refused_with_its_line(tmp_path):
    path = written(
        tmp_path,
        "import importlib\nreal = importlib.import_module('threading')\n"
        "real.Thread(target=comm.Barrier).start()\n",
    )
    for command in (["mpirun", "-n", "2", path.name], ["check", path.name, "--mpi", "2"]):
        done = presage(*command, folder=tmp_path)
        assert done[0] == 3 and "script.py:8: process `rank 0` starts a thread" in done[2]
        assert "way out: `threading` or `concurrent.futures`, imported by" in done[2]


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


def test_what_a_rank_may_not_do_ends_it_where_it_asks_next_whatever_it_catches(tmp_path):
    text = """\
import socket
for turn in range(9):
    if rank == 0:
        if turn == 3:
            try:
                socket.socket()
            except Exception:
                pass
        comm.send(turn, 1)
        print(comm.recv(source=1))
    else:
        comm.send(comm.recv(source=0), 0)
"""
    status, out, err = mpirun("-n", 2, written(tmp_path, text).name, folder=tmp_path)
    assert (status, out) == (3, "0\n1\n2\n")
    assert "process `rank 0` opens a socket, which presage cannot control" in err
