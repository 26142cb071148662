"""Windows: what accesses do, against a plain model; which orders there are; what is reported."""

from random import Random

import pytest
from mpi.explore import explore
from mpi.scripts import outcomes, written

from presage import check
from presage.mpi import script
from presage.mpi.access import Access, changed_runs, clash, overlap, perform, runs_of
from presage.mpi.datatype import TYPES
from presage.search.scripts import check_script

SNIPPETS = {
    "what it is made of": """
win = MPI.Win.Allocate(12, 4, comm=comm)
assert len(win.tomemory()) == win.attrs[1] == win.Get_attr(MPI.WIN_SIZE) == 12
assert win.attrs[2] == 4 and win.flavor == MPI.WIN_FLAVOR_ALLOCATE and win.group_size == size
group = win.Get_group()
assert group.Get_size() == size
group.Free()
win.Free()
assert win == MPI.WIN_NULL and not win
none = MPI.Win.Create(None, comm=comm)
assert none.attrs[1] == 0
none.Free()
own = MPI.Win.Create(bytearray(4))
own.Free()
""",
    "post and start": """
from array import array
win = MPI.Win.Allocate(4 * size, 4, comm=comm)
world = comm.Get_group()
others = world.Excl([rank])
win.Post(others)
win.Start(others)
for other in range(size):
    if other != rank:
        win.Put(array("i", [rank + 1]), other, rank)
win.Complete()
win.Wait()
mine = memoryview(win.memory).cast("i").tolist()
assert mine == [0 if n == rank else n + 1 for n in range(size)], mine
others.Free()
world.Free()
win.Free()
""",
    "requests": """
from array import array
win = MPI.Win.Allocate(4 * size, 4, comm=comm)
box, old = array("i", [rank + 1]), array("i", [0])
win.Lock_all()
win.Rput(box, 0, rank).Wait()
win.Flush(0)
MPI.Request.Waitall([win.Rget(old, 0, rank)])
assert old[0] == rank + 1
win.Raccumulate(box, 0, rank).Wait()
win.Flush_all()
win.Rget_accumulate(box, old, 0, rank, MPI.PROD).Wait()
assert old[0] == 2 * (rank + 1)
win.Unlock_all()
win.Free()
""",
    "atomic": """
from array import array
win = MPI.Win.Allocate(8, 4, comm=comm)
one, old, none = array("i", [1]), array("i", [7]), array("i", [0])
win.Lock(0)
win.Fetch_and_op(one, old, 0, 1)
win.Flush(0)
win.Compare_and_swap(array("i", [9]), array("i", [100]), none, 0, 1)
win.Flush_local(0)
assert none[0] == old[0] + 1 > 0
win.Unlock(0)
everyone = sorted(comm.allgather(old[0]))
assert everyone == list(range(size))
win.Lock(0, MPI.LOCK_SHARED)
win.Get_accumulate(None, old, 0, 1, MPI.NO_OP)
win.Unlock(0)
assert old[0] == size
win.Free()
""",
    "nobody": """
from array import array
win = MPI.Win.Allocate(8, comm=comm)
win.Fence()
win.Put(array("i", [1]), MPI.PROC_NULL)
win.Fence(MPI.MODE_NOSUCCEED)
win.Free()
""",
    "its own memory": """
win = MPI.Win.Allocate(1, comm=comm)
other = (rank + 1) % size
win.memory[0] = rank + 1
comm.barrier()
box = bytearray(1)
win.Lock(other)
win.Get(box, other)
win.Unlock(other)
assert box[0] == other + 1
comm.barrier()
win.Lock(other)
win.Put(bytearray([50 + rank]), other)
win.Unlock(other)
comm.barrier()
assert win.memory[0] == 50 + (rank - 1) % size
win.Lock(rank)
win.memory[0] += 1
win.Unlock(rank)
win.Sync()
win.Free()
""",
    "datatypes of NumPy": """
import numpy
from mpi4py.util import dtlib
assert dtlib.to_numpy_dtype(MPI.FLOAT) == numpy.dtype("f4")
assert dtlib.to_numpy_dtype(MPI.C_DOUBLE_COMPLEX) == numpy.dtype("c16")
assert dtlib.from_numpy_dtype("i4") is MPI.INT and dtlib.from_numpy_dtype("f8") is MPI.DOUBLE
three = MPI.INT.Create_contiguous(3)
assert dtlib.to_numpy_dtype(three) == numpy.dtype(("i4", (3,)))
every = MPI.INT.Create_vector(2, 1, 3)
assert dtlib.to_numpy_dtype(every).itemsize == 16
again = dtlib.from_numpy_dtype(numpy.dtype(("i4", (3,))))
assert again.Get_size() == 12
for each in (three, every, again):
    each.Free()
""",
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_asserts_for_itself(name, tmp_path):
    for outcome in outcomes(tmp_path, SNIPPETS[name]):
        assert outcome.is_ok, outcome


# Random accesses against a plain model.

SLOTS = 6
RUN = """
from array import array
win = MPI.Win.Allocate(4 * {slots}, 4, comm=comm)
got = []
for number, epoch in enumerate({plan}):
    {begin}
    boxes = []
    for origin, kind, target, slot, value in epoch:
        if origin != rank:
            continue
        box, old = array("i", [value]), array("i", [-1])
        if kind == "Put":
            win.Put(box, target, slot)
        elif kind == "Get":
            win.Get(old, target, slot)
        elif kind == "Accumulate":
            win.Accumulate(box, target, slot, MPI.SUM)
        else:
            win.Fetch_and_op(box, old, target, slot, MPI.MAX)
        boxes.append(old)
    {end}
    got += [box[0] for box in boxes]
win.Fence()
every = comm.allgather((memoryview(win.memory).cast("i").tolist(), got))
assert every == {expected}, every
win.Free()
"""
WAYS = {
    "fence": ("win.Fence()", "win.Fence()"),
    "locks": ("win.Lock_all()", "win.Unlock_all()\n    comm.barrier()"),
}


def random_plan(random, ranks):
    """Accesses of a few epochs, no two of which meet, and what comes of them."""
    memory = [[0] * SLOTS for _ in range(ranks)]
    got = [[] for _ in range(ranks)]
    plan = []
    for _ in range(random.randint(1, 4)):
        epoch = []
        places = [(target, slot) for target in range(ranks) for slot in range(SLOTS)]
        for target, slot in random.sample(places, random.randint(1, 6)):
            origin, value = random.randrange(ranks), random.randint(1, 9)
            kind = random.choice(("Put", "Get", "Accumulate", "Fetch_and_op"))
            epoch.append((origin, kind, target, slot, value))
            before = memory[target][slot]
            got[origin].append(before if kind in ("Get", "Fetch_and_op") else -1)
            after = {"Put": value, "Get": before, "Accumulate": before + value}
            memory[target][slot] = after.get(kind, max(before, value))
        plan.append(epoch)
    return plan, [(memory[rank], got[rank]) for rank in range(ranks)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_accesses_do_what_the_model_does(first, way, tmp_path):
    for seed in range(first, first + 10):
        random = Random(f"{way}{seed}")
        ranks = random.choice((1, 2, 3))
        plan, expected = random_plan(random, ranks)
        begin, end = WAYS[way]
        text = RUN.format(slots=SLOTS, plan=plan, expected=expected, begin=begin, end=end)
        for outcome in outcomes(tmp_path, text, ranks):
            assert outcome.is_ok, (outcome, text)


def test_bytes_of_a_type_are_where_the_type_says():
    random = Random(3)
    for _ in range(200):
        blocks, stride = random.randint(1, 3), random.randint(1, 4)
        count = random.randint(0, 3)
        spans = [block * stride for block in range(blocks)]
        start = random.randint(0, 9)

        class Like:
            basic = TYPES["INT"].basic
            offsets = tuple(spans)
            span = spans[-1] + 1

        runs = runs_of(start, count, Like)
        found = [at + i for at, size in runs for i in range(size)]
        plain = [
            start + 4 * (item * Like.span + offset) + i
            for item in range(count)
            for offset in spans
            for i in range(4)
        ]
        assert found == plain


def test_what_clashes():
    def access(kind, origin, at=0, sign="i4", op=""):
        return Access(kind, origin, 0, ((at, 4),), sign, b"", op)

    put, get = access("Put", 0), access("Get", 1)
    total, fetch = access("Accumulate", 1, op="SUM"), access("Fetch_and_op", 0, op="SUM")
    assert clash(put, get) and clash(put, access("Put", 1)) and clash(get, total)
    assert not clash(get, get) and not clash(total, fetch) and not clash(put, access("Put", 1, 4))
    assert clash(total, access("Accumulate", 0, sign="f4", op="SUM"))
    assert clash(put, access("Put", 0))
    assert not clash(get, access("Get_accumulate", 0, op="NO_OP"))


def test_runs_overlap_as_their_bytes_do():
    random = Random(5)
    for _ in range(300):
        one, two = (
            tuple(
                (random.randint(0, 12), random.randint(1, 3)) for _ in range(random.randint(0, 3))
            )
            for _ in range(2)
        )
        plain = [{at + i for at, size in runs for i in range(size)} for runs in (one, two)]
        assert overlap(one, two) == bool(plain[0] & plain[1])


def test_changed_runs_are_what_was_changed():
    before, after = b"abcdefgh", b"abXdeXYh"
    assert changed_runs(before, after) == ((2, 1), (5, 2))
    memory = bytearray(before)
    data = b"XXY"
    perform(memory, Access("store", 0, 0, ((2, 1), (5, 2)), data=data), "")
    assert bytes(memory) == after


# Orders.

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


@pytest.mark.parametrize("first", range(0, 4, 2))
def test_check_finds_what_every_order_shows(first, tmp_path):
    claims = {"deadlock": "no_deadlock", "unmatched": "no_leftovers"}
    for seed in range(first, first + 2):
        path = written(tmp_path, random_text(seed))
        for buffering in ("zero", "eager"):
            plain = explore(path, 2, buffering, beyond=True)
            expected = {claims.get(kind, "no_exception") for kind in plain.raw}
            report = check(script(path, 2, (), buffering), keep_going=True, traces=None)
            assert {found.prop for found in report.violations} == expected, random_text(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(4, 60, 2))
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
