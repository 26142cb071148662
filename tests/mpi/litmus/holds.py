"""Scripts that the standard promises to go well, whatever it leaves open."""

from mpi.litmus.build import Litmus, by_rank

ORDER = "3.5 Order: messages are non-overtaking"
POSTED = "3.7.4 Order: receives match in the order of posting"
MODES = "3.4 Communication modes"
PROGRESS = "3.5 Progress: tests and probes that go on find the message"
TESTS = "3.7.3 Communication completion"
SEVERAL = "3.7.5 Multiple completions"
PROBES = "3.8.1 Probe: a receive with the source and tag found gets the message found"
MATCHED = "3.8.2 Matching probe"

TWO = "comm.send(1, 0)\ncomm.send(2, 0)"
HELLO = "comm.send(rank, 0)"


def holds(name, clause, *bodies):
    return Litmus(name, clause, len(bodies), by_rank(*bodies))


HOLDS = (
    holds("one sender", ORDER, "assert (comm.recv(source=1), comm.recv(source=1)) == (1, 2)", TWO),
    holds(
        "one sender, from anyone",
        ORDER,
        "assert (comm.recv(source=ANY), comm.recv(source=ANY)) == (1, 2)",
        TWO,
    ),
    holds(
        "one sender, several tags",
        ORDER,
        "assert (comm.recv(), comm.recv()) == (1, 2)",
        "comm.send(1, 0, tag=7)\ncomm.send(2, 0, tag=3)",
    ),
    holds(
        "isends of one sender",
        ORDER,
        "assert (comm.recv(), comm.recv()) == (1, 2)",
        "rs = [comm.isend(1, 0), comm.isend(2, 0)]\nMPI.Request.waitall(rs[::-1])",
    ),
    holds(
        "sends of several modes",
        ORDER,
        "assert [comm.recv() for _ in range(3)] == [1, 2, 3]",
        "r = comm.issend(1, 0)\ncomm.bsend(2, 0)\ncomm.send(3, 0)\nr.wait()",
    ),
    holds(
        "each sender keeps its order",
        ORDER,
        """
        got = {1: [], 2: []}
        for _ in range(4):
            value = comm.recv(source=ANY, status=status)
            got[status.source].append(value)
        assert got == {1: [1, 2], 2: [1, 2]}
        """,
        TWO,
        TWO,
    ),
    holds(
        "a tag is selected",
        ORDER,
        """
        assert comm.recv(source=1, tag=2) == 2
        assert comm.recv(source=1, tag=1) == 1
        """,
        "rs = [comm.isend(1, 0, tag=1), comm.isend(2, 0, tag=2)]\nMPI.Request.waitall(rs)",
    ),
    holds(
        "a message to oneself",
        ORDER,
        """
        rs = [comm.isend(1, 0), comm.isend(2, 0)]
        assert (comm.recv(source=0), comm.recv(source=ANY)) == (1, 2)
        MPI.Request.waitall(rs)
        """,
    ),
    holds(
        "receives in the order of posting",
        POSTED,
        "one, two = comm.irecv(source=1), comm.irecv(source=1)\n"
        "assert (two.wait(), one.wait()) == (2, 1)",
        TWO,
    ),
    holds(
        "the first posted from anyone",
        POSTED,
        "one, two = comm.irecv(source=ANY), comm.irecv(source=1)\n"
        "assert (two.wait(), one.wait()) == (2, 1)",
        TWO,
    ),
    holds(
        "posted before those of tags",
        POSTED,
        "one, two = comm.irecv(source=1), comm.irecv(source=1, tag=5)\n"
        "assert (one.wait(), two.wait()) == (1, 2)",
        "comm.send(1, 0, tag=5)\ncomm.send(2, 0, tag=5)",
    ),
    holds(
        "persistent receives",
        "3.9 Persistent requests match as if they were started anew",
        """
        data = bytearray(1)
        r = comm.Recv_init([data, MPI.BYTE], 1)
        got = []
        for _ in range(2):
            r.Start()
            r.Wait()
            got.append(data[0])
        r.Free()
        assert got == [1, 2]
        """,
        "comm.Send(b'\\x01', 0)\ncomm.Send(b'\\x02', 0)",
    ),
    holds(
        "all that was sent is received",
        "3.5 Progress: a matching pair completes",
        "assert sorted(comm.recv(source=ANY) for _ in range(3)) == [1, 2, 3]",
        HELLO,
        HELLO,
        HELLO,
    ),
    holds(
        "a loop of tests ends",
        PROGRESS,
        """
        r = comm.irecv(source=1)
        while not (done := r.test())[0]:
            pass
        assert done[1] == 1
        """,
        HELLO,
    ),
    holds(
        "a loop of probes ends",
        PROGRESS,
        "while not comm.iprobe(source=ANY):\n    pass\nassert comm.recv() == 1",
        HELLO,
    ),
    holds(
        "a loop of matched probes ends",
        PROGRESS,
        "while (found := comm.improbe()) is None:\n    pass\nassert found.recv() == 1",
        HELLO,
    ),
    holds(
        "a sender that tests ends",
        PROGRESS,
        "r = comm.issend(1, 1)\nwhile not r.Test():\n    pass",
        "comm.recv(source=0)",
    ),
    holds(
        "a loop of tests for a barrier ends",
        "6.12.1 Nonblocking barrier",
        *("r = comm.Ibarrier()\nwhile not r.Test():\n    pass" for _ in range(3)),
    ),
    holds(
        "a probe of one rank",
        PROBES,
        """
        comm.probe(source=1, status=status)
        assert comm.recv(source=1, tag=status.tag) == 1
        comm.recv(source=2)
        """,
        HELLO,
        HELLO,
    ),
    holds(
        "a receive of what was probed",
        PROBES,
        """
        for _ in range(2):
            comm.probe(source=ANY, status=status)
            seen = status.source
            assert comm.recv(source=seen, tag=status.tag) == seen
        """,
        HELLO,
        HELLO,
    ),
    holds(
        "a receive of the type that was probed",
        PROBES,
        """
        for _ in range(2):
            comm.Probe(source=ANY, status=status)
            kind = MPI.INT if status.source == 1 else MPI.DOUBLE
            comm.Recv([bytearray(8), kind], source=status.source)
        """,
        "comm.Send([bytes(4), MPI.INT], 0)",
        "comm.Send([bytes(8), MPI.DOUBLE], 0)",
    ),
    holds(
        "what was probed is still there",
        PROBES,
        "comm.probe(source=1)\nassert comm.iprobe(source=1)\ncomm.recv(source=1)",
        HELLO,
    ),
    holds(
        "what iprobe found is received",
        PROBES,
        """
        if comm.iprobe(source=ANY, status=status):
            assert comm.recv(source=status.source, tag=status.tag) == status.source
        else:
            source()
        source()
        """,
        HELLO,
        HELLO,
    ),
    holds(
        "what a matched probe found is received",
        MATCHED,
        """
        for _ in range(2):
            message = comm.mprobe(source=ANY, status=status)
            assert message.recv() == status.source
        """,
        HELLO,
        HELLO,
    ),
    holds(
        "waitall is complete",
        SEVERAL,
        """
        rs = [comm.irecv(source=1), comm.irecv(source=2)]
        assert MPI.Request.waitall(rs) == [1, 2]
        """,
        HELLO,
        HELLO,
    ),
    holds(
        "waitany drains",
        SEVERAL,
        """
        rs = [comm.irecv(source=1), comm.irecv(source=2), comm.irecv(source=2)]
        got = {}
        for _ in rs:
            at, value = MPI.Request.waitany(rs)
            got[at] = value
        assert got == {0: 1, 1: 1, 2: 2}
        """,
        "comm.send(1, 0)",
        TWO,
    ),
    holds(
        "waitsome drains",
        SEVERAL,
        """
        rs = [comm.irecv(source=1), comm.irecv(source=2)]
        got = []
        while (some := MPI.Request.waitsome(rs))[0] is not None:
            got += some[1]
        assert sorted(got) == [1, 2]
        """,
        HELLO,
        HELLO,
    ),
    holds(
        "testany that found one",
        SEVERAL,
        """
        rs = [comm.irecv(source=1), comm.irecv(source=2)]
        at, found, value = MPI.Request.testany(rs)
        assert not found or value == at + 1
        MPI.Request.waitall(rs)
        """,
        HELLO,
        HELLO,
    ),
    holds(
        "a request that was tested is null",
        TESTS,
        """
        r = comm.irecv(source=1)
        if r.test()[0]:
            assert not r
        r.wait()
        """,
        HELLO,
    ),
    holds(
        "complete once, complete for ever",
        "3.7.6 Non-destructive test of status",
        """
        r = comm.irecv(source=1)
        if r.Get_status():
            assert r.test() == (True, 1)
        r.wait()
        """,
        HELLO,
    ),
    holds(
        "both send without waiting",
        "3.7 Nonblocking communication",
        *(
            f"r = comm.isend(rank, {1 - at})\nassert comm.recv() == {1 - at}\nr.wait()"
            for at in range(2)
        ),
    ),
    holds(
        "both ask first",
        "3.7 Nonblocking communication",
        *(
            f"r = comm.irecv(source={at})\ncomm.send(rank, {at})\nassert r.wait() == {at}"
            for at in (1, 0)
        ),
    ),
    holds(
        "both send and receive",
        "3.10 Send-receive",
        *(
            f"assert comm.sendrecv(rank, {(at + 1) % 3}, source={(at - 1) % 3}) == {(at - 1) % 3}"
            for at in range(3)
        ),
    ),
    holds(
        "both send buffered",
        MODES,
        *(f"comm.bsend(rank, {1 - at})\nassert comm.recv() == {1 - at}" for at in range(2)),
    ),
    holds(
        "a synchronous send meets a posted receive",
        MODES,
        """
        r = comm.irecv(source=1)
        comm.recv(source=1, tag=9)
        assert r.wait() == 1
        """,
        "comm.ssend(1, 0)\ncomm.send(2, 0, tag=9)",
    ),
    holds(
        "nobody",
        "3.11 Null processes",
        """
        comm.send(1, MPI.PROC_NULL)
        comm.recv(source=MPI.PROC_NULL, status=status)
        assert status.source == MPI.PROC_NULL
        """,
    ),
    holds(
        "communicators are apart",
        "7.1.2 Communicators: messages of one are not seen by another",
        "other = comm.Dup()\nassert other.recv() == 2\nassert comm.recv() == 1\nother.Free()",
        "other = comm.Dup()\nr = comm.isend(1, 0)\nother.send(2, 0)\nr.wait()\nother.Free()",
    ),
    holds(
        "a receive without a message is cancelled",
        "3.8.4 Cancel",
        """
        r = comm.irecv(source=1)
        r.Cancel()
        r.Wait(status)
        assert status.Is_cancelled()
        """,
        "pass",
    ),
    holds(
        "a receive before a barrier",
        "6.3 Barrier synchronization",
        """
        assert comm.recv(source=1) == 1
        comm.barrier()
        assert not comm.iprobe(source=1)
        """,
        "comm.send(1, 0)\ncomm.barrier()",
    ),
)
