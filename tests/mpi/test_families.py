"""Calls of MPI by family, each in a small script: types, handles, attributes, topologies, more."""

import pytest
from mpi.scripts import outcomes

SCRIPTS = {
    "a structure goes as its fields": """
import struct
pair = MPI.Datatype.Create_struct([1, 2], [0, 8], [MPI.INT, MPI.DOUBLE]).Commit()
assert (pair.Get_size(), pair.Get_extent()) == (20, (0, 24))
data = bytearray(struct.pack("i4xdd", 7, 1.5, 2.5)) if rank == 0 else bytearray(24)
if rank == 0:
    comm.Send([data, 1, pair], 1)
elif rank == 1:
    status = MPI.Status()
    comm.Recv([data, 1, pair], 0, status=status)
    assert struct.unpack("i4xdd", data) == (7, 1.5, 2.5)
    assert (status.Get_count(pair), status.Get_elements(pair)) == (1, 3)
pair.Free()
""",
    "a subarray is the part it names": """
from array import array
whole = array("i", range(12))
part = MPI.INT.Create_subarray([3, 4], [2, 2], [1, 1]).Commit()
packed = bytearray(part.Pack_size(1, comm))
assert part.Pack([whole, 1, part], packed, 0, comm) == 16
assert array("i", bytes(packed)).tolist() == [5, 6, 9, 10]
column = MPI.INT.Create_hvector(3, 1, 16).Commit()
assert column.decode()[1:] == ("HVECTOR", {"count": 3, "blocklength": 1, "stride": 16})
part.Free(), column.Free()
""",
    "parts of a distributed array make the whole": """
found = []
for process in range(4):
    part = MPI.BYTE.Create_darray(4, process, [5, 3], [MPI.DISTRIBUTE_CYCLIC] * 2,
                                  [MPI.DISTRIBUTE_DFLT_DARG] * 2, [2, 2])
    found += [at + i for at, n in part.layout.runs for i in range(n)]
    assert part.Get_extent() == (0, 15)
    part.Free()
assert sorted(found) == list(range(15)), found
""",
    "external packing is big-endian": """
from array import array
out = bytearray(8)
assert MPI.INT.Pack_external("external32", array("i", [1, 258]), out, 0) == 8
assert out == bytes([0, 0, 0, 1, 0, 0, 1, 2])
back = array("i", [0, 0])
MPI.INT.Unpack_external("external32", out, 0, back)
assert back.tolist() == [1, 258]
""",
    "handles are copied and numbered": """
for handle in (MPI.INT, MPI.SUM, MPI.COMM_WORLD, MPI.GROUP_EMPTY, MPI.INFO_ENV):
    copy = type(handle)(handle)
    assert copy == handle and copy is not handle
    assert type(handle).fromhandle(handle.handle) == handle
import pickle
assert pickle.loads(pickle.dumps(MPI.DOUBLE)) is MPI.DOUBLE
try:
    MPI.Comm(MPI.INT)
    assert False
except TypeError:
    pass
""",
    "attributes are copied as their key says": """
gone = []
copied = MPI.Comm.Create_keyval(lambda c, k, v: v + 1, lambda c, k, v: gone.append(v))
dropped = MPI.Comm.Create_keyval()
comm.Set_attr(copied, 5)
comm.Set_attr(dropped, 6)
other = comm.Dup()
assert (other.Get_attr(copied), other.Get_attr(dropped)) == (6, None)
other.Free()
assert gone == [6] and comm.Get_attr(copied) == 5
comm.Delete_attr(copied), comm.Delete_attr(dropped)
assert MPI.Comm.Free_keyval(copied) == MPI.Comm.Free_keyval(dropped) == MPI.KEYVAL_INVALID
""",
    "an error handler of the script is called": """
seen = []
handler = MPI.Comm.Create_errhandler(lambda c, code: seen.append((c == comm, code)))
comm.Set_errhandler(handler)
comm.Call_errhandler(MPI.ERR_OTHER)
comm.Set_errhandler(MPI.ERRORS_RETURN)
handler.Free()
assert seen == [(True, MPI.ERR_OTHER)]
code = MPI.Add_error_code(MPI.Add_error_class())
MPI.Add_error_string(code, "mine")
assert MPI.Get_error_string(code) == "mine" and MPI.Exception(code).Get_error_code() == code
""",
    "memory is lent and viewed": """
piece = MPI.Alloc_mem(8)
piece[2:4] = b"ab"
assert memoryview(piece).tobytes()[2:4] == b"ab" and len(piece) == piece.nbytes == 8
comm.Bcast(piece, 0)
same = MPI.buffer.fromaddress(piece.address, 8)
same[0] = 9
assert piece[0] == 9
MPI.Free_mem(piece)
assert piece.address == 0
""",
    "a graph has its neighbours": """
ring = comm.Create_graph([2, 4, 6], [1, 2, 0, 2, 0, 1])
assert ring.neighbors == [r for r in range(3) if r != rank]
assert ring.neighbor_allgather(rank) == ring.neighbors
assert ring.neighbor_alltoall([f"{rank}>{n}" for n in ring.neighbors]) == [
    f"{n}>{rank}" for n in ring.neighbors]
ring.Free()
""",
    "a rank waits for its neighbours alone": """
from array import array
edges = {0: ([], [1]), 1: ([0], []), 2: ([], [])}[rank]
chain = comm.Create_dist_graph_adjacent(*edges)
box = array("i", [0] * len(edges[0]))
chain.Neighbor_alltoall(array("i", [7] * len(edges[1])), box)
assert box.tolist() == [7] * len(edges[0])
chain.Free()
""",
    "a grid that wraps sends both ways": """
line = comm.Create_cart([3], periods=[True])
assert line.neighbor_alltoall(["back", "forth"]) == ["forth", "back"]
request = line.Neighbor_allgather_init(bytes([rank]), box := bytearray(2))
for _ in range(2):
    request.Start()
    request.Wait()
assert list(box) == [(rank - 1) % 3, (rank + 1) % 3]
request.Free(), line.Free()
""",
    "persistent collectives read their buffers anew": """
from array import array
mine, total = array("i", [rank]), array("i", [0])
request = comm.Allreduce_init(mine, total)
for turn in range(3):
    mine[0] = rank + turn
    request.Start()
    request.Wait()
    assert total[0] == 3 + 3 * turn
request.Free()
""",
    "parts have types of their own": """
from array import array
import struct
out = bytearray(struct.pack("ihd", rank, rank, rank))
into = bytearray(3 * 8)
kind = [MPI.INT, MPI.SHORT, MPI.DOUBLE][rank]
comm.Alltoallw([out, ([1] * 3, [0, 4, 8]), [MPI.INT, MPI.SHORT, MPI.DOUBLE]],
               [into, ([1] * 3, [0, 8, 16]), [kind] * 3])
letter = "ihd"[rank]
assert [struct.unpack_from(letter, into, at)[0] for at in (0, 8, 16)] == [0, 1, 2]
""",
    "a generalized request is completed by the script": """
seen = []
request = MPI.Grequest.Start(lambda s: s.Set_tag(4), lambda: seen.append("free"))
assert not request.Test()
request.Complete()
status = MPI.Status()
request.Wait(status)
assert status.tag == 4 and seen == ["free"]
""",
    "a partitioned message goes when all parts are ready": """
from array import array
if rank == 0:
    request = comm.Psend_init(array("i", range(4)), 2, 1)
    request.Start()
    request.Pready(1), request.Pready(0)
    request.Wait(), request.Free()
elif rank == 1:
    request = comm.Precv_init(box := array("i", [0] * 4), 2, 0)
    request.Start()
    request.Wait(), request.Free()
    assert box.tolist() == [0, 1, 2, 3]
""",
    "sessions know sets of ranks": """
session = MPI.Session.Init()
group = session.Create_group("mpi://WORLD")
made = MPI.Intracomm.Create_from_group(group)
assert (made.rank, made.size) == (rank, size) and made.allreduce(1) == 3
made.Free(), group.Free(), session.Finalize()
""",
    "hints are kept": """
info = MPI.Info.Create({"a": "1"})
info["b"] = "2"
other = comm.Dup_with_info(info)
found = other.Get_info()
assert dict(found.items()) == {"a": "1", "b": "2"} and info.Get_nkeys() == 2
found.Free(), other.Free(), info.Free()
assert info == MPI.INFO_NULL
""",
    "locks and counters": """
from mpi4py.util import sync
counter = sync.Counter(comm=comm)
mutex = sync.Mutex(comm=comm)
with mutex:
    assert mutex.locked()
    mine = next(counter)
assert sorted(comm.allgather(mine)) == [0, 1, 2]
counter.free(), mutex.free()
with sync.Sequential(comm):
    pass
""",
    "a file is read and written by two calls": """
from array import array
name = f"two calls {comm.bcast(0)}"
file = MPI.File.Open(comm, name, MPI.MODE_RDWR | MPI.MODE_CREATE | MPI.MODE_DELETE_ON_CLOSE)
out, into = array("i", [rank]), array("i", [9])
file.Write_at_all_begin(4 * rank, out)
file.Write_at_all_end(out)
file.Sync(), comm.Barrier()
file.Iread_at_all(4 * rank, into).Wait()
assert into[0] == rank
file.Close()
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_families(name, tmp_path):
    for outcome in outcomes(tmp_path, SCRIPTS[name]):
        assert outcome.is_ok, outcome


def test_a_type_that_reaches_outside_of_its_buffer_is_refused(tmp_path):
    text = "kind = MPI.INT.Create_resized(0, 8).Commit()\ncomm.Send([bytearray(11), 2, kind], 0)\n"
    for outcome in outcomes(tmp_path, text, ranks=1):
        assert outcome.kind == "invalid-argument" and "do not fit" in outcome.text


def test_structures_that_differ_do_not_match(tmp_path):
    text = """
kinds = [MPI.INT, MPI.DOUBLE], [MPI.INT, MPI.FLOAT]
pair = MPI.Datatype.Create_struct([1, 1], [0, 8], kinds[rank]).Commit()
if rank == 0:
    comm.Send([bytearray(16), 1, pair], 1)
else:
    comm.Recv([bytearray(16), 1, pair], 0)
pair.Free()
"""
    for outcome in outcomes(tmp_path, text, ranks=2):
        assert outcome.kind == "type-mismatch", outcome
