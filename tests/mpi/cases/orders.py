"""Faults that only some orders of messages show: races, buffering hazards, hazards of input."""

from mpi.cases.build import Case, by_all, by_rank

ANY = "source=MPI.ANY_SOURCE"
DEADLOCK = ("deadlock", "unmatched")


def race(name, receiver, mended, *senders, also=()):
    return Case(
        f"race-{name}",
        "message-race",
        "message-race",
        1 + len(senders),
        by_rank(receiver, *senders),
        by_rank(mended, *senders),
        also,
    )


def races():
    ones = ["comm.send(1, dest=0)", "comm.send(2, dest=0)"]
    first = f"assert comm.recv({ANY}) == 1\ncomm.recv({ANY})"
    yield race("first", first, "assert comm.recv(source=1) == 1\ncomm.recv(source=2)", *ones)
    summed = f"assert comm.recv({ANY}) + comm.recv({ANY}) == 3"
    yield race("first-of-sum", first.replace("== 1", "< 2"), summed, *ones)
    status = f"s = MPI.Status()\ncomm.recv({ANY}, status=s)\nassert s.Get_source() == {{}}"
    rest = f"\ncomm.recv({ANY})"
    yield race("status", status.format(2) + rest, status.format("s.source") + rest, *ones)
    posted = f"r = comm.irecv({ANY})\nassert r.wait() == 1\ncomm.recv({ANY})"
    fixed = "r = comm.irecv(source=1)\nassert r.wait() == 1\ncomm.recv(source=2)"
    yield race("irecv", posted, fixed, *ones)
    boxes = ["comm.Send(array('i', [1]), dest=0)", "comm.Send(array('i', [2]), dest=0)"]
    box = "box = array('i', [0])\n"
    into = box + f"comm.Recv(box, {ANY})\nassert box[0] == {{}}\ncomm.Recv(box, {ANY})"
    yield race("Recv", into.format(1), into.format("box[0]"), *boxes)
    probed = f"s = MPI.Status()\ncomm.probe({ANY}, status=s)\nx = comm.recv({{}})\n"
    probed += "comm.recv(source=MPI.ANY_SOURCE)\nassert x == s.source"
    yield race("probe", probed.format("source=1"), probed.format("source=s.source"), *ones)
    matched = f"m = comm.mprobe({ANY})\nassert m.recv() {{}}\ncomm.recv({ANY})"
    yield race("mprobe", matched.format("== 2"), matched.format("in (1, 2)"), *ones)
    taken = f"comm.recv({ANY})\ncomm.recv(source={{}})"
    yield race("left-over", taken.format(2), taken.format("MPI.ANY_SOURCE"), *ones, also=DEADLOCK)
    tagged = ["comm.send(1, dest=0, tag=1)", "comm.send(2, dest=0, tag=2)"]
    by_tag = f"comm.recv({ANY}, tag=MPI.ANY_TAG)\ncomm.recv({ANY}, tag={{}})"
    yield race("tag", by_tag.format(1), by_tag.format("MPI.ANY_TAG"), *tagged, also=DEADLOCK)
    gathered = f"got = [comm.recv({ANY}) for _ in range(2)]\nassert {{}} == [1, 2]"
    yield race("list", gathered.format("got"), gathered.format("sorted(got)"), *ones)
    last = f"for _ in range(2):\n    got = comm.recv({ANY})\nassert got {{}}"
    yield race("last", last.format("== 2"), last.format("in (1, 2)"), *ones)
    answered = f"s = MPI.Status()\nfor _ in range(2):\n    comm.recv({ANY}, status=s)\n"
    answered += "    comm.send(0, dest={})"
    asks = "comm.send(1, dest=0)\ncomm.recv(source=0)"
    order = "for n in (1, 2):\n    comm.recv(source=MPI.ANY_SOURCE)\n    comm.send(0, dest=n)"
    yield Case(
        "race-answers",
        "message-race",
        "message-race",
        3,
        by_rank(order, "comm.ssend(1, dest=0)\ncomm.recv(source=0)", asks),
        by_rank(answered.format("s.source"), asks, asks),
        DEADLOCK,
    )


def hazards():
    label = kind = "buffer-hazard"
    other = "other = 1 - rank"
    pairs = {
        "send": ("comm.send(1, dest=other)", "comm.recv(source=other)"),
        "Send": ("comm.Send(array('i', [1]), dest=other)", "comm.Recv(array('i', [0]), other)"),
        "isend": ("comm.isend(1, dest=other).wait()", "comm.recv(source=other)"),
        "Isend": (
            "out = array('i', [1])\ncomm.Isend(out, dest=other).Wait()",
            "comm.Recv(array('i', [0]), other)",
        ),
        "rsend": ("comm.rsend(1, dest=other)", "comm.recv(source=other)"),
        "barrier": ("comm.send(1, dest=other)\ncomm.barrier()", "comm.recv(source=other)"),
    }
    for name, (put, get) in pairs.items():
        early = get.replace("recv(", "irecv(").replace("Recv(", "Irecv(")
        yield Case(
            f"hazard-{name}",
            label,
            kind,
            2,
            by_all(other, put, get),
            by_all(other, f"request = {early}", put, "request.wait()"),
        )


def hazards_of_many():
    label = kind = "buffer-hazard"
    for ranks in (3, 4):
        ring = ["comm.send(rank, dest=(rank + 1) % size)", "comm.recv(source=(rank - 1) % size)"]
        swap = "comm.sendrecv(rank, dest=(rank + 1) % size, source=(rank - 1) % size)"
        yield Case(f"hazard-ring-{ranks}", label, kind, ranks, by_all(ring), by_all(swap))
    early = "comm.send(1, dest=1)\ncomm.barrier()"
    yield Case(
        "hazard-before-barrier",
        label,
        kind,
        2,
        by_rank(early, "comm.barrier()\ncomm.recv(source=0)"),
        by_rank(early, "comm.recv(source=0)\ncomm.barrier()"),
    )
    early = "comm.Send(array('i', [1]), dest=1)\ncomm.allreduce(1)"
    yield Case(
        "hazard-before-allreduce",
        label,
        kind,
        2,
        by_rank(early, "comm.allreduce(1)\ncomm.Recv(array('i', [0]), source=0)"),
        by_rank(early, "comm.Recv(array('i', [0]), source=0)\ncomm.allreduce(1)"),
    )
    yield Case(
        "hazard-two-tags",
        label,
        kind,
        2,
        by_rank("comm.send(1, 1, tag=1)\ncomm.send(2, 1, tag=2)", _tags(2, 1)),
        by_rank("comm.send(1, 1, tag=1)\ncomm.send(2, 1, tag=2)", _tags(1, 2)),
    )
    yield Case(
        "hazard-reduce-first",
        label,
        kind,
        2,
        by_rank("comm.recv(source=1)\ncomm.reduce(1)", "comm.reduce(1)\ncomm.send(1, dest=0)"),
        by_rank("comm.recv(source=1)\ncomm.reduce(1)", "comm.send(1, dest=0)\ncomm.reduce(1)"),
    )


def _tags(one, two):
    return f"comm.recv(source=0, tag={one})\ncomm.recv(source=0, tag={two})"


def inputs():
    """What a rank does next depends on what it is told."""
    label = "input-hazard"
    told = "n = comm.bcast({} if rank == 0 else None)"
    calls = {
        "branch": "if n > rank:\n    comm.barrier()",
        "loop": "for _ in range(min(n, rank + 1)):\n    comm.allreduce(1)",
        "receive": "if rank == 1 and n > 1:\n    comm.recv(source=0)",
        "wrong-kind": "comm.gather(1) if n == 1 and rank else comm.allgather(1)",
    }
    right = {"branch": 2, "loop": 1, "receive": 1, "wrong-kind": 2}
    wrong = {"branch": 1, "loop": 2, "receive": 2, "wrong-kind": 1}
    kinds = {"wrong-kind": "collective-mismatch"}
    for name, call in calls.items():
        yield Case(
            f"input-{name}",
            label,
            kinds.get(name, "deadlock"),
            2,
            by_all(told.format(wrong[name]), call),
            by_all(told.format(right[name]), call),
            DEADLOCK,
        )


def more_inputs():
    label = "input-hazard"
    sends = "for n in range({}):\n    comm.send(n, dest=1)\ncomm.send(None, dest=1)"
    reads = "while comm.recv(source=0) is not None:\n    pass"
    faulty = reads.replace(" is not None", "")
    yield Case(
        "input-end-of-data",
        label,
        "unmatched",
        2,
        by_rank(sends.format(2), faulty),
        by_rank(sends.format(2), reads),
        DEADLOCK,
    )
    where = "to = comm.recv(source=0)\ncomm.send(1, dest=to)"
    yield Case(
        "input-rank",
        label,
        "invalid-argument",
        2,
        by_rank("comm.send(2, dest=1)\ncomm.recv(source=1)", where),
        by_rank("comm.send(0, dest=1)\ncomm.recv(source=1)", where),
    )
    sized = "n = comm.recv(source=0)\nbox = array('i', [0] * n)\ncomm.Recv(box, source=0)"
    yield Case(
        "input-size",
        label,
        "count-mismatch",
        2,
        by_rank("comm.send(1, dest=1)\ncomm.Send(array('i', [1, 2]), dest=1)", sized),
        by_rank("comm.send(2, dest=1)\ncomm.Send(array('i', [1, 2]), dest=1)", sized),
        DEADLOCK,
    )


def cases():
    for make in (races, hazards, hazards_of_many, inputs, more_inputs):
        yield from make()
