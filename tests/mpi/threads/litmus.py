"""How litmus tests of threads inside ranks are written.

Clauses are those of MPI 4.1, or name the part of Python's library.
"""

from mpi.litmus.build import HEAD, Litmus, indented

START = """\
import threading
import time
from queue import Queue, Empty
from threading import Thread

out = []


def run(*bodies):
    threads = [Thread(target=body) for body in bodies]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


"""
RAISES, STUCK = "no_exception", "no_deadlock"
PING = "comm.send(1, 0)"
MULTIPLE = "11.6.2 THREAD_MULTIPLE: any thread may call MPI at any time"
BLOCKING = "11.6.1 a blocking call blocks its own thread only"
CONCURRENT = "3.5 Order: sends of two threads are logically concurrent"
ORDERED = "3.5 Order: operations that the semantics of threads order are ordered"
LEVEL = "11.6.2 MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED"
PYTHON = "threading: locks, events and queues"


def of_ranks(name, clause, *bodies, breaks="", before=""):
    parts = [f"if rank == {at}:\n{indented(body)}" for at, body in enumerate(bodies)]
    return Litmus(name, clause, len(bodies), before + HEAD + START + "".join(parts), breaks)
