"""Arguments that MPI does not allow, and types and counts that do not go together."""

from mpi.cases.build import Case, by_all, by_rank

INVALID = "invalid-argument"

# What is wrong, and what would be right; all ranks do it.
WRONG = {
    "dest-too-large": ("comm.isend(1, dest=size).wait()", "x = 1"),
    "dest-negative": ("comm.send(1, dest=-7)", "comm.send(1, dest=MPI.PROC_NULL)"),
    "dest-Send": ("comm.Send(array('i', [1]), dest=5)", "x = 1"),
    "dest-Isend": ("comm.Isend(array('i', [1]), dest=99).Wait()", "x = 1"),
    "dest-ssend": ("comm.ssend(1, dest=2)", "x = 1"),
    "dest-no-number": ("comm.send(1, dest='one')", "x = 1"),
    "dest-any": ("comm.send(1, dest=MPI.ANY_SOURCE)", "comm.send(1, dest=MPI.PROC_NULL)"),
    "source-too-large": ("comm.recv(source=size)", "comm.recv(source=MPI.PROC_NULL)"),
    "source-Recv": ("comm.Recv(array('i', [1]), source=17)", "x = 1"),
    "source-irecv": ("comm.irecv(source=-9).wait()", "comm.irecv(source=MPI.PROC_NULL).wait()"),
    "source-probe": ("comm.probe(source=size + 1)", "comm.probe(source=MPI.PROC_NULL)"),
    "source-sendrecv": ("comm.sendrecv(1, dest=rank, source=8)", "comm.sendrecv(1, rank, 0)"),
    "tag-negative": ("comm.isend(1, dest=rank, tag=-3).wait()", "x = 1"),
    "tag-any": ("comm.bsend(1, dest=rank, tag=MPI.ANY_TAG)", "x = 1"),
    "tag-Send": ("comm.Send(array('i', [1]), dest=rank, tag=-1)", "x = 1"),
    "tag-too-large": ("comm.send(1, dest=rank, tag=2**40)", "x = 1"),
    "tag-recv": ("comm.recv(source=rank, tag=-5)", "x = 1"),
    "root-bcast": ("comm.bcast(1, root=size)", "comm.bcast(1, root=size - 1)"),
    "root-negative": ("comm.bcast(1, root=-1)", "comm.bcast(1, root=0)"),
    "root-Bcast": ("comm.Bcast(array('i', [1]), root=3)", "comm.Bcast(array('i', [1]), root=1)"),
    "root-gather": ("comm.gather(1, root=2)", "comm.gather(1, root=1)"),
    "root-reduce": ("comm.reduce(1, root=11)", "comm.reduce(1, root=1)"),
    "root-scatter": ("comm.scatter([1, 2], root=-2)", "comm.scatter([1, 2], root=0)"),
    "comm-null-send": ("MPI.COMM_NULL.send(1, dest=0)", "x = 1"),
    "comm-null-recv": ("MPI.COMM_NULL.recv(source=0)", "x = 1"),
    "comm-null-barrier": ("MPI.COMM_NULL.Barrier()", "comm.Barrier()"),
    "comm-null-bcast": ("MPI.COMM_NULL.bcast(1)", "comm.bcast(1)"),
    "comm-null-rank": ("MPI.COMM_NULL.Get_rank()", "comm.Get_rank()"),
    "comm-freed": (
        "other = comm.Dup()\nother.Free()\nother.barrier()",
        "other = comm.Dup()\nother.barrier()\nother.Free()",
    ),
    "comm-freed-send": (
        "other = comm.Dup()\nother.Free()\nother.bsend(1, dest=rank)",
        "other = comm.Dup()\nother.Free()",
    ),
    "comm-freed-twice": (
        "other = comm.Dup()\nother.Free()\nother.Free()",
        "other = comm.Dup()\nother.Free()",
    ),
    "comm-world-freed": ("comm.Free()", "x = 1"),
    "comm-of-other-color": (
        "part = comm.Split(0 if rank == 0 else MPI.UNDEFINED)\npart.barrier()\npart.Free()",
        "part = comm.Split(0 if rank == 0 else MPI.UNDEFINED)\nif part:\n    part.Free()",
    ),
    "color-negative": ("part = comm.Split(-4)\npart.Free()", "part = comm.Split(4)\npart.Free()"),
    "op-null": ("comm.allreduce(1, op=MPI.OP_NULL)", "comm.allreduce(1, op=MPI.SUM)"),
    "op-no-op": ("comm.reduce(1, op=sum)", "comm.reduce(1, op=MPI.SUM)"),
    "op-freed": (
        "op = MPI.Op.Create(lambda a, b, t: a + b)\nop.Free()\ncomm.allreduce(1, op=op)",
        "op = MPI.Op.Create(lambda a, b, t: a + b)\ncomm.allreduce(1, op=op)\nop.Free()",
    ),
    "op-bits-of-floats": (
        "comm.Allreduce(array('d', [1]), array('d', [0]), op=MPI.BAND)",
        "comm.Allreduce(array('d', [1]), array('d', [0]), op=MPI.MAX)",
    ),
    "type-null": ("comm.Bcast([array('i', [1]), 1, MPI.DATATYPE_NULL])", "x = 1"),
    "type-null-Send": ("comm.Bsend([bytearray(4), 1, MPI.DATATYPE_NULL], dest=rank)", "x = 1"),
    "type-not-committed": (
        "kind = MPI.INT.Create_contiguous(2)\ncomm.Bcast([array('i', [1, 2]), 1, kind])\n"
        "kind.Free()",
        "kind = MPI.INT.Create_contiguous(2).Commit()\ncomm.Bcast([array('i', [1, 2]), 1, kind])\n"
        "kind.Free()",
    ),
    "type-freed": (
        "kind = MPI.INT.Create_contiguous(2).Commit()\nkind.Free()\n"
        "comm.Bcast([array('i', [1, 2]), 1, kind])",
        "kind = MPI.INT.Create_contiguous(2).Commit()\ncomm.Bcast([array('i', [1, 2]), 1, kind])\n"
        "kind.Free()",
    ),
    "type-predefined-freed": ("MPI.INT.Free()", "x = MPI.INT.Get_size()"),
    "count-beyond-buffer": (
        "comm.Bcast([array('i', [1, 2]), 3, MPI.INT])",
        "comm.Bcast([array('i', [1, 2]), 2, MPI.INT])",
    ),
    "count-negative": (
        "comm.Bcast([array('i', [1, 2]), -1, MPI.INT])",
        "comm.Bcast([array('i', [1, 2]), 1, MPI.INT])",
    ),
    "no-buffer": ("comm.Bcast(object())", "comm.Bcast(bytearray(1))"),
    "buffer-too-small": (
        "comm.Allreduce(array('i', [1, 2]), array('i', [0]))",
        "comm.Allreduce(array('i', [1, 2]), array('i', [0, 0]))",
    ),
    "group-rank": (
        "group = comm.Get_group()\ngroup.Incl([7]).Free()\ngroup.Free()",
        "group = comm.Get_group()\ngroup.Incl([1]).Free()\ngroup.Free()",
    ),
    "request-freed": (
        "request = comm.ibarrier()\nrequest.Wait()\nrequest.Free()",
        "request = comm.ibarrier()\nrequest.Wait()",
    ),
    "grid-too-large": (
        "grid = comm.Create_cart([3, 3])\ngrid.Free()",
        "grid = comm.Create_cart([1, 2])\ngrid.Free()",
    ),
    "after-finalize": ("MPI.Finalize()\ncomm.barrier()", "comm.barrier()\nMPI.Finalize()"),
    "not-to-be-pickled": ("comm.bsend(lambda: 1, dest=rank)", "comm.bsend(1, MPI.PROC_NULL)"),
}


def invalid():
    for name, (wrong, right) in WRONG.items():
        yield Case(f"invalid-{name}", INVALID, INVALID, 2, by_all(wrong), by_all(right))


TYPES = [("i", "f"), ("i", "d"), ("f", "d"), ("q", "d"), ("h", "i"), ("I", "i"), ("d", "q")]


def types():
    label, kind = "datatype-matching", "type-mismatch"
    for one, two in TYPES:
        wide = f"array('{two}', [0] * 8)"
        yield Case(
            f"type-{one}-{two}",
            label,
            kind,
            2,
            by_rank(f"comm.Send(array('{one}', [1]), dest=1)", f"comm.Recv({wide}, source=0)"),
            by_rank(f"comm.Send(array('{two}', [1]), dest=1)", f"comm.Recv({wide}, source=0)"),
            ("deadlock",),
        )
    for name, call in GATHERED.items():
        yield Case(
            f"type-{name}",
            label,
            kind,
            2,
            by_rank(call.format("i"), call.format("f")),
            by_all(call.format("f")),
            ("deadlock", "count-mismatch", "unmatched"),
        )
    for one, two in [("MPI.INT", "MPI.FLOAT"), ("MPI.DOUBLE", "MPI.LONG"), ("MPI.BYTE", "MPI.INT")]:
        out = "comm.Isend([bytearray(8), 1, {}], dest=1).Wait()"
        into = "comm.Irecv([bytearray(8), 1, {}], source=0).Wait()"
        yield Case(
            f"named-type-{one[4:]}-{two[4:]}",
            label,
            kind,
            2,
            by_rank(out.format(one), into.format(two)),
            by_rank(out.format(two), into.format(two)),
            ("deadlock",),
        )


GATHERED = {
    "Bcast": "comm.Bcast(array('{0}', [1, 2]), root=0)",
    "Reduce": "comm.Reduce(array('{0}', [1]), array('{0}', [0]), root=0)",
    "Allreduce": "comm.Allreduce(array('{0}', [1]), array('{0}', [0]))",
    "Gather": "comm.Gather(array('{0}', [1]), array('{0}', [0, 0]), root=0)",
    "Scatter": "comm.Scatter(array('{0}', [0, 0]), array('{0}', [0]), root=0)",
    "Allgather": "comm.Allgather(array('{0}', [1]), array('{0}', [0, 0]))",
    "Alltoall": "comm.Alltoall(array('{0}', [1, 2]), array('{0}', [0, 0]))",
    "Scan": "comm.Scan(array('{0}', [1]), array('{0}', [0]))",
    "Ibcast": "comm.Ibcast(array('{0}', [1]), root=0).Wait()",
    "Iallreduce": "comm.Iallreduce(array('{0}', [1]), array('{0}', [0])).Wait()",
}

COUNTED = {
    "Bcast": "comm.Bcast(array('i', [1] * {0}), root=0)",
    "Reduce": "comm.Reduce(array('i', [1] * {0}), array('i', [0] * {0}), root=0)",
    "Allreduce": "comm.Allreduce(array('i', [1] * {0}), array('i', [0] * {0}))",
    "Allgather": "comm.Allgather(array('i', [1] * {0}), array('i', [0] * {0} * 2))",
    "Alltoall": "comm.Alltoall(array('i', [1] * {0} * 2), array('i', [0] * {0} * 2))",
    "Ibcast": "comm.Ibcast(array('i', [1] * {0}), root=0).Wait()",
}


def counts():
    label, kind = "count-matching", "count-mismatch"
    for name, call in COUNTED.items():
        yield Case(
            f"count-{name}",
            label,
            kind,
            2,
            by_rank(call.format(2), call.format(1)),
            by_all(call.format(2)),
            ("deadlock", "unmatched"),
        )
    for s, r in [("Send", "Recv"), ("Isend", "Irecv"), ("Ssend", "Irecv"), ("Bsend", "Recv")]:
        out = f"comm.{s}(array('d', [1, 2, 3]), dest=1)" + (".Wait()" if s[0] == "I" else "")
        into = f"comm.{r}(array('d', [0] * {{}}), source=0)" + (".Wait()" if r[0] == "I" else "")
        yield Case(
            f"truncated-{s}-{r}",
            label,
            kind,
            2,
            by_rank(out, into.format(2)),
            by_rank(out, into.format(5)),
            ("deadlock",),
        )


def cases():
    for make in (invalid, types, counts):
        yield from make()
