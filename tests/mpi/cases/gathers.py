"""Collective calls that do not go together: kinds, order, roots, operations, missing ones."""

from itertools import permutations

from mpi.cases.build import Case, by_all, by_rank

CALLS = "call-matching"
MISMATCH = "collective-mismatch"
ALSO = ("deadlock", "unmatched")

CALL = {
    "barrier": "comm.barrier()",
    "bcast": "comm.bcast(7, root=0)",
    "gather": "comm.gather(rank, root=0)",
    "reduce": "comm.reduce(rank, op=MPI.SUM, root=0)",
    "allreduce": "comm.allreduce(rank, op=MPI.SUM)",
    "scatter": "comm.scatter([1] * size if rank == 0 else None, root=0)",
    "allgather": "comm.allgather(rank)",
    "scan": "comm.scan(rank)",
    "alltoall": "comm.alltoall([rank] * size)",
    "Bcast": "comm.Bcast(array('i', [1]), root=0)",
    "Allreduce": "comm.Allreduce(array('i', [1]), array('i', [0]))",
    "Gather": "comm.Gather(array('i', [1]), array('i', [0] * size), root=0)",
}
NONBLOCKING = {
    "ibarrier": "comm.ibarrier().wait()",
    "ibcast": "comm.ibcast(7, root=0).wait()",
    "ireduce": "comm.ireduce(rank, root=0).wait()",
    "iallreduce": "comm.iallreduce(rank).wait()",
    "igather": "comm.igather(rank, root=0).wait()",
}


def kinds():
    for one, two in list(permutations(list(CALL)[:7], 2))[::2]:
        yield Case(
            f"kind-{one}-{two}",
            CALLS,
            MISMATCH,
            2,
            by_rank(CALL[one], CALL[two]),
            by_all(CALL[one], CALL[two]),
            ALSO,
        )
    for one, two in [("bcast", "Bcast"), ("allreduce", "Allreduce"), ("scan", "alltoall")]:
        yield Case(
            f"kind-{one}-{two}",
            CALLS,
            MISMATCH,
            3,
            by_rank(CALL[one], CALL[one], CALL[two]),
            by_all(CALL[two]),
            ALSO,
        )


def orders():
    names = ["barrier", "bcast", "reduce", "allreduce", "Bcast", "Gather"]
    for one, two in zip(names, names[1:] + names[:1], strict=True):
        yield Case(
            f"order-{one}-{two}",
            CALLS,
            MISMATCH,
            2,
            by_rank([CALL[one], CALL[two]], [CALL[two], CALL[one]]),
            by_rank([CALL[one], CALL[two]], [CALL[one], CALL[two]]),
            ALSO,
        )


def missing():
    for name, call in CALL.items():
        for absent in (0, 1):
            bodies = [call, call]
            bodies[absent] = "x = 1"
            yield Case(
                f"missing-{name}-at-{absent}",
                CALLS,
                "deadlock",
                2,
                by_rank(*bodies),
                by_all(call),
                ALSO,
            )


def with_messages():
    for name in ["barrier", "allreduce", "allgather", "alltoall", "Allreduce"]:
        yield Case(
            f"before-message-{name}",
            CALLS,
            "deadlock",
            2,
            by_rank([CALL[name], "comm.send(1, dest=1)"], ["comm.recv(source=0)", CALL[name]]),
            by_rank([CALL[name], "comm.send(1, dest=1)"], [CALL[name], "comm.recv(source=0)"]),
        )


def blocking_or_not():
    for name, call in NONBLOCKING.items():
        yield Case(
            f"blocking-or-not-{name}",
            CALLS,
            MISMATCH,
            2,
            by_rank(call, CALL[name[1:]]),
            by_all(call, CALL[name[1:]]),
            ALSO,
        )
    names = list(NONBLOCKING)
    for one, two in zip(names, names[1:], strict=False):
        yield Case(
            f"kind-{one}-{two}",
            CALLS,
            MISMATCH,
            2,
            by_rank(NONBLOCKING[one], NONBLOCKING[two]),
            by_all(NONBLOCKING[one], NONBLOCKING[two]),
            ALSO,
        )


ROOTED = {
    "bcast": "comm.bcast(7, root={0})",
    "gather": "comm.gather(rank, root={0})",
    "reduce": "comm.reduce(rank, root={0})",
    "scatter": "comm.scatter([1] * size, root={0})",
    "Bcast": "comm.Bcast(array('i', [1]), root={0})",
    "Gather": "comm.Gather(array('i', [1]), array('i', [0] * size), root={0})",
    "Scatter": "comm.Scatter(array('i', [1] * size), array('i', [0]), root={0})",
    "Reduce": "comm.Reduce(array('i', [1]), array('i', [0]), root={0})",
    "ibcast": "comm.ibcast(7, root={0}).wait()",
    "ireduce": "comm.ireduce(rank, root={0}).wait()",
    "igather": "comm.igather(rank, root={0}).wait()",
    "iscatter": "comm.iscatter([1] * size, root={0}).wait()",
}


def roots():
    for name, call in ROOTED.items():
        for root in (0, 1):
            yield Case(
                f"root-{name}-{root}",
                "root-matching",
                MISMATCH,
                2,
                by_rank(call.format(root), call.format(1 - root)),
                by_all(call.format(root)),
                ALSO,
            )


REDUCING = {
    "reduce": "comm.reduce(rank, op=MPI.{0})",
    "allreduce": "comm.allreduce(rank, op=MPI.{0})",
    "scan": "comm.scan(rank, op=MPI.{0})",
    "exscan": "comm.exscan(rank, op=MPI.{0})",
    "Reduce": "comm.Reduce(array('i', [1]), array('i', [0]), op=MPI.{0})",
    "Allreduce": "comm.Allreduce(array('i', [1]), array('i', [0]), op=MPI.{0})",
    "Scan": "comm.Scan(array('i', [1]), array('i', [0]), op=MPI.{0})",
    "ireduce": "comm.ireduce(rank, op=MPI.{0}).wait()",
    "iallreduce": "comm.iallreduce(rank, op=MPI.{0}).wait()",
}


def operations():
    for name, call in REDUCING.items():
        yield Case(
            f"operation-{name}",
            "operator-matching",
            MISMATCH,
            2,
            by_rank(call.format("SUM"), call.format("MAX")),
            by_all(call.format("MAX")),
            ALSO,
        )


def cases():
    for make in (kinds, orders, missing, with_messages, blocking_or_not, roots, operations):
        yield from make()
