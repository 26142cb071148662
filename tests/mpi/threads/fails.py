"""Scripts with threads that may fail: each relies on what nobody promises."""

from mpi.threads.litmus import (
    BLOCKING,
    CONCURRENT,
    LEVEL,
    MULTIPLE,
    PING,
    PYTHON,
    RAISES,
    STUCK,
    of_ranks,
)

FAILS = (
    of_ranks(
        "who of two threads sends first",
        CONCURRENT,
        "assert [comm.recv(source=1), comm.recv(source=1)] == [1, 2]",
        "run(lambda: comm.send(1, 0), lambda: comm.send(2, 0))",
        breaks=RAISES,
    ),
    of_ranks(
        "which of two threads receives first",
        MULTIPLE,
        """
        got = {}
        def first(): got["first"] = comm.recv(source=1)
        def second(): got["second"] = comm.recv(source=1)
        run(first, second)
        assert got == {"first": 1, "second": 2}
        """,
        "comm.send(1, 0)\ncomm.send(2, 0)",
        breaks=RAISES,
    ),
    of_ranks(
        "a receive under a lock that the sender wants",
        BLOCKING,
        """
        lock = threading.Lock()
        def receive():
            with lock:
                comm.recv(source=1)
        def send():
            with lock:
                comm.send(1, 1)
        run(receive, send)
        """,
        "comm.recv(source=0)\ncomm.send(1, 0)",
        breaks=STUCK,
    ),
    of_ranks(
        "two locks in two orders",
        PYTHON,
        """
        one, two = threading.Lock(), threading.Lock()
        def left():
            with one, two: pass
        def right():
            with two, one: pass
        run(left, right)
        """,
        breaks=STUCK,
    ),
    of_ranks(
        "a number that is read before a message and written after it",
        MULTIPLE,
        """
        count = 0
        def work(other):
            global count
            known = count
            comm.sendrecv(0, other, source=other)
            count = known + 1
        run(lambda: work(1), lambda: work(2))
        assert count == 2
        """.replace("global count\n", "global count\n"),
        "comm.sendrecv(0, 0, source=0)",
        "comm.sendrecv(0, 0, source=0)",
        breaks=RAISES,
    ),
    of_ranks(
        "an event that is set before anybody knows",
        PYTHON,
        """
        ready = threading.Condition()
        def wait():
            with ready:
                ready.wait()
        def tell():
            with ready:
                ready.notify()
        run(wait, tell)
        """,
        breaks=STUCK,
    ),
    of_ranks(
        "a thread that nobody joins",
        PYTHON,
        """
        Thread(target=lambda: out.append(comm.recv(source=1))).start()
        assert out == [1]
        """,
        PING,
        breaks=RAISES,
    ),
    of_ranks(
        "an exception in a thread",
        "threading.excepthook",
        """
        def work():
            assert comm.recv(source=1) == 2
        run(work)
        """,
        PING,
        breaks=RAISES,
    ),
    of_ranks(
        "a queue that is looked into too early",
        PYTHON,
        """
        queue = Queue()
        def put(): queue.put(comm.recv(source=1))
        thread = Thread(target=put)
        thread.start()
        try:
            queue.get_nowait()
        finally:
            thread.join()
        """,
        PING,
        breaks=RAISES,
    ),
    of_ranks(
        "a call of another thread with THREAD_FUNNELED",
        LEVEL,
        "run(lambda: comm.recv(source=1))",
        PING,
        breaks=RAISES,
        before="import mpi4py\nmpi4py.rc.thread_level = 'funneled'\n",
    ),
    of_ranks(
        "two calls at once with THREAD_SERIALIZED",
        LEVEL,
        "run(lambda: comm.recv(source=1), lambda: comm.recv(source=1))",
        PING + "\n" + PING,
        breaks=RAISES,
        before="import mpi4py\nmpi4py.rc.thread_level = 'serialized'\n",
    ),
    of_ranks(
        "more tasks that wait for each other than threads of a pool",
        "concurrent.futures",
        """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(1) as pool:
            inner = lambda: 1
            assert pool.submit(lambda: pool.submit(inner).result()).result() == 1
        """,
        breaks=STUCK,
    ),
    of_ranks(
        "a message that a daemon has not received when its rank ends",
        "11.2.2 Finalize: all communication is complete by then",
        "Thread(target=lambda: comm.recv(source=1), daemon=True).start()",
        "comm.ssend(1, 0)",
        breaks=STUCK,
    ),
    of_ranks(
        "a loop that nobody ends",
        "3.7.3 Communication completion",
        """
        Thread(target=lambda: comm.recv(source=1)).start()
        while not threading.Event().is_set():
            time.sleep(0.1)
        """,
        "pass",
        breaks=STUCK,
    ),
    of_ranks(
        "a thread that the end of the rank waits for",
        PYTHON,
        "Thread(target=lambda: comm.recv(source=1)).start()",
        "pass",
        breaks=STUCK,
    ),
)
