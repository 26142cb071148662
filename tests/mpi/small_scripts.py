"""Random scripts for the oracle of deliveries, and the same scripts for mpi4py."""

from random import Random

ANY = -1
TEXT = """\
from mpi4py import MPI

comm = MPI.COMM_WORLD
log, open_, receives, status = [], {{}}, set(), MPI.Status()


def got():
    return status.source, status.tag


def returned(name):
    del open_[name]
    return got() if name in receives else "sent"


def post(name, request, receive):
    open_[name] = request
    if receive:
        receives.add(name)


def wait(name):
    if name in open_:
        open_[name].wait(status)
        what = returned(name)
        log.extend([what] if what != "sent" else [])


def test(name):
    log.append(returned(name) if open_[name].test(status)[0] else "no")


def wait_any(*names):
    names = [name for name in names if name in open_]
    if names:
        name = names[MPI.Request.waitany([open_[name] for name in names], status)[0]]
        log.extend([name, returned(name)])


{bodies}raise type(repr(log), (Exception,), {{}})  # failures are told apart by their classes
"""


def random_script(seed):
    """Statements for each rank, as `deliveries.outcomes` takes them."""
    random = Random(seed)
    ranks = random.choice((2, 3, 3, 3))
    bodies = [[] for _ in range(ranks)]
    for number in range(random.randint(2, 4)):
        source, dest = random.sample(range(ranks), 2)
        tag = random.choice((0, 0, 1))
        _put(random, bodies[source], number, dest, tag)
        if random.random() < 0.95:
            _get(random, bodies[dest], number, source, tag)
    if random.random() < 0.25:
        for body in bodies:
            body.insert(random.randint(0, len(body)), ("barrier",))
    return tuple(tuple(_closed(random, body)) for body in bodies)


def _put(random, body, number, dest, tag):
    kind = random.choice(("send", "send", "ssend", "isend"))
    name = (f"s{number}",) if kind == "isend" else ()
    body.insert(random.randint(0, len(body)), (kind, *name, dest, tag))


def _get(random, body, number, source, tag):
    want = random.choice((ANY, ANY, source)), random.choice((ANY, tag, tag))
    at = random.randint(0, len(body))
    kind = random.choice(("recv", "recv", "irecv", "irecv", "probe", "iprobe"))
    if kind in ("probe", "iprobe"):
        other = random.choice((ANY, ANY, source)), random.choice((ANY, tag))
        body[at:at] = [(kind, *other), ("recv", *want)]
    else:
        body.insert(at, (kind, *((f"r{number}",) if kind == "irecv" else ()), *want))


def _closed(random, body):
    """Each request is waited for, and perhaps tested before."""
    body = list(body)
    names = [what[1] for what in body if what[0] in ("isend", "irecv")]
    for name in names:
        at = next(i for i, what in enumerate(body) if what[1:2] == (name,)) + 1
        if random.random() < 0.3:
            at = random.randint(at, len(body))
            body.insert(at, ("test", name))
            at += 1
        body.insert(random.randint(at, len(body)), ("wait", name))
    if len(names) > 1 and random.random() < 0.3:
        kept = [what for what in body if what[0] not in ("wait", "test")]
        body = kept + [("waitany", *names)] * len(names)
    return body


def text_of(script):
    """The script as a file for mpi4py."""
    bodies = ""
    for rank, body in enumerate(script):
        lines = [f"    {line}\n" for what in body for line in _lines(*what)]
        bodies += f"if comm.rank == {rank}:\n" + ("".join(lines) or "    pass\n")
    return TEXT.format(bodies=bodies)


def _lines(kind, *args):
    if kind in ("send", "ssend"):
        return [f"comm.{kind}(0, dest={args[0]}, tag={args[1]})"]
    if kind == "isend":
        return [f"post({args[0]!r}, comm.isend(0, dest={args[1]}, tag={args[2]}), False)"]
    if kind == "irecv":
        return [f"post({args[0]!r}, comm.irecv(source={args[1]}, tag={args[2]}), True)"]
    if kind in ("recv", "probe"):
        return [f"comm.{kind}(source={args[0]}, tag={args[1]}, status=status)", "log.append(got())"]
    if kind == "iprobe":
        found = f"comm.iprobe(source={args[0]}, tag={args[1]}, status=status)"
        return [f"log.append(got() if {found} else 'no')"]
    if kind == "barrier":
        return ["comm.barrier()"]
    return [f"{kind.replace('any', '_any')}({', '.join(map(repr, args))})"]
