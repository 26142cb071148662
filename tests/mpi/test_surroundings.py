"""What real scripts find around them: input, environment, handlers at exit, modules, clocks."""

import os
import subprocess
import sys

import pytest
from mpi.scripts import outcomes, written

from presage.search.scripts import check_script


def command(*args, folder, given="", **variables):
    done = subprocess.run(
        [sys.executable, "-m", "presage", *map(str, args)],
        cwd=folder,
        input=given,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.returncode, done.stdout, done.stderr


EXIT = """\
import atexit
@atexit.register
def last():
    assert order == [1], order
    assert comm.allreduce(1) == size and not MPI.Is_finalized()
    request.wait()
order = []
atexit.register(order.append, 1)
request = comm.isend(rank, (rank + 1) % size)
comm.recv()
"""


def test_handlers_at_exit_are_called_by_ranks_before_mpi_ends(tmp_path):
    report = check_script(written(tmp_path, EXIT), 3, traces=None)
    assert report.exhausted and not report.violations


def test_a_handler_at_exit_that_fails_is_a_failure_of_its_rank(tmp_path):
    path = written(tmp_path, "import atexit\natexit.register(lambda: [][rank])\n")
    [found] = check_script(path, 1, traces=None).violations
    assert "IndexError" in found.message


def test_handlers_are_not_called_when_presage_ends(tmp_path):
    written(tmp_path, "import atexit\natexit.register(print, 'end of', rank)\nprint('body')\n")
    status, out, err = command("mpirun", "-n", 2, "script.py", folder=tmp_path)
    assert (status, err) == (0, "")
    assert sorted(out.splitlines()) == ["body", "body", "end of 0", "end of 1"]


INPUT = """\
import sys
first = input("? ") if rank == 0 else None
assert comm.bcast(first) == "5"
rest = sys.stdin.read()
assert rest == ("six\\nseven" if rank == 0 else ""), rest
try:
    input()
except EOFError:
    print("end")
"""


@pytest.mark.parametrize(
    "how", [("mpirun", "-n", 2, "script.py"), ("check", "script.py", "--mpi", 2)]
)
def test_the_first_rank_reads_the_input_and_the_others_see_its_end(how, tmp_path):
    written(tmp_path, INPUT)
    status, out, err = command(*how, folder=tmp_path, given="5\nsix\nseven")
    assert status == 0, out + err


VARIABLES = """\
import os
for name in ("PMI", "OMPI_COMM_WORLD"):
    assert int(os.environ[name + "_RANK"]) == rank and os.getenv(name + "_SIZE") == str(size)
assert os.environb[b"MPI_LOCALRANKID"] == b"%d" % rank
os.environ["MINE"] = str(rank)
comm.Barrier()
assert os.environ["MINE"] == str(rank) and "MINE" in dict(os.environ)
"""


def test_launchers_variables_are_those_of_the_rank_and_changes_are_its_own(tmp_path):
    assert all(outcome.is_ok for outcome in outcomes(tmp_path, VARIABLES))
    assert not check_script(tmp_path / "script.py", 2, traces=None).violations
    assert not {"PMI_RANK", "OMPI_COMM_WORLD_SIZE", "MINE"} & set(os.environ)
    text = "import os; print(sorted(os.environ))"
    seen = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout
    assert "PATH" in seen and "MINE" not in seen


INSTALLED = {
    "uses/__init__.py": "from uses.inner import rank\n",
    "uses/inner.py": "from mpi4py import MPI\nrank = MPI.COMM_WORLD.rank\ncalls = []\n",
    "above.py": "from uses import rank as number\n",
    "apart.py": "users = []\n",
}
USER = """\
import above, apart, uses.inner
assert uses.rank == uses.inner.rank == above.number == rank
uses.inner.calls.append(rank)
comm.Barrier()
import uses.inner as again
assert again.calls == [rank] and again is uses.inner
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    for name, text in INSTALLED.items():
        path = tmp_path / "packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    yield
    for name in [
        name for name in sys.modules if name.partition(".")[0] in ("uses", "above", "apart")
    ]:
        del sys.modules[name]


def test_installed_modules_that_use_mpi4py_are_the_ranks_own(tmp_path, installed):
    folder = tmp_path / "scripts"
    folder.mkdir()
    assert all(outcome.is_ok for outcome in outcomes(folder, USER))
    assert not check_script(folder / "script.py", 3, traces=None).violations
    assert "apart" in sys.modules and not {"uses", "uses.inner", "above"} & set(sys.modules)


def test_a_loop_that_waits_for_a_clock_ends(tmp_path):
    text = (
        "import time\nfrom time import perf_counter\n"
        "for clock in (time.time, time.monotonic, perf_counter, MPI.Wtime):\n"
        "    begun = clock()\n    while clock() - begun < 1e-4:\n        pass\n"
    )
    assert all(outcome.is_ok for outcome in outcomes(tmp_path, text, 1))


RC = """\
import os
from mpi4py import rc
assert rc.initialize is True and rc.thread_level == "multiple"
rc.initialize = False
from mpi4py import MPI
assert not MPI.Is_initialized()
{init}
comm = MPI.COMM_WORLD
comm.Barrier()
"""


def test_mpi_is_initialized_by_hand_where_the_script_says_so(tmp_path):
    with_init = RC.format(init="assert MPI.Init_thread() == MPI.Query_thread()")
    path = written(tmp_path, with_init, head="")
    assert not check_script(path, 2, traces=None).violations
    path = written(tmp_path, RC.format(init=""), head="")
    first, *_ = check_script(path, 2, traces=None).violations
    assert "barrier is called before Init" in first.message


def test_options_of_mpi4py_come_from_the_environment(tmp_path):
    text = (
        "import os\nfrom mpi4py import rc\nos.environ['MPI4PY_RC_INITIALIZE'] = 'false'\n"
        "os.environ['MPI4PY_RC_IRECV_BUFSZ'] = '2048'\nfrom mpi4py import MPI\n"
        "assert rc.initialize is False and rc.irecv_bufsz == 2048 and not MPI.Is_initialized()\n"
    )
    assert not check_script(written(tmp_path, text, head=""), 2, traces=None).violations


WRONG_OPTIONS = """\
import importlib, os, warnings
from mpi4py import rc
rc.initialize = 3
rc.irecv_bufsz = -1
rc.errors = "abort"
with warnings.catch_warnings(record=True) as seen:
    MPI = importlib.import_module("mpi4py.MPI")
texts = sorted(str(each.message) for each in seen)
assert texts == [
    "mpi4py.rc.initialize: unexpected value 3",
    "mpi4py.rc.irecv_bufsz: unexpected value -1",
], texts
assert MPI.Is_initialized() and MPI.COMM_WORLD.Get_errhandler() == MPI.ERRORS_ABORT
"""


def test_options_that_make_no_sense_are_warned_of(tmp_path):
    path = written(tmp_path, WRONG_OPTIONS, head="")
    assert not check_script(path, 2, traces=None).violations


PICKLES = """\
import os
os.environ["MPI4PY_PICKLE_PROTOCOL"] = "3" if rank else "4"
assert MPI.pickle.PROTOCOL == (3 if rank else 4) and type(MPI.pickle) is MPI.Pickle
def dumps(obj, *protocol):
    return f"{obj()} of rank {rank}".encode()
MPI.pickle.__init__(dumps, bytes.decode)
got = comm.sendrecv(lambda: 7, 1 - rank)
assert got == f"7 of rank {1 - rank}" and MPI.pickle.PROTOCOL is None
"""


def test_each_rank_pickles_as_it_says(tmp_path):
    assert [each.kind for each in outcomes(tmp_path, PICKLES, 2)] == ["ok", "ok"]


def test_a_script_knows_the_whole_path_of_its_file(tmp_path, monkeypatch):
    text = "import os, sys\nassert os.path.isabs(__file__)\nassert sys.path[0] == os.getcwd()\n"
    written(tmp_path, text, head="")
    monkeypatch.chdir(tmp_path)
    assert not check_script("script.py", 2, traces=None).violations
