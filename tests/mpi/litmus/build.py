"""A litmus test: a few lines that show one rule of MPI, and what the standard says of them.

Clauses are those of MPI 4.1. In the text of a test, `ANY` is `MPI.ANY_SOURCE`, `status` a status,
and `source(...)` the rank that a receive with these arguments got its message from.
"""

from dataclasses import dataclass
from textwrap import dedent

HEAD = """\
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
ANY, status = MPI.ANY_SOURCE, MPI.Status()


def source(of=ANY, tag=MPI.ANY_TAG):
    comm.recv(source=of, tag=tag, status=status)
    return status.source


"""


@dataclass(frozen=True)
class Litmus:
    name: str
    clause: str
    ranks: int
    text: str  # of the script
    breaks: str = ""  # the property; nothing: it holds
    limit: int | None = None  # bytes that are sent eagerly


def by_rank(*bodies):
    """The text of a script from what each rank does."""
    parts = [f"if rank == {at}:\n{indented(body)}" for at, body in enumerate(bodies)]
    return HEAD + "".join(parts)


def indented(body):
    lines = dedent(body).strip("\n").split("\n")
    return "".join(f"    {line}\n" for line in lines)
