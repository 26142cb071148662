"""Random scripts whose ranks have threads, for the enumerator and for mpi4py."""

from math import factorial
from random import Random

ANY = -1
ORDERS_MAX = 30
HEAD = """\
import queue
import threading

from mpi4py import MPI

comm = MPI.COMM_WORLD
log, status = [], [MPI.Status() for _ in range(9)]
locks = [threading.Lock() for _ in range(2)]
events = [threading.Event() for _ in range(2)]
values = queue.Queue()


def receive(at, source, tag):
    comm.recv(source=source, tag=tag, status=status[at])
    log.append((at, (status[at].source, status[at].tag)))


"""
TAIL = """\
threads = [threading.Thread(target=body) for body in bodies[1:]]
for each in threads:
    each.start()
bodies[0]()
for each in threads:
    each.join()
raise type(repr(log), (Exception,), {})  # failures differ by their classes
"""


def small_scripts(count):
    """So many, in whose ranks few things may happen in any order."""
    seeds = (seed for seed in range(10_000) if orders(random_script(seed)) <= ORDERS_MAX)
    return [seed for seed, _ in zip(seeds, range(count), strict=False)]


def orders(script):
    """In how many orders the statements of threads can be, of all ranks."""
    product = 1
    for rank in script:
        posts = [sum(what[0] in ("send", "recv") for what in body) for body in rank]
        sizes = [2 * more + len(body) + 1 for more, body in zip(posts, rank, strict=True)]
        product *= factorial(sum(sizes))
        for size in sizes:
            product //= factorial(size)
    return product


def random_script(seed):
    """Statements for each thread of each rank."""
    random = Random(seed)
    ranks = random.choice((1, 2, 2, 2))
    script = [[[] for _ in range(random.choice((1, 2, 2)))] for _ in range(ranks)]
    for _ in range(random.randint(1, 2) if ranks > 1 else 0):
        source, dest = random.sample(range(ranks), 2)
        tag = random.choice((0, 0, 1))
        insert(random, script[source], ("send", dest, tag))
        insert(random, script[dest], ("recv", random.choice((ANY, source)), tag))
    for rank in script:
        if random.random() < 0.5:
            lock = random.randrange(2)
            body = random.choice(rank)
            at = random.randint(0, len(body))
            to = random.randint(at, min(at + 1, len(body)))
            body.insert(to, ("unlock", lock))
            body.insert(at, ("lock", lock))
        if random.random() < 0.4:
            insert(random, rank, ("set", 0))
            insert(random, rank, ("wait", 0))
        if random.random() < 0.3:
            insert(random, rank, ("put", 7))
            insert(random, rank, ("get",))
    return tuple(tuple(tuple(body) for body in rank) for rank in script)


def insert(random, threads, what):
    body = random.choice(threads)
    body.insert(random.randint(0, len(body)), what)


def text_of(script):
    """The script as a file for mpi4py."""
    text = HEAD
    for rank, threads in enumerate(script):
        text += f"if comm.rank == {rank}:\n"
        for at, body in enumerate(threads):
            lines = [line(at, *what) for what in body] or ["pass"]
            text += f"    def body{at}():\n" + "".join(f"        {each}\n" for each in lines)
        text += f"    bodies = [{', '.join(f'body{at}' for at in range(len(threads)))}]\n"
    return text + TAIL


def line(at, kind, *args):
    return {
        "send": "comm.send(0, dest={}, tag={})",
        "recv": f"receive({at}, {{}}, {{}})",
        "lock": "locks[{}].acquire()",
        "unlock": "locks[{}].release()",
        "set": "events[{}].set()",
        "wait": f"events[{{}}].wait(); log.append(({at}, 'set'))",
        "put": "values.put({})",
        "get": f"log.append(({at}, values.get()))",
    }[kind].format(*args)
