"""Ranks that spawn others, and two groups of ranks: what goes wrong between them."""

from textwrap import indent

from mpi.cases.build import PRELUDE, Case, by_all, lines

SPAWNS = """\
parent = MPI.Comm.Get_parent()
if parent == MPI.COMM_NULL:
    other = comm.Spawn(sys.executable, args=[__file__], maxprocs={children})
{parents}
else:
    other = parent
{spawned}
"""
TWO = """\
even = rank % 2 == 0
local = comm.Split(rank % 2)
other = local.Create_intercomm(0, comm, 1 - rank % 2)
"""
FREED = "other.Free()\nlocal.Free()"
LEAVE = "other.Disconnect()"


def family(parents, spawned, children=2):
    """A script that spawns itself."""
    parts = {
        "parents": indent(lines(parents), "    "),
        "spawned": indent(lines(spawned), "    "),
        "children": children,
    }
    return "import sys\n" + PRELUDE + SPAWNS.format(**parts)


def between(*body):
    """A script of two groups."""
    return by_all(TWO, body, FREED)


# Name, label, kind, what parents do, what children do wrongly and rightly; and what else is told.
FAMILIES = [
    (
        "spawn-bcast-root",
        "root-matching",
        "collective-mismatch",
        "other.bcast(1, root=MPI.ROOT)",
        "other.bcast(root=MPI.PROC_NULL)",
        "other.bcast(root=0)",
        ("deadlock",),
    ),
    (
        "spawn-kind",
        "call-matching",
        "collective-mismatch",
        "other.gather(1, root=MPI.ROOT)",
        "other.reduce(1, root=0)",
        "other.gather(1, root=0)",
        (),
    ),
    (
        "spawn-operation",
        "operator-matching",
        "collective-mismatch",
        "other.reduce(None, op=MPI.SUM, root=MPI.ROOT)",
        "other.reduce(1, op=MPI.MAX, root=0)",
        "other.reduce(1, op=MPI.SUM, root=0)",
        (),
    ),
    (
        "spawn-type",
        "datatype-matching",
        "type-mismatch",
        "other.Reduce(None, array('d', [0]), root=MPI.ROOT)",
        "other.Reduce(array('i', [1]), None, root=0)",
        "other.Reduce(array('d', [1]), None, root=0)",
        (),
    ),
    (
        "spawn-no-answer",
        "call-matching",
        "deadlock",
        "other.recv(source=1)",
        "rank == 0 and other.send(1, dest=0)",
        "rank == 1 and other.send(1, dest=0)",
        (),
    ),
    (
        "spawn-tag",
        "tag-matching",
        "deadlock",
        "other.recv(source=0, tag=1)",
        "rank == 0 and other.ssend(1, dest=0, tag=2)",
        "rank == 0 and other.ssend(1, dest=0, tag=1)",
        (),
    ),
    (
        "spawn-rank",
        "invalid-argument",
        "invalid-argument",
        "[other.recv() for _ in range(2)]",
        "other.send(1, dest=1)",
        "other.send(1, dest=0)",
        ("deadlock",),
    ),
    (
        "spawn-first-come",
        "message-race",
        "message-race",
        "first = other.recv()\nother.recv()\nassert first == 0",
        "other.bsend(rank, dest=0)",
        "rank == 0 and other.ssend(0, dest=0)\ncomm.barrier()\nrank and other.ssend(1, dest=0)",
        (),
    ),
    (
        "spawn-request",
        "request-leak",
        "leaked-request",
        "[other.recv() for _ in range(2)]",
        "request = other.isend(1, dest=0)",
        "other.isend(1, dest=0).wait()",
        (),
    ),
    (
        "spawn-leak",
        "leak",
        "leak",
        "other.barrier()",
        "own = comm.Dup()\nother.barrier()",
        "own = comm.Dup()\nother.barrier()\nown.Free()",
        (),
    ),
]

# Name, label, kind, what both groups do wrongly and rightly; and what else is told.
GROUPS = [
    (
        "inter-head-to-head",
        "buffer-hazard",
        "buffer-hazard",
        "other.send(1, dest=0)\nother.recv()",
        "other.sendrecv(1, dest=0)",
        (),
    ),
    (
        "inter-kind",
        "call-matching",
        "collective-mismatch",
        "other.barrier() if even else other.allgather(1)",
        "other.allgather(1)",
        (),
    ),
    (
        "inter-root",
        "root-matching",
        "collective-mismatch",
        "other.bcast(1, root=0)",
        "other.bcast(1, root=0 if even else MPI.ROOT)",
        ("deadlock",),
    ),
    (
        "inter-wrong-communicator",
        "communicator-matching",
        "deadlock",
        "(other if even else comm).barrier()",
        "other.barrier()\ncomm.barrier()",
        ("unmatched",),
    ),
    (
        "inter-merge",
        "leak",
        "leak",
        "one = other.Merge(even)\none.barrier()",
        "one = other.Merge(even)\none.barrier()\none.Free()",
        (),
    ),
    (
        "inter-rank",
        "invalid-argument",
        "invalid-argument",
        "other.sendrecv(1, dest=rank, source=rank)",
        "other.sendrecv(1, dest=0, source=0)",
        ("deadlock",),
    ),
]


def cases():
    for name, label, kind, parents, wrong, right, also in FAMILIES:
        faulty, correct = (family([parents, LEAVE], [spawned, LEAVE]) for spawned in (wrong, right))
        yield Case(name, label, kind, 1, faulty, correct, also)
    yield Case(
        "spawn-one-side-disconnects",
        "call-matching",
        "deadlock",
        1,
        family(LEAVE, "pass"),
        family(LEAVE, LEAVE),
    )
    yield Case(
        "spawn-not-disconnected", "leak", "leak", 1, family("pass", "pass"), family(LEAVE, LEAVE)
    )
    yield Case(
        "spawn-some-ranks",
        "call-matching",
        "collective-mismatch",
        2,
        family(LEAVE, LEAVE, 1).replace("comm.Spawn", "rank and comm.Dup() or comm.Spawn"),
        family(LEAVE, LEAVE, 1),
    )
    for name, label, kind, wrong, right, also in GROUPS:
        yield Case(name, label, kind, 2, between(wrong), between(right), also)
