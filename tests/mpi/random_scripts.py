"""Random scripts of a few ranks: messages that mostly meet, in orders that not always work out."""

from random import Random
from textwrap import indent

from mpi.scripts import HEAD

SENDS = ("send", "send", "ssend", "bsend", "isend", "issend")
RECVS = ("recv", "recv", "irecv", "mprobe", "test", "probe")


def random_script(seed):
    """The text of a script, and how many ranks it is for."""
    random = Random(seed)
    ranks = random.choice((2, 2, 3))
    bodies = [[] for _ in range(ranks)]
    for number in range(random.randint(1, 4 if ranks == 2 else 3)):
        source, dest = random.sample(range(ranks), 2)
        tag = random.choice((0, 0, 1))
        insert(random, bodies[source], put(random, number, dest, tag))
        if random.random() < 0.95:
            insert(random, bodies[dest], get(random, source, tag))
    for call in random.sample(("comm.barrier()", "comm.bcast(1)", "comm.allreduce(2)"), 1):
        if random.random() < 0.3:
            for body in bodies:
                insert(random, body, call)
    text = HEAD + "requests, got = [], []\n"
    for rank, body in enumerate(bodies):
        text += f"if rank == {rank}:\n" + indent("\n".join(body) or "pass", "    ") + "\n"
    text += "got += MPI.Request.waitall(requests)\n"
    if random.random() < 0.4:
        text += f"assert [n for n in got if n is not None][:1] != [{random.randint(0, 3)}]\n"
    return text, ranks


def random_family(seed):
    """The same of a script that spawns itself, with messages between parents and children."""
    random = Random(seed)
    sizes = random.choice(((1, 1), (1, 2), (2, 1)))
    bodies = [[[] for _ in range(size)] for size in sizes]
    for number in range(random.randint(1, 3)):
        side, tag = random.randint(0, 1), random.choice((0, 0, 1))
        source, dest = random.randrange(sizes[side]), random.randrange(sizes[1 - side])
        insert(random, bodies[side][source], put(random, number, dest, tag))
        if random.random() < 0.95:
            insert(random, bodies[1 - side][dest], get(random, source, tag))
    root = "[MPI.ROOT, MPI.PROC_NULL][rank] if is_parent else 0"
    for call in ("comm.barrier()", "comm.allreduce(2)", f"comm.bcast(1, root={root})"):
        if random.random() < 0.2:
            for body in (*bodies[0], *bodies[1]):
                insert(random, body, call)
    text = HEAD + "requests, got, comm = [], [], MPI.Comm.Get_parent()\n"
    text += "is_parent = comm == MPI.COMM_NULL\nif is_parent:\n"
    text += f"    comm = MPI.COMM_WORLD.Spawn(__file__, maxprocs={sizes[1]})\n"
    for side, group in enumerate(bodies):
        for rank, body in enumerate(group):
            text += f"if rank == {rank} and is_parent == {side == 0}:\n"
            text += indent("\n".join(body) or "pass", "    ") + "\n"
    text += "got += MPI.Request.waitall(requests)\ncomm.Free()\n"
    if random.random() < 0.4:
        text += f"assert [n for n in got if n is not None][:1] != [{random.randint(0, 3)}]\n"
    return text, sizes[0]


def insert(random, body, call):
    body.insert(random.randint(0, len(body)), call)


def put(random, number, dest, tag):
    how = random.choice(SENDS)
    call = f"comm.{how}({number}, dest={dest}, tag={tag})"
    return f"requests.append({call})" if how.startswith("i") else call


def get(random, source, tag):
    given = f"source={random.choice((source, source, 'MPI.ANY_SOURCE'))}, "
    given += f"tag={random.choice((tag, 'MPI.ANY_TAG'))}"
    how = random.choice(RECVS)
    if how == "irecv":
        return f"requests.append(comm.irecv({given}))"
    if how == "test":
        return (
            f"r = comm.irecv({given})\ndone, value = r.test()\n"
            "got.append(value if done else r.wait())\nassert done or rank < 5"
        )
    if how == "probe":
        return f"if not comm.iprobe({given}):\n    got.append(7)\ngot.append(comm.recv({given}))"
    return f"got.append(comm.{how}({given}){'.recv()' if how == 'mprobe' else ''})"
