"""Windows: which orders there are, and what is reported."""

from random import Random

import pytest
from mpi.explore import explore
from mpi.scripts import written
from reference.batches import FACTOR

from presage import check
from presage.frontends.mpi import script
from presage.search.scripts import check_script

COUNT = "from array import array\nwin = MPI.Win.Allocate(4 if rank == 0 else 0, 4, comm=comm)\n"
ATOMIC = (
    "one, old = array('i', [1]), array('i', [0])\n"
    "{begin}\nwin.Fetch_and_op(one, old, 0)\n{end}\nassert rank or old[0] == 0\nwin.Free()\n"
)
ORDERED = {
    "shared": ("win.Lock(0, MPI.LOCK_SHARED)", "win.Unlock(0)"),
    "exclusive": ("win.Lock(0)", "win.Unlock(0)"),
    "fence": ("win.Fence()", "win.Fence()"),
    "all": ("win.Lock_all()", "win.Unlock_all()"),
}


@pytest.mark.parametrize("way", ORDERED)
def test_atomic_accesses_come_in_any_order(way, tmp_path):
    begin, end = ORDERED[way]
    path = written(tmp_path, COUNT + ATOMIC.format(begin=begin, end=end))
    [found] = check_script(path, 2, traces=None).violations
    assert found.kind == "exception" and "rank 0" in found.trace.steps[-1].node
    assert not check_script(path, 1, traces=None).violations


@pytest.mark.slow
def test_an_update_in_two_epochs_is_lost(tmp_path):
    text = (
        COUNT + "box = array('i', [0])\nwin.Lock(0)\nwin.Get(box, 0)\n{between}box[0] += 1\n"
        "win.Put(box, 0)\nwin.Unlock(0)\ncomm.barrier()\nwin.Lock(0)\nwin.Get(box, 0)\n"
        "win.Unlock(0)\nassert box[0] == size\nwin.Free()\n"
    )
    apart = written(tmp_path, text.format(between="win.Unlock(0)\nwin.Lock(0)\n"))
    assert [found.kind for found in check_script(apart, 2, traces=None).violations] == ["exception"]
    whole = written(tmp_path, text.format(between="win.Flush(0)\n"))
    report = check_script(whole, 2, traces=None)
    assert report.exhausted and not report.violations


def test_a_lock_may_be_taken_late(tmp_path):
    """What is told of before it is unlocked need not have happened."""
    text = COUNT + (
        "box = array('i', [1])\n"
        "if rank == 1:\n    win.Lock(0)\n    win.Put(box, 0)\n{first}{second}"
        "else:\n    comm.recv()\n    win.Lock(0)\n    assert win.memory[0] == 1\n"
        "    win.Unlock(0)\nwin.Free()\n"
    )
    tell, unlock = "    comm.send(1, dest=0)\n", "    win.Unlock(0)\n"
    early = written(tmp_path, text.format(first=tell, second=unlock))
    assert [found.kind for found in check_script(early, 2, traces=None).violations] == ["exception"]
    late = written(tmp_path, text.format(first=unlock, second=tell))
    assert not check_script(late, 2, traces=None).violations


def test_a_lock_may_be_taken_early(tmp_path):
    """Locks that are held while others are waited for may hang."""
    text = (
        "win = MPI.Win.Allocate(4, comm=comm)\nfirst, second = (0, 1) if {way} else (1, 0)\n"
        "for target in (first, second):\n    win.Lock(target)\n"
        "for target in (second, first):\n    win.Unlock(target)\nwin.Free()\n"
    )
    crossed = written(tmp_path, text.format(way="rank == 0"))
    found = check_script(crossed, 2, traces=None).violations
    assert [each.kind for each in found] == ["deadlock"]
    assert "waits in Unlock(rank=" in found[0].message
    alike = written(tmp_path, text.format(way="True"))
    assert not check_script(alike, 2, traces=None).violations


def random_text(seed):
    """Locks and accesses of two ranks, and an assertion that not every order keeps."""
    random = Random(seed)
    text = COUNT + "box, old = array('i', [rank + 1]), array('i', [0])\n"
    for rank in range(2):
        text += f"if rank == {rank}:\n"
        for _ in range(random.randint(1, 2)):
            kind = random.choice(("MPI.LOCK_EXCLUSIVE", "MPI.LOCK_EXCLUSIVE", "MPI.LOCK_SHARED"))
            call = random.choice(
                ("win.Put(box, 0)", "win.Get(old, 0)", "win.Accumulate(box, 0)")
                + ("win.Fetch_and_op(box, old, 0)",) * 2
            )
            told = [f"win.Lock(0, {kind})", call, "win.Unlock(0)"]
            if random.random() < 0.4:
                message = f"comm.{'recv(source=1)' if rank == 0 else 'send(0, dest=0)'}"
                told.insert(random.randint(0, 3), message)
            text += "".join(f"    {line}\n" for line in told)
    text += f"assert old[0] != {random.randint(0, 3)}\nwin.Free()\n"
    return text


@pytest.mark.parametrize("first", [0])
def test_check_finds_what_every_order_shows(first, tmp_path):
    claims = {"deadlock": "no_deadlock", "unmatched": "no_leftovers"}
    for seed in range(first, first + (2 if first else 1)):
        path = written(tmp_path, random_text(seed))
        for buffering in ("zero", "eager"):
            plain = explore(path, 2, buffering, beyond=True)
            expected = {claims.get(kind, "no_exception") for kind in plain.raw}
            report = check(script(path, 2, (), buffering), keep_going=True, traces=None)
            assert {found.prop for found in report.violations} == expected, random_text(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, 1 + round(14 * FACTOR), 2))
@pytest.mark.usefixtures("verdicts_only")
def test_check_finds_what_every_order_of_many_shows(first, tmp_path):
    test_check_finds_what_every_order_shows(first, tmp_path)


# Reports.


def message(folder, text, ranks=2):
    [found] = check_script(written(folder, text), ranks, buffering="zero", traces=None).violations
    return found


def test_accesses_that_meet_are_both_named(tmp_path):
    text = COUNT + "win.Fence()\nwin.Put(array('i', [1]), 0)\nwin.Fence()\nwin.Free()\n"
    found = message(tmp_path, text)
    assert found.kind == "global-concurrency"
    assert "Put of rank 0 at " in found.message and "Put of rank 1 at " in found.message
    assert found.message.count("script.py:9") == 2
    assert "the same memory of rank 0" in found.message


def test_an_access_without_an_epoch_is_named(tmp_path):
    found = message(tmp_path, COUNT + "win.Put(array('i', [1]), 0)\nwin.Free()\n")
    assert found.kind == "missing-epoch"
    assert "Put(target_rank=0) at " in found.message and "script.py:8" in found.message
    assert "call Fence, Lock or Start before" in found.message


def test_traces_tell_of_memory_and_locks(tmp_path):
    text = COUNT + "win.Lock(0)\nwin.Put(array('i', [3]), 0)\nwin.Unlock(0)\nassert False\n"
    labels = [step.label for step in message(tmp_path, text).trace.steps]
    assert "lock to the memory of rank 0 in window world.1w" in labels
    assert "memory 03 00 00 00 to the memory of rank 0 in window world.1w" in labels
    assert "from the memory of rank 0 in window world.1w" in labels
    text = COUNT + "win.Fence()\nwin.Put(array('i', [3]), 0)\nwin.Fence()\nassert False\n"
    labels = [step.label for step in message(tmp_path, text.replace("[3]", "[rank]")).trace.steps]
    assert any("Fence [[Put [1] at byte 0], []] to rank 0" in label for label in labels)


def test_what_is_posted_and_not_waited_for_is_told(tmp_path):
    text = (
        "win = MPI.Win.Allocate(4, comm=comm)\ngroup = comm.Get_group()\nother = group.Incl([1])\n"
        "if rank == 0:\n    win.Post(other)\n    win._posted = None\n"
        "win.Free()\ngroup.Free()\nother.Free()\n"
    )
    found = message(tmp_path, text)
    assert found.kind == "unmatched"
    assert "rank 0 left `post` in window world.1w" in found.message
