"""What was added to be as wide as mpi4py: large buffers apart, ports, failures, freed handles."""

import pytest
from mpi.scripts import outcomes

SCRIPTS = {
    "pkl5 sends large buffers apart": """
from mpi4py.util import pkl5
comm = pkl5.Intracomm(comm)
pkl5.pickle.THRESHOLD = 16
large, small = bytearray(range(64)), bytearray(3)
import pickle
whole = [pickle.PickleBuffer(large), pickle.PickleBuffer(small), rank]
data, apart = pkl5.pickle.dumps_oob(whole)
assert [bytes(each) for each in apart] == [bytes(large)]
status = MPI.Status()
right, left = (rank + 1) % size, (rank - 1) % size
for blocksize in (10, 1000):
    pkl5._bigmpi.blocksize = blocksize
    sent = comm.isend(whole, right, 7)
    got = comm.recv(None, left, 7, status)
    assert [bytes(got[0]), bytes(got[1]), got[2]] == [bytes(large), bytes(small), left]
    assert status.count > 64 and status.source == left
    sent.wait()
    sent = comm.issend(whole, right, 8)
    message = comm.mprobe(left, 8, status)
    assert message and status.count > 64 and isinstance(message, pkl5.Message)
    assert bytes(message.irecv().wait()[0]) == bytes(large) and not message
    assert pkl5.Request.waitall([sent]) == [None] and not sent
assert comm.gather(rank, 1) == (list(range(size)) if rank == 1 else None)
assert comm.scatter(list("abc") if rank == 0 else None) == "abc"[rank]
assert comm.alltoall([rank] * size) == comm.allgather(rank) == list(range(size))
assert comm.bcast([rank], 2) == [2]
again = comm.Dup()
assert type(again) is pkl5.Intracomm
again.Free()
""",
    "each rank has a pkl5 of its own": """
from mpi4py.util import pkl5
pkl5.pickle.THRESHOLD = rank
comm.barrier()
assert pkl5.pickle.THRESHOLD == rank
""",
    "a communicator of two groups sends objects by pkl5": """
from mpi4py.util import pkl5
half = comm.Split(rank == 0, rank)
other = pkl5.Intercomm(half.Create_intercomm(0, comm, 1 if rank == 0 else 0))
root = MPI.ROOT if rank == 0 else 0
assert other.bcast("all", root) == (None if rank == 0 else "all")
other.Free(), half.Free()
""",
    "groups meet at a port": """
half = comm.Split(rank == 0, rank)
if rank == 0:
    port = MPI.Open_port()
    MPI.Publish_name("meeting", port)
    comm.send(None, 1)
    other = half.Accept(port)
    MPI.Unpublish_name("meeting", port)
    MPI.Close_port(port)
else:
    if rank == 1:
        comm.recv(None, 0)
    other = half.Connect(MPI.Lookup_name("meeting") if rank == 1 else None)
assert (other.size, other.remote_size) == ((1, 2) if rank == 0 else (2, 1))
assert other.rank == half.rank
assert other.allgather(rank) == ([1, 2] if rank == 0 else [0])
other.Disconnect(), half.Free()
""",
    "no rank has failed": """
failed = comm.Get_failed()
assert failed.size == 0 and comm.Ack_failed() == 0
failed.Free()
assert not comm.Is_revoked()
assert comm.Agree([7, 5, 13][rank]) == 5
from array import array
bits = array("i", [-1 if rank else 6])
comm.Iagree(bits).Wait()
assert bits[0] == 6
smaller = comm.Shrink()
assert smaller.size == size and smaller.rank == rank
smaller.Free()
""",
    "a type is freed while a message of it is under way": """
from array import array
kind = MPI.INT.Create_vector(2, 1, 2).Commit()
data = array("i", [rank, 9, rank, 9])
other = MPI.PROC_NULL if rank == 2 else 1 - rank
request = comm.Irecv([data, 1, kind], other) if rank == 0 else comm.Isend([data, 1, kind], other)
kind.Free()
request.Wait()
assert data.tolist() == ([1, 9, 1, 9] if rank == 0 else [rank, 9, rank, 9])
""",
    "who holds a mutex gives it back by freeing it": """
from mpi4py.util import sync
mutex, places = sync.Mutex(comm=comm), sync.Semaphore(2, comm=comm)
mutex.acquire()
mutex.free()
with places:
    pass
places.free()
""",
    "a script subclasses requests and grids": """
class Mine(MPI.Request):
    def test(self):
        return super().Test()

class Grid(MPI.Cartcomm):
    pass

grid = comm.Create_cart([size])
grid = Grid(grid)
again = grid.Clone()
assert type(again) is Grid and again.dims == [size]
again.Free(), grid.Free()
request = Mine(comm.isend(rank, rank))
assert comm.recv(source=rank) == rank
assert request.test()
""",
    "what a function of an attribute raises is an error of the call": """
def fails(*_):
    raise KeyError

key = MPI.Comm.Create_keyval(None, fails)
comm.Set_attr(key, 1)
try:
    comm.Delete_attr(key)
    assert False
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_OTHER
""",
    "recv has no use for a buffer": """
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    comm.recv(bytearray(1), MPI.PROC_NULL)
assert [each.category for each in said] == [UserWarning]
""",
    "None is scattered and exchanged": """
assert comm.scatter(None, 1) is None
assert comm.alltoall(None) == [None] * size
""",
}
FAILS = {
    "nobody connects": ("if rank == 0:\n    MPI.COMM_SELF.Accept(MPI.Open_port())\n", "deadlock"),
    "a port that nobody has opened": ("comm.Accept('port', root=1)\n", "invalid-argument"),
    "a name that nobody has published": ("MPI.Lookup_name('none')\n", "invalid-argument"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_wider(name, tmp_path):
    for outcome in outcomes(tmp_path, SCRIPTS[name]):
        assert outcome.is_ok, outcome


@pytest.mark.parametrize("name", FAILS)
def test_mistakes(name, tmp_path):
    text, kind = FAILS[name]
    for outcome in outcomes(tmp_path, text):
        assert outcome.kind == kind, outcome
