"""Messages that do not meet: wrong order, missing calls, wrong ranks, tags and communicators."""

from mpi.cases.build import (
    BUFFER_SENDS,
    OBJECT_SENDS,
    PAIRS,
    Case,
    by_all,
    by_rank,
    recv,
    send,
)

CALLS = "call-matching"
BOTH = ("deadlock", "unmatched")


def crossings():
    """Both ranks receive first."""
    for s, r in PAIRS:
        get, put = recv(r, 1), send(s, 1)
        yield Case(
            f"crossing-{s}-{r}",
            CALLS,
            "deadlock",
            2,
            by_rank([get, put], [recv(r, 0), send(s, 0)]),
            by_rank([get, put], [send(s, 0), recv(r, 0)]),
        )


def missing_sends():
    for _, r in PAIRS[:4] + PAIRS[-2:]:
        s = "send" if r.islower() else "Send"
        yield Case(
            f"missing-send-{r}",
            CALLS,
            "deadlock",
            2,
            by_rank("x = 1", recv(r, 0)),
            by_rank(send(s, 1), recv(r, 0)),
        )


def missing_receives():
    for s in (*OBJECT_SENDS, *BUFFER_SENDS):
        r = "recv" if s in OBJECT_SENDS else "Recv"
        kind = "deadlock" if "ss" in s.lower() else "unmatched"
        yield Case(
            f"missing-receive-{s}",
            CALLS,
            kind,
            2,
            by_rank(send(s, 1), "x = 1"),
            by_rank(send(s, 1), recv(r, 0)),
            BOTH,
        )


def wrong_ranks():
    for s, r in [("send", "recv"), ("isend", "irecv"), ("Send", "Recv"), ("Isend", "Irecv")]:
        yield Case(
            f"wrong-receiver-{s}-{r}",
            CALLS,
            "deadlock",
            3,
            by_rank(send(s, 2), recv(r, 0), "x = 1"),
            by_rank(send(s, 1), recv(r, 0), "x = 1"),
            BOTH,
        )
        yield Case(
            f"wrong-sender-{s}-{r}",
            CALLS,
            "deadlock",
            3,
            by_rank(send(s, 1), recv(r, 2), "x = 1"),
            by_rank(send(s, 1), recv(r, 0), "x = 1"),
            BOTH,
        )


def loops():
    for s, r in [("send", "recv"), ("Send", "Recv"), ("bsend", "irecv")]:
        for sent, kind in [(1, "deadlock"), (3, "unmatched")]:
            yield Case(
                f"loop-{sent}-of-2-{s}-{r}",
                CALLS,
                kind,
                2,
                by_rank(_repeat(sent, send(s, 1)), _repeat(2, recv(r, 0))),
                by_rank(_repeat(2, send(s, 1)), _repeat(2, recv(r, 0))),
                BOTH,
            )


def _repeat(times, body):
    return f"for _ in range({times}):\n    " + body.replace("\n", "\n    ")


def rings():
    right, left = "(rank + 1) % size", "(rank - 1) % size"
    swap = f"got = comm.sendrecv(rank, dest={right}, source={left})"
    box = f"box = array('i', [0])\ncomm.Sendrecv(array('i', [rank]), {right}, 0, box, {left})"
    for name, ring in [("sendrecv", swap), ("Sendrecv", box)]:
        yield Case(
            f"ring-without-one-{name}",
            CALLS,
            "deadlock",
            3,
            by_rank(ring, ring, "x = 1"),
            by_all(ring),
            BOTH,
        )
    yield Case(
        "ring-of-receives",
        CALLS,
        "deadlock",
        3,
        by_all(f"got = comm.recv(source={left})", f"comm.send(rank, dest={right})"),
        by_all(f"req = comm.irecv(source={left})", f"comm.send(rank, dest={right})", "req.wait()"),
    )


def tags():
    pairs = [("send", "recv"), ("ssend", "irecv"), ("isend", "mprobe"), ("bsend", "probe")]
    for s, r in [*pairs, ("Send", "Recv"), ("Isend", "Irecv"), ("Ssend", "Recv")]:
        yield Case(
            f"tag-{s}-{r}",
            "tag-matching",
            "deadlock",
            2,
            by_rank(send(s, 1, t=3), recv(r, 0, t=4)),
            by_rank(send(s, 1, t=3), recv(r, 0, t=3)),
            BOTH,
        )
    yield Case(
        "tags-in-the-other-order",
        "tag-matching",
        "deadlock",
        2,
        by_rank(
            [send("ssend", 1, t=1), send("ssend", 1, t=2)], [recv("recv", 0, 2), recv("recv", 0, 1)]
        ),
        by_rank(
            [send("ssend", 1, t=1), send("ssend", 1, t=2)], [recv("recv", 0, 1), recv("recv", 0, 2)]
        ),
    )


def communicators():
    for s, r in [("send", "recv"), ("isend", "irecv"), ("Send", "Recv"), ("bsend", "mprobe")]:
        other = recv(r, 0).replace("comm.", "other.")
        make, free = "other = comm.Dup()", "other.Free()"
        yield Case(
            f"communicator-{s}-{r}",
            "communicator-matching",
            "deadlock",
            2,
            by_rank([make, send(s, 1), free], [make, other, free]),
            by_rank(
                [make, send(s, 1).replace("comm.", "other."), free],
                [make, other, free],
            ),
            BOTH,
        )
    calls = ["barrier()", "bcast(1)", "allreduce(1)", "gather(1)", "Barrier()", "alltoall([1, 2])"]
    for call in calls:
        make, free = "other = comm.Dup()", "other.Free()"
        yield Case(
            f"communicator-{call.split('(')[0]}",
            "communicator-matching",
            "deadlock",
            2,
            by_rank([make, f"comm.{call}", free], [make, f"other.{call}", free]),
            by_rank([make, f"other.{call}", free], [make, f"other.{call}", free]),
            ("unmatched",),
        )


def cases():
    for make in (crossings, missing_sends, missing_receives, wrong_ranks, loops, rings, tags):
        yield from make()
    yield from communicators()
