"""Scripts with threads that always end well."""

from mpi.threads.litmus import (
    BLOCKING,
    LEVEL,
    MULTIPLE,
    ORDERED,
    PING,
    PYTHON,
    of_ranks,
)

HOLDS = (
    of_ranks(
        "a thread receives while another waits",
        BLOCKING,
        """
        def echo():
            comm.send(comm.recv(source=1, tag=1), 1, tag=1)
        def wait():
            assert comm.recv(source=1, tag=2) == 5
        run(wait, echo)
        """,
        "comm.send(5, 0, tag=1)\ncomm.send(comm.recv(source=0, tag=1), 0, tag=2)",
    ),
    of_ranks(
        "sends that a join orders",
        ORDERED,
        "assert [comm.recv(source=1), comm.recv(source=1)] == [1, 2]",
        "run(lambda: comm.send(1, 0))\nrun(lambda: comm.send(2, 0))",
    ),
    of_ranks(
        "sends that an event orders",
        ORDERED,
        "assert [comm.recv(source=1), comm.recv(source=1)] == [1, 2]",
        """
        sent = threading.Event()
        def first():
            comm.send(1, 0)
            sent.set()
        def second():
            sent.wait()
            comm.send(2, 0)
        run(second, first)
        """,
    ),
    of_ranks(
        "threads that receive with tags of their own",
        MULTIPLE,
        """
        got = {}
        def receive(tag): got[tag] = comm.recv(source=1, tag=tag)
        run(lambda: receive(1), lambda: receive(2))
        assert got == {1: 1, 2: 2}
        """,
        "comm.send(2, 0, tag=2)\ncomm.send(1, 0, tag=1)",
    ),
    of_ranks(
        "a number under a lock",
        PYTHON,
        """
        count, lock = [0], threading.Lock()
        def work(other):
            comm.sendrecv(0, other, source=other)
            with lock:
                count[0] += 1
        run(lambda: work(1), lambda: work(2))
        assert count == [2]
        """,
        "comm.sendrecv(0, 0, source=0)",
        "comm.sendrecv(0, 0, source=0)",
    ),
    of_ranks(
        "a queue between threads",
        PYTHON,
        """
        queue = Queue(1)
        def put():
            for _ in range(2):
                queue.put(comm.recv(source=1))
        def get():
            out.append(queue.get())
            out.append(queue.get())
        run(put, get)
        assert out == [1, 2]
        """,
        "comm.send(1, 0)\ncomm.send(2, 0)",
    ),
    of_ranks(
        "a condition with a predicate",
        PYTHON,
        """
        ready = threading.Condition()
        def wait():
            with ready:
                ready.wait_for(lambda: out)
        def tell():
            with ready:
                out.append(comm.recv(source=1))
                ready.notify_all()
        run(wait, tell)
        """,
        PING,
    ),
    of_ranks(
        "a listener that gets a message to stop",
        MULTIPLE,
        """
        def listen():
            while comm.recv(source=1) != "stop":
                pass
        run(listen)
        """,
        "comm.send(1, 0)\ncomm.send('stop', 0)",
    ),
    of_ranks(
        "threads of a pool that send",
        "concurrent.futures",
        """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(lambda tag: comm.recv(source=1, tag=tag), (1, 2))) == [1, 2]
        """,
        "comm.send(1, 0, tag=1)\ncomm.send(2, 0, tag=2)",
    ),
    of_ranks(
        "names that each thread has to itself",
        "threading.local",
        """
        own = threading.local()
        def work(tag):
            own.tag = tag
            comm.recv(source=1, tag=tag)
            out.append(own.tag)
        run(lambda: work(1), lambda: work(2))
        assert sorted(out) == [1, 2] and not hasattr(own, "tag")
        """,
        "comm.send(1, 0, tag=1)\ncomm.send(2, 0, tag=2)",
    ),
    of_ranks(
        "a daemon that waits for ever",
        "threading.Thread: daemons end with their program",
        "Thread(target=threading.Event().wait, daemon=True).start()\ncomm.recv(source=1)",
        PING,
    ),
    of_ranks(
        "collective calls on communicators of their own",
        "6.14 Threads: not on the same communicator at once",
        """
        one, two = comm.Dup(), comm.Dup()
        run(lambda: out.append(one.allreduce(1)), lambda: out.append(two.allreduce(1)))
        assert out == [2, 2]
        one.Free()
        two.Free()
        """,
        "one, two = comm.Dup(), comm.Dup()\nassert two.allreduce(1) == one.allreduce(1) == 2\n"
        "one.Free()\ntwo.Free()",
    ),
    of_ranks(
        "a loop that sleeps until a variable changes",
        PYTHON,
        """
        Thread(target=lambda: out.append(comm.recv(source=1))).start()
        while not out:
            time.sleep(0.1)
        """,
        PING,
    ),
    of_ranks(
        "a heart that beats until it is stopped",
        PYTHON,
        """
        stop = threading.Event()
        def beat():
            while not stop.wait(0.5): pass
        heart = Thread(target=beat)
        heart.start()
        comm.recv(source=1)
        stop.set()
        heart.join()
        """,
        PING,
    ),
    of_ranks(
        "a loop of sleeps with an end, which the other rank waits for",
        PYTHON,
        """
        def work():
            for _ in range(40):
                time.sleep(0.1)
            comm.send(1, 1)
        run(work, lambda: comm.recv(source=1))
        """,
        "comm.recv(source=0)\ncomm.send(1, 0)",
    ),
    of_ranks(
        "what is promised is what was asked for",
        LEVEL,
        """
        assert MPI.Query_thread() == MPI.THREAD_MULTIPLE and MPI.Is_thread_main()
        run(lambda: out.append(MPI.Is_thread_main()))
        assert out == [False]
        """,
    ),
    of_ranks(
        "a loop of tests that another thread ends",
        "3.7.3 Communication completion",
        """
        done = threading.Event()
        def work():
            comm.recv(source=1, tag=1)
            done.set()
        thread = Thread(target=work)
        thread.start()
        while not done.is_set():
            comm.iprobe(source=1, tag=2)
        thread.join()
        """,
        "comm.send(1, 0, tag=1)",
    ),
    of_ranks(
        "calls one after another with THREAD_SERIALIZED",
        LEVEL,
        """
        lock = threading.Lock()
        def receive(tag):
            with lock:
                comm.recv(source=1, tag=tag)
        run(lambda: receive(0), lambda: receive(0))
        """,
        PING + "\n" + PING,
        before="import mpi4py\nmpi4py.rc.thread_level = 'serialized'\n",
    ),
)
