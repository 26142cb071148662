"""What the calls of mpi4py do: each snippet asserts for itself, under both bufferings."""

import pytest
from mpi.scripts import outcomes

SNIPPETS = {
    "objects": """
if rank == 0:
    comm.send({"a": [1, (2,)], "b": {3}}, dest=1, tag=5)
elif rank == 1:
    status = MPI.Status()
    assert comm.recv(source=0, tag=MPI.ANY_TAG, status=status) == {"a": [1, (2,)], "b": {3}}
    assert (status.Get_source(), status.Get_tag(), status.Get_error()) == (0, 5, 0)
""",
    "own classes": """
class Point:
    def __init__(self, x):
        self.x = x

got = comm.bcast(Point(3) if rank == 0 else None)
assert type(got) is Point and got.x == 3
assert all(type(p) is Point and p.x == i for i, p in enumerate(comm.allgather(Point(rank))))
""",
    "what is sent is a copy": """
data = [1]
if rank == 0:
    request = comm.isend(data, dest=1)
    data.append(2)
    request.wait()
elif rank == 1:
    assert comm.recv(source=0) == [1]
""",
    "no overtaking": """
if rank == 0:
    requests = [comm.isend(n, dest=1, tag=n % 2) for n in range(4)]
    MPI.Request.Waitall(requests)
elif rank == 1:
    assert [comm.recv(source=0, tag=1) for _ in range(2)] == [1, 3]
    assert [comm.recv(source=0, tag=0) for _ in range(2)] == [0, 2]
""",
    "nobody": """
assert comm.recv(source=MPI.PROC_NULL) is None
comm.send(1, dest=MPI.PROC_NULL)
status = MPI.Status()
assert comm.sendrecv(1, MPI.PROC_NULL, source=MPI.PROC_NULL, status=status) is None
assert status.source == MPI.PROC_NULL and status.count == 0
assert comm.irecv(source=MPI.PROC_NULL).wait() is None
""",
    "ring": """
right, left = (rank + 1) % size, (rank - 1) % size
assert comm.sendrecv(rank, dest=right, source=left) == left
box = bytearray([rank])
comm.Sendrecv_replace(box, dest=right, source=left)
assert box[0] == left
""",
    "probe": """
if rank == 0:
    comm.ssend("x", dest=1, tag=9)
elif rank == 1:
    status = MPI.Status()
    while not comm.iprobe(source=MPI.ANY_SOURCE, status=status):
        pass
    assert (status.source, status.tag) == (0, 9)
    assert comm.probe(source=0) and comm.recv(source=0) == "x"
    assert not comm.iprobe()
""",
    "matched probe": """
if rank == 0:
    comm.send("x", dest=1)
    comm.send("y", dest=1)
elif rank == 1:
    message = comm.mprobe()
    assert comm.recv() == "y"
    assert message.recv() == "x" and not message
    assert comm.improbe() is None
""",
    "many requests": """
if rank == 0:
    requests = [comm.irecv(source=1, tag=n) for n in range(4)]
    statuses = []
    first, value = MPI.Request.waitany(requests)
    assert first == value
    done, values = MPI.Request.waitsome(requests)
    assert done == values and first not in done
    rest = MPI.Request.waitall(requests, statuses)
    assert len(rest) == 4 and len(statuses) == 4
    assert not any(requests)
    assert MPI.Request.Waitany(requests) == MPI.UNDEFINED
    assert MPI.Request.testall(requests)[0] and MPI.Request.Testsome(requests) is None
elif rank == 1:
    for n in range(4):
        comm.send(n, dest=0, tag=n)
""",
    "tests": """
if rank == 0:
    request = comm.irecv(source=1)
    assert request.test() == (False, None)
    comm.send(0, dest=1)
    done = False
    while not done:
        done, value = request.test()
    assert value == "late" and request.test() == (True, None)
elif rank == 1:
    comm.recv(source=0)
    comm.send("late", dest=0)
""",
    "cancelled": """
request = comm.irecv(source=(rank + 1) % size)
request.Cancel()
status = MPI.Status()
request.Wait(status)
assert status.Is_cancelled() and not request
""",
    "persistent": """
from array import array

box = array("i", [0])
if rank == 0:
    request = comm.Send_init(box, dest=1)
elif rank == 1:
    request = comm.Recv_init(box, source=0)
if rank < 2:
    for n in range(3):
        if rank == 0:
            box[0] = n * n
        request.Start()
        request.Wait()
        assert box[0] == n * n and request
    request.Free()
    assert not request
""",
    "collectives of objects": """
n = size
assert comm.bcast(rank, root=1) == 1
assert comm.scatter([i * i for i in range(n)] if rank == 2 else None, root=2) == rank**2
assert comm.gather(rank, root=1) == (list(range(n)) if rank == 1 else None)
assert comm.allgather(str(rank)) == [str(i) for i in range(n)]
assert comm.alltoall([(rank, i) for i in range(n)]) == [(i, rank) for i in range(n)]
assert comm.reduce(rank + 1, op=MPI.PROD, root=2) == (6 if rank == 2 else None)
assert comm.allreduce([rank]) == [0, 1, 2]
assert comm.scan(rank + 1) == sum(range(1, rank + 2))
assert comm.exscan(rank + 1) == (sum(range(1, rank + 1)) if rank else None)
assert comm.allreduce((rank % 2, rank), op=MPI.MAXLOC) == (1, 1)
assert comm.allreduce((rank % 2, rank), op=MPI.MINLOC) == (0, 0)
""",
    "collectives without blocking": """
request = comm.ibarrier()
while not request.Test():
    pass
assert comm.ibcast([rank], root=2).wait() == [2]
assert comm.iallreduce(rank, op=MPI.MAX).wait() == 2
assert comm.igather(rank).wait() == ([0, 1, 2] if rank == 0 else None)
assert comm.iscatter([7, 8, 9] if rank == 0 else None).wait() == 7 + rank
assert comm.iallgather(rank).wait() == [0, 1, 2]
assert comm.ialltoall([rank] * 3).wait() == [0, 1, 2]
assert comm.ireduce(1, root=1).wait() == (3 if rank == 1 else None)
a, b = comm.ibcast(rank, root=0), comm.ibcast(rank, root=1)
assert MPI.Request.waitall([b, a]) == [1, 0]
""",
    "own operation": """
op = MPI.Op.Create(lambda a, b, t: a + 2 * b)
assert comm.allreduce(1, op=op) == 5
op.Free()
""",
    "communicators": """
other = comm.Dup()
assert MPI.Comm.Compare(comm, other) == MPI.CONGRUENT and other != comm
requests = [comm.irecv(source=(rank - 1) % size), other.irecv(source=(rank - 1) % size)]
other.send("other", dest=(rank + 1) % size)
comm.send("world", dest=(rank + 1) % size)
assert MPI.Request.waitall(requests) == ["world", "other"]
other.Free()
half = comm.Split(rank % 2, key=-rank)
assert half.allgather(rank) == ([2, 0] if rank % 2 == 0 else [1])
half.Free()
assert not half and half == MPI.COMM_NULL
nothing = comm.Split(MPI.UNDEFINED if rank == 1 else 0)
assert (nothing == MPI.COMM_NULL) == (rank == 1)
if nothing:
    nothing.Free()
assert MPI.COMM_SELF.Get_size() == 1 and MPI.COMM_SELF.allreduce(5) == 5
""",
    "groups": """
world = comm.Get_group()
ends = world.Incl([2, 0])
middle = world.Excl([0, 2])
assert (ends.Get_rank(), middle.Get_size()) == ([1, MPI.UNDEFINED, 0][rank], 1)
both = MPI.Group.Union(ends, middle)
assert MPI.Group.Compare(both, world) == MPI.SIMILAR
assert ends.Translate_ranks([0, 1], world) == [2, 0]
part = comm.Create(ends)
if rank != 1:
    assert part.allgather(rank) == [2, 0]
    same = comm.Create_group(ends)
    assert same.bcast(rank) == 2
    same.Free()
    part.Free()
else:
    assert part == MPI.COMM_NULL
for group in (world, ends, middle, both):
    group.Free()
""",
    "grid": """
grid = comm.Create_cart([3], periods=[True])
assert grid.Shift(0, 1) == ((rank - 1) % 3, (rank + 1) % 3)
assert grid.coords == [rank] and grid.Get_cart_rank([rank]) == rank
line = comm.Create_cart([1, 3])
assert line.Shift(1, 1) == ([MPI.PROC_NULL, 0, 1][rank], [1, 2, MPI.PROC_NULL][rank])
row = line.Sub([False, True])
assert row.Get_size() == 3 and row.dims == [3]
for each in (grid, line, row):
    each.Free()
assert MPI.Compute_dims(12, 2) == [4, 3]
""",
    "errors are exceptions": """
try:
    comm.send(1, dest=size)
except MPI.Exception as error:
    assert "no rank 3" in str(error) and error.Get_error_code()
else:
    raise AssertionError
""",
    "around": """
assert MPI.Is_initialized() and not MPI.Is_finalized()
assert MPI.Wtime() < MPI.Wtime() and MPI.Wtick() > 0
assert MPI.Get_processor_name() and MPI.COMM_WORLD.Get_name() == "MPI_COMM_WORLD"
import mpi4py
import mpi4py.MPI as again
assert again is MPI and mpi4py.__version__ and mpi4py.rc.initialize
MPI.Finalize()
assert MPI.Is_finalized()
""",
}

BUFFERS = {
    "arrays": """
from array import array
n = size
box = array("d", [rank + 0.5] * 2)
if rank == 0:
    comm.Send([box, 2, MPI.DOUBLE], dest=1)
    comm.Send(bytearray(b"ab"), dest=1)
elif rank == 1:
    status = MPI.Status()
    comm.Recv([box, MPI.DOUBLE], source=0, status=status)
    assert box.tolist() == [0.5, 0.5]
    assert (status.Get_count(MPI.DOUBLE), status.Get_elements(MPI.DOUBLE)) == (2, 2)
    assert status.count == 16
    text = bytearray(5)
    comm.Recv(text, source=0)
    assert text == b"ab" + bytes(3)
whole = array("i", [0] * n)
comm.Allgather(array("i", [rank]), whole)
assert whole.tolist() == [0, 1, 2]
comm.Alltoall(array("i", [rank * 10 + i for i in range(n)]), whole)
assert whole.tolist() == [i * 10 + rank for i in range(n)]
total = array("i", [0])
comm.Allreduce(array("i", [rank]), total, op=MPI.MAX)
assert total[0] == 2
comm.Scan(array("i", [rank + 1]), total)
assert total[0] == [1, 3, 6][rank]
comm.Reduce_scatter_block(array("i", [1] * n), total)
assert total[0] == 3
""",
    "parts of different length": """
from array import array
counts = [1, 2, 3]
mine = array("i", [rank] * counts[rank])
whole = array("i", [-1] * 8)
comm.Gatherv(mine, [whole, (counts, [0, 2, 5]), MPI.INT], root=0)
if rank == 0:
    assert whole.tolist() == [0, -1, 1, 1, -1, 2, 2, 2]
back = array("i", [0] * counts[rank])
comm.Scatterv([array("i", range(6)), counts, MPI.INT] if rank == 0 else None, back, root=0)
assert back.tolist() == [[0], [1, 2], [3, 4, 5]][rank]
comm.Allgatherv(mine, [whole, counts])
assert whole.tolist()[:6] == [0, 1, 1, 2, 2, 2]
""",
    "in place": """
from array import array
box = array("i", [rank, 1])
comm.Allreduce(MPI.IN_PLACE, box)
assert box.tolist() == [3, 3]
whole = array("i", [0, 0, 0])
whole[rank] = rank + 1
comm.Allgather(MPI.IN_PLACE, whole)
assert whole.tolist() == [1, 2, 3]
comm.Bcast(whole, root=1)
""",
    "derived types": """
from array import array
column = MPI.INT.Create_vector(3, 1, 3).Commit()
pair = MPI.INT.Create_contiguous(2).Commit()
if rank == 0:
    comm.Send([array("i", range(9)), 1, column], dest=1)
    comm.Send([array("i", [7, 8, 9, 10]), 2, pair], dest=1)
elif rank == 1:
    box = array("i", [0] * 3)
    comm.Recv(box, source=0)
    assert box.tolist() == [0, 3, 6]
    box = array("i", [0] * 4)
    comm.Recv([box, MPI.INT], source=0)
    assert box.tolist() == [7, 8, 9, 10]
column.Free()
pair.Free()
""",
    "requests": """
from array import array
box, out = array("i", [0]), array("i", [rank])
requests = [comm.Irecv(box, source=(rank - 1) % size), comm.Isend(out, dest=(rank + 1) % size)]
MPI.Request.Waitall(requests)
assert box[0] == (rank - 1) % size
total = array("i", [0])
request = comm.Iallreduce(out, total)
request.Wait()
assert total[0] == 3
""",
    "parts of a buffer are free": """
from array import array
data = array("i", [1, 2, 3, 4])
if rank == 0:
    request = comm.Isend([data, 2, MPI.INT], dest=1)
    data[3] = 9
    request.Wait()
elif rank == 1:
    requests = [comm.Irecv([memoryview(data)[:2], MPI.INT], source=0)]
    data[2] = 5
    MPI.Request.Waitall(requests)
""",
    "numpy": """
import numpy as np
for kind in "bhilBHILfdFD":
    a = np.arange(4).astype(kind).reshape(2, 2)
    b = np.zeros_like(a)
    comm.Allreduce(a, b, op=MPI.SUM)
    assert (b == 3 * a).all(), kind
flags = np.array([rank == 1, True])
comm.Allreduce(MPI.IN_PLACE, flags, op=MPI.LAND)
assert flags.tolist() == [False, True]
assert comm.allreduce(np.ones(2)).tolist() == [3, 3]
assert comm.bcast(np.float64(2.5) if rank == 0 else None) == 2.5
zero = np.array(rank, dtype="d")
comm.Bcast(zero, root=2)
assert zero == 2
""",
    "own operation on buffers": """
import numpy as np
def add(one, two, kind):
    total = np.frombuffer(two, dtype="i")
    total += np.frombuffer(one, dtype="i")
op = MPI.Op.Create(add, commute=True)
box = np.zeros(2, dtype="i")
comm.Allreduce(np.full(2, rank, dtype="i"), box, op=op)
assert box.tolist() == [3, 3]
op.Free()
""",
}


@pytest.mark.parametrize("name", [*SNIPPETS, *BUFFERS])
def test_calls(name, tmp_path):
    for outcome in outcomes(tmp_path, {**SNIPPETS, **BUFFERS}[name]):
        assert outcome.is_ok, outcome
