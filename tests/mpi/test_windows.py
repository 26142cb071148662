"""Windows: what accesses do, against a plain model."""

from random import Random

import pytest
from mpi.scripts import outcomes

from presage.frontends.mpi.data import layout as layouts
from presage.frontends.mpi.data.predefined import TYPES
from presage.frontends.mpi.rma.access import Access, changed_runs, clash, overlap, perform, runs_of

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
one, other = dtlib.from_numpy_dtype("i4"), dtlib.from_numpy_dtype("f8")
assert one.decode()[:2] == (MPI.INT, "DUP") and other.decode()[0] == MPI.DOUBLE
three = MPI.INT.Create_contiguous(3)
assert dtlib.to_numpy_dtype(three) == numpy.dtype(("i4", (3,)))
every = MPI.INT.Create_vector(2, 1, 3)
assert dtlib.to_numpy_dtype(every).itemsize == 16
again = dtlib.from_numpy_dtype(numpy.dtype(("i4", (3,))))
assert again.Get_size() == 12
assert MPI._typealign(MPI.C_BOOL) == 1
for text, aligned in (("(2,3)i4,S1,c16", True), ("u1,f8", False), ("?,(2,)f4", True)):
    given = numpy.dtype(text, align=aligned)
    made = dtlib.from_numpy_dtype(given)
    back = dtlib.to_numpy_dtype(made)
    assert back == given and back.isalignedstruct == aligned and made.extent == given.itemsize
    made.Free()
grid = MPI.INT.Create_subarray([2, 3], [2, 3], [0, 0])
assert dtlib.to_numpy_dtype(grid).shape == (2, 3)
for bad in (MPI.DATATYPE_NULL, grid.Create_resized(0, 32), MPI.INT.Create_subarray([2], [1], [0])):
    try:
        dtlib.to_numpy_dtype(bad)
        assert False
    except ValueError:
        pass
    if bad:
        bad.Free()
for each in (one, other, three, every, again, grid):
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
            span = spans[-1] + 1
            layout = layouts.resized(
                layouts.blocks(TYPES["INT"].layout, [(1, 4 * at) for at in spans]), 0, 4 * span
            )

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
