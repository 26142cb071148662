"""Scripts that the standard allows to fail: each relies on what MPI does not promise."""

from mpi.litmus.build import Litmus, by_rank

ORDER = "3.5 Order: nothing is said of messages from different senders"
PROGRESS = "3.5 Progress: a test or probe may be told of a message late"
ROOM = "3.5 Resource limitations: a standard send may wait for its receive"
TESTS = "3.7.3 Communication completion: a test may say no while the operation goes on"
SEVERAL = "3.7.5 Multiple completions: an arbitrary one, or some, of those complete"
PROBES = "3.8.1 Probe: a receive that is not made with the source and tag found may get another"

RAISES, STUCK = "no_exception", "no_deadlock"
FIRST = "first = source()\nsource()\nassert first == 1"
CHAIN = ("comm.send(1, 0)\ncomm.send(1, 2)", "comm.recv(source=1)\ncomm.send(2, 0)")
HELLO = "comm.send(0, 0)"


def fails(name, clause, *bodies, breaks=RAISES, limit=None):
    return Litmus(name, clause, len(bodies), by_rank(*bodies), breaks, limit)


FAILS = (
    fails("a chain of sends", ORDER, FIRST, *CHAIN),
    fails(
        "a chain of isends",
        ORDER,
        FIRST,
        *(
            body.replace("comm.send(1, 0)", "r = comm.isend(1, 0)") + "\nr.wait()" * (at == 0)
            for at, body in enumerate(CHAIN)
        ),
    ),
    fails("a chain of bsends", ORDER, FIRST, *(body.replace("send", "bsend") for body in CHAIN)),
    fails(
        "a barrier between sends",
        ORDER,
        "comm.barrier()\n" + FIRST,
        "r = comm.isend(1, 0)\ncomm.barrier()\nr.wait()",
        "comm.barrier()\ncomm.send(2, 0)",
    ),
    fails(
        "a chain over three ranks",
        ORDER,
        FIRST,
        CHAIN[0],
        "comm.recv(source=1)\ncomm.send(2, 3)",
        "comm.recv(source=2)\ncomm.send(3, 0)",
    ),
    fails(
        "a synchronous send under way",
        ORDER,
        FIRST,
        "r = comm.issend(1, 0)\ncomm.send(1, 2)\nr.wait()",
        CHAIN[1],
    ),
    fails("two senders", ORDER, FIRST, HELLO, HELLO),
    fails(
        "two receives posted before",
        ORDER,
        """
        one, two = comm.irecv(source=ANY), comm.irecv(source=ANY)
        comm.barrier()
        assert (one.wait(), two.wait()) == (1, 2)
        """,
        "comm.barrier()\ncomm.send(1, 0)\ncomm.send(1, 2)",
        "comm.barrier()\ncomm.recv(source=1)\ncomm.send(2, 0)",
    ),
    fails(
        "statuses of waitall",
        ORDER,
        """
        statuses = [MPI.Status(), MPI.Status()]
        MPI.Request.waitall([comm.irecv(source=ANY), comm.irecv(source=ANY)], statuses)
        assert statuses[0].source == 1
        """,
        HELLO,
        HELLO,
    ),
    fails(
        "sendrecv from anyone",
        ORDER,
        """
        got = comm.sendrecv(0, dest=1, source=ANY)
        source()
        assert got == 1
        """,
        "comm.recv(source=0)\ncomm.send(1, 0)",
        "comm.send(2, 0)",
    ),
    fails(
        "a persistent receive from anyone",
        ORDER,
        """
        data = bytearray(1)
        r = comm.Recv_init([data, MPI.BYTE], ANY)
        got = []
        for _ in range(2):
            r.Start()
            r.Wait()
            got.append(data[0])
        r.Free()
        assert got == [1, 2]
        """,
        "comm.Send(b'\\x01', 0)\ncomm.send(1, 2)",
        "comm.recv(source=1)\ncomm.Send(b'\\x02', 0)",
    ),
    fails(
        "a matched probe of anyone",
        ORDER,
        """
        comm.mprobe(source=ANY, status=status).recv()
        first = status.source
        source()
        assert first == 1
        """,
        *CHAIN,
    ),
    fails(
        "an older message that waits",
        ORDER,
        """
        source(1, tag=9)
        comm.send(0, 2)
        first = source(tag=0)
        source(tag=0)
        assert first == 1
        """,
        "comm.send(1, 0, tag=0)\ncomm.send(1, 0, tag=9)",
        "comm.recv(source=0)\ncomm.send(2, 0)",
    ),
    fails(
        "nobody is served twice",
        "3.5 Fairness: none is promised",
        """
        both = {source(), source()}
        source()
        source()
        assert both == {1, 2}
        """,
        "comm.send(1, 0)\ncomm.send(1, 0)",
        "comm.send(2, 0)\ncomm.send(2, 0)",
    ),
    fails(
        "a probe of anyone, then a receive from anyone",
        PROBES,
        """
        comm.probe(source=ANY, status=status)
        seen = status.source
        got = source()
        source()
        assert got == seen
        """,
        HELLO,
        HELLO,
    ),
    fails(
        "a probe of types",
        PROBES,
        """
        for _ in range(2):
            comm.probe(source=ANY, status=status)
            if status.source == 1:
                comm.Recv([bytearray(4), MPI.INT], source=ANY)
            else:
                comm.Recv([bytearray(8), MPI.DOUBLE], source=ANY)
        """,
        "comm.Send([bytes(4), MPI.INT], 0)",
        "comm.Send([bytes(8), MPI.DOUBLE], 0)",
    ),
    fails(
        "iprobe once after a barrier",
        PROGRESS,
        "comm.barrier()\nfound = comm.iprobe(source=1)\ncomm.recv(source=1)\nassert found",
        "r = comm.isend(1, 0)\ncomm.barrier()\nr.wait()",
    ),
    fails(
        "improbe once after a barrier",
        PROGRESS,
        """
        comm.barrier()
        found = comm.improbe(source=1)
        (found or comm.mprobe(source=1)).recv()
        assert found is not None
        """,
        "r = comm.isend(1, 0)\ncomm.barrier()\nr.wait()",
    ),
    fails(
        "iprobe after a broadcast of the sender",
        PROGRESS,
        """
        comm.bcast(None, root=1)
        found = comm.iprobe(source=1)
        comm.recv(source=1)
        assert found
        """,
        "r = comm.isend(1, 0)\ncomm.bcast(1, root=1)\nr.wait()",
    ),
    fails(
        "iprobe on another communicator",
        PROGRESS,
        """
        other = comm.Dup()
        other.recv(source=1)
        found = comm.iprobe(source=1)
        comm.recv(source=1)
        other.Free()
        assert found
        """,
        "other = comm.Dup()\nr = comm.isend(1, 0)\nother.send(2, 0)\nr.wait()\nother.Free()",
    ),
    fails(
        "test once after a barrier",
        TESTS,
        "r = comm.irecv(source=1)\ncomm.barrier()\ndone = r.test()[0]\nr.wait()\nassert done",
        "r = comm.isend(1, 0)\ncomm.barrier()\nr.wait()",
    ),
    fails(
        "test after a synchronous send",
        TESTS,
        "r = comm.irecv(source=1)\ncomm.barrier()\ndone = r.test()[0]\nr.wait()\nassert done",
        "comm.ssend(1, 0)\ncomm.barrier()",
    ),
    fails(
        "get_status once",
        "3.7.6 Non-destructive test of status",
        """
        r = comm.irecv(source=1)
        comm.barrier()
        done = r.Get_status()
        r.wait()
        assert done
        """,
        "comm.ssend(1, 0)\ncomm.barrier()",
    ),
    fails(
        "a send is complete at once",
        TESTS,
        "r = comm.isend(1, 1)\ndone = r.test()[0]\nr.wait()\nassert done",
        "comm.recv(source=0)",
    ),
    fails(
        "a send whose receipt was told of",
        TESTS,
        """
        r = comm.isend(1, 1)
        comm.recv(source=1)
        done = r.test()[0]
        r.wait()
        assert done
        """,
        "comm.recv(source=0)\ncomm.send(1, 0)",
    ),
    fails(
        "the first of waitany",
        SEVERAL,
        """
        rs = [comm.irecv(source=1), comm.irecv(source=2)]
        first = MPI.Request.waitany(rs)[0]
        MPI.Request.waitall(rs)
        assert first == 0
        """,
        HELLO,
        HELLO,
    ),
    fails(
        "all of waitsome",
        SEVERAL,
        """
        rs = [comm.irecv(source=1), comm.irecv(source=1)]
        comm.barrier()
        some = MPI.Request.waitsome(rs)[0]
        MPI.Request.waitall(rs)
        assert len(some) == 2
        """,
        "comm.ssend(1, 0)\ncomm.ssend(1, 0)\ncomm.barrier()",
    ),
    fails(
        "testany after a barrier",
        SEVERAL,
        """
        rs = [comm.irecv(source=1)]
        comm.barrier()
        found = MPI.Request.testany(rs)[1]
        MPI.Request.waitall(rs)
        assert found
        """,
        "comm.ssend(1, 0)\ncomm.barrier()",
    ),
    fails(
        "testall after a barrier",
        SEVERAL,
        """
        rs = [comm.irecv(source=1), comm.irecv(source=1)]
        comm.barrier()
        done = MPI.Request.testall(rs)[0]
        MPI.Request.waitall(rs)
        assert done
        """,
        "comm.ssend(1, 0)\ncomm.ssend(1, 0)\ncomm.barrier()",
    ),
    fails(
        "testsome after a barrier",
        SEVERAL,
        """
        rs = [comm.irecv(source=1)]
        comm.barrier()
        some = MPI.Request.testsome(rs)[0]
        MPI.Request.waitall(rs)
        assert some
        """,
        "comm.ssend(1, 0)\ncomm.barrier()",
    ),
    fails(
        "both send first",
        ROOM,
        "comm.send(1, 1)\ncomm.recv(source=1)",
        "comm.send(1, 0)\ncomm.recv(source=0)",
        breaks=STUCK,
    ),
    fails(
        "a ring of sends",
        ROOM,
        *(f"comm.send(1, {(at + 1) % 3})\nsource()" for at in range(3)),
        breaks=STUCK,
    ),
    fails(
        "tags the other way round",
        ROOM,
        "comm.send(1, 1, tag=1)\ncomm.send(1, 1, tag=2)",
        "source(0, tag=2)\nsource(0, tag=1)",
        breaks=STUCK,
    ),
    fails(
        "a wait for an isend before the receive",
        ROOM,
        "comm.isend(1, 1).wait()\ncomm.recv(source=1)",
        "comm.isend(1, 0).wait()\ncomm.recv(source=0)",
        breaks=STUCK,
    ),
    fails(
        "one send has room, the other has none",
        ROOM,
        """
        if source() == 1:
            source(2)
            source(3)
        else:
            source(3)
            source(1)
        """,
        "comm.send(1, 0)\ncomm.send(1, 3)",
        "comm.send(2, 3)\ncomm.send(2, 0)",
        "source(1)\nsource(2)\ncomm.send(3, 0)",
        breaks=STUCK,
    ),
    fails(
        "small sends have room, large ones have none",
        ROOM,
        "comm.Send(bytes(8), 1)\ncomm.Recv(bytearray(2000), 1)",
        "comm.Send(bytes(2000), 0)\ncomm.Recv(bytearray(8), 0)",
        breaks=STUCK,
        limit=64,
    ),
)
