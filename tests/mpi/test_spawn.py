"""Ranks that start others: who they are, what they say to each other, and what is said of them."""

import subprocess
import sys
from random import Random

import pytest
from mpi.explore import explore
from mpi.scripts import HEAD, outcomes, written

from presage import Program, check
from presage.frontends.mpi import script
from presage.frontends.mpi.launch.run import mpirun
from presage.search.scripts import check_script

CHILD = HEAD + "import sys\nparent = MPI.Comm.Get_parent()\n"


@pytest.fixture(autouse=True)
def run_in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def family(folder, parents, children, ranks=1, number=2):
    """Write two scripts: ranks that spawn, and those spawned."""
    written(folder, children, "child.py", head=CHILD)
    spawn = f"import sys\nother = comm.Spawn(sys.executable, ['child.py'], maxprocs={number})\n"
    return written(folder, spawn + parents), ranks


def kinds(folder, *given, **named):
    report = check_script(*family(folder, *given, **named), traces=None)
    assert report.exhausted or report.violations
    return {broken.kind for broken in report.violations}


def said(folder, kind, *given, **named):
    path, ranks = family(folder, *given, **named)
    return explore(path, ranks, "zero").found[kind]


@pytest.mark.parametrize("seed", range(20))
def test_parents_and_children_know_each_other(seed, tmp_path):
    random = Random(seed)
    ranks, number = random.randint(1, 3), random.randint(1, 3)
    values = [random.randint(-9, 9) for _ in range(ranks + number)]
    root, at = random.randrange(ranks), random.randrange(number)
    common = f"values, ranks, number, root, at = {values}, {ranks}, {number}, {root}, {at}\n"
    children = common + (
        "mine, others = values[ranks + rank], values[:ranks]\n"
        "assert (size, parent.size, parent.remote_size) == (number, number, ranks)\n"
        "assert parent.rank == rank and parent.is_inter and parent == MPI.Comm.Get_parent()\n"
        "assert sys.argv[1:] == ['a', 'b'] and __name__ == '__main__'\n"
        "assert comm.allreduce(1) == number and MPI.COMM_SELF.size == 1\n"
        "assert parent.bcast(root=root) == 'go'\n"
        "parent.reduce(mine, root=root)\n"
        "assert parent.allgather(mine) == others\n"
        "parent.send((rank, mine), dest=rank % ranks)\n"
        "one = parent.Merge(high=True)\n"
        "assert one.rank == ranks + rank and one.allgather(mine) == values\n"
        "one.Free()\n"
        "got = parent.gather(None, MPI.ROOT if rank == at else MPI.PROC_NULL)\n"
        "assert got == (others if rank == at else None)\n"
        "parent.Disconnect()\n"
        "assert parent == MPI.COMM_NULL == MPI.Comm.Get_parent()\n"
    )
    written(tmp_path, children, "child.py", head=CHILD)
    parents = common + (
        "import sys\n"
        "mine, others, codes = values[rank], values[ranks:], []\n"
        "assert MPI.Comm.Get_parent() == MPI.COMM_NULL\n"
        "given = ('', None, -1)\n"
        "if rank == root:\n    given = (sys.executable, ['child.py', 'a', 'b'], number)\n"
        "other = comm.Spawn(*given, root=root, errcodes=codes)\n"
        "assert codes == [0] * number and other.remote_size == number and other.rank == rank\n"
        "told = MPI.ROOT if rank == root else MPI.PROC_NULL\n"
        "other.bcast('go', root=told)\n"
        "assert other.reduce(None, root=told) == (sum(others) if rank == root else None)\n"
        "assert other.allgather(mine) == others\n"
        "for child in range(rank, number, ranks):\n"
        "    assert other.recv(source=child) == (child, others[child])\n"
        "one = other.Merge()\n"
        "assert one.rank == rank and one.allgather(mine) == values\n"
        "one.Free()\n"
        "other.gather(mine, at)\n"
        "other.Disconnect()\n"
        "assert other == MPI.COMM_NULL\n"
    )
    for outcome in outcomes(tmp_path, parents, ranks):
        assert outcome.is_ok, outcome


def test_several_commands_are_one_world(tmp_path):
    body = "parent.gather((sys.argv, comm.Get_attr(MPI.APPNUM), rank, size), root=0)\n"
    written(tmp_path, body, "one.py", head=CHILD)
    written(tmp_path, body, "two.py", head=CHILD)
    text = (
        "codes = []\n"
        "other = MPI.COMM_SELF.Spawn_multiple(\n"
        "    ['python3', 'two.py'], [['-u', '-m', 'mpi4py', 'one.py', 'x'], []], [2, 1],\n"
        "    info=[MPI.INFO_NULL] * 2, errcodes=codes)\n"
        "assert codes == [[0, 0], [0]]\n"
        "one, two = ['one.py', 'x'], ['two.py']\n"
        "said = [(one, 0, 0, 3), (one, 0, 1, 3), (two, 1, 2, 3)]\n"
        "assert other.gather(None, root=MPI.ROOT) == said\nother.Free()\n"
    )
    for outcome in outcomes(tmp_path, text, 2):
        assert outcome.is_ok, outcome


def test_children_may_have_children(tmp_path):
    child = (
        "depth = int(sys.argv[1])\n"
        "if depth:\n"
        "    own = MPI.COMM_SELF.Spawn(sys.executable, [sys.argv[0], str(depth - 1)])\n"
        "    parent.send(1 + own.recv(), dest=0)\n    own.Free()\n"
        "else:\n    parent.send(1, dest=0)\n"
    )
    written(tmp_path, child, "child.py", head=CHILD)
    text = (
        "own = MPI.COMM_SELF.Spawn('child.py', ['2'], maxprocs=1)\n"
        "again = MPI.COMM_SELF.Spawn('child.py', '1')\n"
        "assert own.recv() == 3 and again.recv() == 2\nown.Free()\nagain.Free()\n"
    )
    path = written(tmp_path, text)
    report = check_script(path, 2, traces=None)
    assert report.exhausted and not report.violations
    assert mpirun(path, 2).is_ok


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("Spawn('ls')", "`ls` is no Python script, and presage can run nothing else"),
        ("Spawn(sys.executable)", "is no Python script"),
        ("Spawn('python3', ['-c', 'pass'])", "`python3 -c pass` is no Python script"),
        ("Spawn('python3', ['-m', 'mpi4py.futures', 'one.py'])", "is no Python script"),
        ("Spawn('python_one', ['one.py'])", "`python_one` is no Python script"),
        ("Spawn('python3', ['nothing.py'])", "not beside the one that spawns them"),
        ("Spawn('python3', ['broken.py'])", "the script `broken.py` is no Python"),
        ("Spawn('child.py', maxprocs=0)", "maxprocs=0; give 1 or more"),
        ("Spawn('child.py', info=MPI.Info.Create({'wdir': '/'}))", "info has no `wdir`"),
        ("Spawn('child.py', root=3)", "there is no rank 3 to be the root"),
        ("Spawn_multiple(['child.py'] * 2, maxprocs=[1])", "2 commands, 2 lists of arguments, 1"),
    ],
)
def test_what_cannot_be_spawned_is_refused(call, told, tmp_path):
    written(tmp_path, "", "child.py", head=CHILD)
    written(tmp_path, "no python", "broken.py", head="")
    for outcome in outcomes(tmp_path, f"import sys\nMPI.COMM_SELF.{call}\n", 1):
        assert outcome.kind == "invalid-argument" and told in outcome.text


# What parents do, what children do wrongly and rightly, and what is reported.
TWINS = [
    ("other.recv(source=1)", "rank or parent.send(1, dest=0)", "rank and parent.send(1, dest=0)",
     "deadlock"),
    ("other.barrier()", "pass", "parent.barrier()", "collective-mismatch"),
    ("other.bcast(1, root=MPI.ROOT)", "parent.bcast(root=rank)", "parent.bcast(root=0)",
     "invalid-argument"),
    ("other.bcast(1, root=MPI.ROOT)", "parent.gather(1, root=0)", "parent.bcast(root=0)",
     "collective-mismatch"),
    ("pass", "parent.bsend(1, dest=0)", "parent.bsend(1, dest=MPI.PROC_NULL)", "unmatched"),
    ("pass", "rank and comm.recv(source=0)", "rank and comm.sendrecv(1, dest=1)", "deadlock"),
    ("pass", "comm.Dup()", "comm.Dup().Free()", "leak"),
    ("pass", "MPI.COMM_SELF.irecv()", "MPI.COMM_SELF.irecv(source=MPI.PROC_NULL).wait()",
     "leaked-request"),
    ("pass", "1 / (rank - 1)", "1 / (rank - 2)", "exception"),
]  # fmt: skip


@pytest.mark.parametrize(("parents", "wrong", "right", "kind"), TWINS)
def test_a_mistake_is_told_from_its_correct_twin(parents, wrong, right, kind, tmp_path):
    leave = "\n{}.Disconnect()\n"
    parents += leave.format("other")
    assert kind in kinds(tmp_path, parents, wrong + leave.format("parent"))
    assert kinds(tmp_path, parents, right + leave.format("parent")) == set()


def test_who_waits_for_whom_names_children(tmp_path):
    told = said(tmp_path, "deadlock", "other.recv(source=1)\n", "rank or parent.recv()\n", 2)
    assert "rank 0 waits in recv(source=1, tag=ANY_TAG) at " in told
    assert "for spawn 1 rank 1; spawn 1 rank 1 has ended" in told
    assert "spawn 1 rank 0 waits in recv(source=ANY_SOURCE, tag=ANY_TAG) at " in told
    assert "child.py:8, for rank 0, 1" in told


def test_what_is_left_open_names_children(tmp_path):
    leave = "other.Free()\n"
    told = said(tmp_path, "leak", leave, "comm.Dup()\n")
    assert told.startswith(
        "spawn 1 rank 0: MPI.Exception: spawn 1 rank 0 ends, and the communicator"
    )
    told = said(tmp_path, "unmatched", leave, "rank or parent.bsend(1, dest=0, tag=2)\n")
    assert told.startswith(
        "spawn 1 rank 0 sent a message with tag 2 to rank 0 of parents of spawn 1"
    )
    told = said(tmp_path, "leak", "", "")
    assert "the communicator of Spawn, " in told and "script.py:7, is not freed" in told


def test_names_tell_who_spawned(tmp_path):
    written(tmp_path, "parent.recv()\n", "child.py", head=CHILD)
    path = written(tmp_path, "rank and MPI.COMM_SELF.Spawn('child.py').Free()\n")
    told = explore(path, 2, "zero").found["deadlock"]
    assert told.startswith("spawn 1 (of rank 1) rank 0 waits in recv(") and "for rank 1" in told


def test_the_order_of_children_is_searched(tmp_path):
    parents = "print([other.recv() for _ in range(3)])\nother.Free()\n"
    path, ranks = family(tmp_path, parents, "parent.send(rank, dest=0)\n", number=3)
    for buffering in ("zero", "eager"):
        program = script(path, ranks, (), buffering)
        assert isinstance(program, Program)
        report = check(program, traces=None)
        assert report.exhausted and not report.violations
        assert report.to_json()["executions"] == 6
    assert explore(path, ranks, "eager").found == {}


def test_children_print_too(tmp_path):
    parents = "other.barrier()\nother.Free()\nprint('parent')\n"
    path, _ = family(tmp_path, parents, "print('child', rank)\nparent.barrier()\n")
    command = [sys.executable, "-m", "presage", "mpirun", "--tag-output", path.name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    lines = ["[0] parent", "[spawn 1 rank 0] child 0", "[spawn 1 rank 1] child 1"]
    assert sorted(done.stdout.splitlines()) == lines


def test_modules_beside_a_child_are_its_own(tmp_path):
    written(tmp_path, "seen = []\n", "helper.py", head="")
    child = (
        "import helper\nhelper.seen.append(rank)\nparent.barrier()\nassert helper.seen == [rank]\n"
    )
    parents = "import helper\nother.barrier()\nassert helper.seen == []\nother.Free()\n"
    assert kinds(tmp_path, parents, child) == set()


def test_parents_that_spawn_nothing_leave_others_waiting(tmp_path):
    text = "comm.Spawn('nothing.py', root=1).recv()\n"
    report = check_script(written(tmp_path, text), 2, keep_going=True, traces=None)
    assert {each.kind for each in report.violations} == {"invalid-argument", "deadlock"}
