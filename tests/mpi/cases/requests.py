"""Requests and handles that are left open, and buffers that are touched while they are in use."""

from mpi.cases.build import Case, by_all, by_rank

POSTS = {
    "isend": ("comm.isend(1, dest=1)", "comm.recv(source=0)"),
    "issend": ("comm.issend(1, dest=1)", "comm.recv(source=0)"),
    "ibsend": ("comm.ibsend(1, dest=1)", "comm.recv(source=0)"),
    "irecv": ("comm.irecv(source=1)", "comm.send(1, dest=0)"),
    "Isend": ("comm.Isend(array('i', [1]), dest=1)", "comm.Recv(array('i', [0]), source=0)"),
    "Irecv": ("comm.Irecv(array('i', [0]), source=1)", "comm.Send(array('i', [1]), dest=0)"),
}
TOGETHER = {
    "ibarrier": "comm.ibarrier()",
    "ibcast": "comm.ibcast(1, root=0)",
    "iallreduce": "comm.iallreduce(1)",
    "Ibcast": "comm.Ibcast(array('i', [1]), root=0)",
    "Iallgather": "comm.Iallgather(array('i', [1]), array('i', [0, 0]))",
}


def missing_waits():
    label, kind = "missing-wait", "leaked-request"
    for name, (post, other) in POSTS.items():
        yield Case(
            f"no-wait-{name}",
            label,
            kind,
            2,
            by_rank(f"request = {post}", other),
            by_rank([f"request = {post}", "request.wait()"], other),
            ("unmatched", "deadlock"),
        )
    for name, call in TOGETHER.items():
        yield Case(
            f"no-wait-{name}",
            label,
            kind,
            2,
            by_all(f"request = {call}"),
            by_all(f"request = {call}", "request.Wait()"),
        )
    yield Case(
        "waits-for-one-of-two",
        label,
        kind,
        2,
        by_rank(
            ["requests = [comm.irecv(source=1, tag=t) for t in (0, 1)]", "requests[1].wait()"],
            ["comm.send(1, dest=0, tag=0)", "comm.send(2, dest=0, tag=1)"],
        ),
        by_rank(
            [
                "requests = [comm.irecv(source=1, tag=t) for t in (0, 1)]",
                "MPI.Request.waitall(requests)",
            ],
            ["comm.send(1, dest=0, tag=0)", "comm.send(2, dest=0, tag=1)"],
        ),
        ("deadlock",),
    )


PERSISTENT = {
    "Send_init": (
        "out = array('i', [5])\nrequest = comm.Send_init(out, dest=1)",
        "comm.Recv(array('i', [0]), source=0)",
    ),
    "Ssend_init": (
        "out = array('i', [5])\nrequest = comm.Ssend_init(out, dest=1)",
        "comm.Recv(array('i', [0]), source=0)",
    ),
    "Recv_init": (
        "box = array('i', [0])\nrequest = comm.Recv_init(box, source=1)",
        "comm.Send(array('i', [1]), dest=0)",
    ),
}


def persistent():
    for name, (make, other) in PERSISTENT.items():
        full = [make, "request.Start()", "request.Wait()", "request.Free()"]
        correct = by_rank(full, other)
        faults = [
            ("missing-start", "missing-start", full[:1], "x = 1", ()),
            ("missing-start", "leaked-request", full[:3], other, ()),
            ("missing-wait", "missing-wait", full[:2], other, ("deadlock", "unmatched")),
            ("missing-wait", "missing-wait", [*full[:2], *full[1:]], [other, other], ("deadlock",)),
        ]
        for number, (label, kind, body, rest, also) in enumerate(faults):
            label = "request-leak" if kind == "leaked-request" else label
            faulty = by_rank(body, rest)
            yield Case(f"persistent-{name}-{number}", label, kind, 2, faulty, correct, also)


LEAKS = {
    "Dup": "handle = comm.Dup()",
    "dup": "handle = comm.dup()",
    "Split": "handle = comm.Split(0, rank)",
    "Split-by-rank": "handle = comm.Split(rank, 0)",
    "Create": "group = comm.Get_group()\nhandle = comm.Create(group)\ngroup.Free()",
    "Create_group": "group = comm.Get_group()\nhandle = comm.Create_group(group)\ngroup.Free()",
    "Create_cart": "handle = comm.Create_cart([size])",
    "Get_group": "handle = comm.Get_group()",
    "Incl": "group = comm.Get_group()\nhandle = group.Incl([0])\ngroup.Free()",
    "Union": "g = comm.Get_group()\nhandle = MPI.Group.Union(g, g)\ng.Free()",
    "Op": "handle = MPI.Op.Create(lambda a, b, t: None)",
    "contiguous": "handle = MPI.INT.Create_contiguous(2)\nhandle.Commit()",
    "vector": "handle = MPI.DOUBLE.Create_vector(2, 1, 3).Commit()",
}


def leaks():
    for name, make in LEAKS.items():
        yield Case(
            f"leak-{name}",
            "leak",
            "leak",
            2,
            by_all(make),
            by_all(make, "handle.Free()"),
        )
    yield Case(
        "leak-of-one-of-two",
        "leak",
        "leak",
        2,
        by_all("for n in range(2):\n    handle = comm.Dup()", "handle.Free()"),
        by_all("for n in range(2):\n    handle = comm.Dup()\n    handle.Free()"),
    )


OUT = "data = array('i', [1, 2])"
HAZARDS = {
    "Isend": (OUT, "comm.Isend(data, dest=1)", "comm.Recv(array('i', [0, 0]), source=0)"),
    "Issend": (OUT, "comm.Issend(data, dest=1)", "comm.Recv(array('i', [0, 0]), source=0)"),
    "Irecv": (OUT, "comm.Irecv(data, source=1)", "comm.Send(array('i', [7, 7]), dest=0)"),
    "bytes-Isend": (
        "data = bytearray(b'ab')",
        "comm.Isend(data, dest=1)",
        "comm.Recv(bytearray(2), source=0)",
    ),
    "Ibcast": (OUT, "comm.Ibcast(data, root=0)", "comm.Ibcast(array('i', [0, 0]), root=0).Wait()"),
    "Igather": (
        OUT,
        "comm.Igather(data, array('i', [0] * 4), root=0)",
        "comm.Igather(array('i', [3, 4]), None, root=0).Wait()",
    ),
}


def touching():
    label = kind = "local-concurrency"
    for name, (make, post, other) in HAZARDS.items():
        yield Case(
            f"changed-{name}",
            label,
            kind,
            2,
            by_rank([make, f"request = {post}", "data[0] = 9", "request.Wait()"], other),
            by_rank([make, f"request = {post}", "request.Wait()", "data[0] = 9"], other),
            ("deadlock",),
        )
    box = "box = array('i', [0])"
    sends = ["comm.Send(array('i', [1]), dest=0)"] * 2
    pairs = {
        "Irecv-Irecv": ("comm.Irecv(box, source=1)", "comm.Irecv(box, source=1)", sends),
        "Irecv-Recv": ("comm.Irecv(box, source=1)", "comm.Recv(box, source=1)", sends),
        "Irecv-Send": (
            "comm.Irecv(box, source=1)",
            "comm.Isend(box, dest=1)",
            [sends[0], "comm.Recv(array('i', [0]), source=0)"],
        ),
        "Isend-Recv": (
            "comm.Isend(box, dest=1)",
            "comm.Recv(box, source=1)",
            ["comm.Recv(array('i', [0]), source=0)", sends[0]],
        ),
    }
    for name, (first, second, other) in pairs.items():
        wait = "" if "Recv(" in second and "Irecv" not in second else "two.Wait()"
        apart = second.replace("box", "other")
        yield Case(
            f"shared-{name}",
            label,
            kind,
            2,
            by_rank([box, f"one = {first}", f"two = {second}", "one.Wait()", wait], other),
            by_rank(
                [box, "other = array('i', [0])", f"one = {first}", f"two = {apart}"]
                + ["one.Wait()", wait],
                other,
            ),
            ("deadlock",),
        )


def cases():
    for make in (missing_waits, persistent, leaks, touching):
        yield from make()
