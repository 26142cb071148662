"""What a labelled case is made of: a faulty script, its correct twin, and what has to be found."""

from dataclasses import dataclass
from textwrap import indent

PRELUDE = """\
from array import array
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()
size = comm.Get_size()
"""

# Ways to send a number and to receive one: `v` its value, `to` and `of` other ranks, `t` the tag.
OBJECT_SENDS = {
    "send": "comm.send({v}, dest={to}, tag={t})",
    "ssend": "comm.ssend({v}, dest={to}, tag={t})",
    "bsend": "comm.bsend({v}, dest={to}, tag={t})",
    "isend": "comm.isend({v}, dest={to}, tag={t}).wait()",
    "issend": "comm.issend({v}, dest={to}, tag={t}).wait()",
}
BUFFER_SENDS = {
    "Send": "comm.Send(array('i', [{v}]), dest={to}, tag={t})",
    "Ssend": "comm.Ssend(array('i', [{v}]), dest={to}, tag={t})",
    "Bsend": "comm.Bsend(array('i', [{v}]), dest={to}, tag={t})",
    "Isend": "out = array('i', [{v}])\ncomm.Isend([out, MPI.INT], dest={to}, tag={t}).Wait()",
}
OBJECT_RECVS = {
    "recv": "got = comm.recv(source={of}, tag={t})",
    "irecv": "got = comm.irecv(source={of}, tag={t}).wait()",
    "mprobe": "got = comm.mprobe(source={of}, tag={t}).recv()",
    "probe": "comm.probe(source={of}, tag={t})\ngot = comm.recv(source={of}, tag={t})",
}
BUFFER_RECVS = {
    "Recv": "box = array('i', [0])\ncomm.Recv(box, source={of}, tag={t})",
    "Irecv": "box = array('i', [0])\ncomm.Irecv([box, 1, MPI.INT], source={of}, tag={t}).Wait()",
}
PAIRS = [
    *((s, r) for s in OBJECT_SENDS for r in OBJECT_RECVS),
    *((s, r) for s in BUFFER_SENDS for r in BUFFER_RECVS),
]


def send(how, to, v=1, t=0):
    return {**OBJECT_SENDS, **BUFFER_SENDS}[how].format(v=v, to=to, t=t)


def recv(how, of, t=0):
    return {**OBJECT_RECVS, **BUFFER_RECVS}[how].format(of=of, t=t)


@dataclass(frozen=True)
class Case:
    """`kind` has to be reported for the faulty script; `also` may be, under other buffering."""

    name: str
    label: str
    kind: str
    ranks: int
    faulty: str
    correct: str
    also: tuple[str, ...] = ()


def by_rank(*bodies):
    """A script in which each rank does something else."""
    text = PRELUDE
    for rank, body in enumerate(bodies):
        text += f"{'if' if rank == 0 else 'elif'} rank == {rank}:\n"
        text += indent(lines(body) or "pass", "    ") + "\n"
    return text


def by_all(*body):
    """A script in which all ranks do the same."""
    return PRELUDE + lines(body) + "\n"


def lines(body):
    if isinstance(body, str):
        return body
    return "\n".join(lines(each) for each in body if each)
