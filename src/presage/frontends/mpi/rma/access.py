"""One access to the memory of a window: which bytes, what is done there, and what it clashes with.

Pure functions; how accesses travel is no concern of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from presage.frontends.mpi.data.layout import Runs as Runs
from presage.frontends.mpi.data.layout import joined
from presage.frontends.mpi.data.op import OPS, width_of
from presage.records import NamedTuple

PUT, GET, STORE = "Put", "Get", "store"
ACCUMULATE = "Accumulate"
GET_ACCUMULATE, FETCH_AND_OP = "Get_accumulate", "Fetch_and_op"
COMPARE_AND_SWAP = "Compare_and_swap"
ATOMIC = (ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP)
FETCHING = (GET, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP)


class Access(NamedTuple):
    """What one rank does to the memory of another; plain, so that it can be sent."""

    kind: str
    origin: int  # its rank in the window
    number: int  # of accesses of that rank before it
    runs: Runs
    sign: str = "byte"  # of the elements
    data: bytes = b""
    op: str = ""
    compare: bytes = b""

    @property
    def writes(self) -> bool:
        return self.kind != GET and self.op != "NO_OP"

    @property
    def is_atomic(self) -> bool:
        return self.kind in ATOMIC

    @property
    def brief(self) -> Access:
        """All that tells what it clashes with."""
        return self._replace(data=b"", compare=b"")


def runs_of(start: int, count: int, datatype: Any) -> Runs:
    """The bytes of `count` items that begin at byte `start`, in order."""
    return joined(datatype.layout.at(count, start))


def changed_runs(before: bytes, after: bytes) -> Runs:
    """Where two contents of the same length differ."""
    pairs = enumerate(zip(before, after, strict=True))
    return joined((at, 1) for at, (one, two) in pairs if one != two)


def read(memory: bytes | bytearray, runs: Runs) -> bytes:
    return b"".join(bytes(memory[at : at + size]) for at, size in runs)


def write(memory: bytearray | memoryview, runs: Runs, data: bytes) -> None:
    done = 0
    for at, size in runs:
        memory[at : at + size] = data[done : done + size]
        done += size


def perform(memory: bytearray, access: Access, call: str) -> bytes:
    """Do it; gives what was there before, to those that want to know."""
    before = read(memory, access.runs)
    if access.kind in (PUT, STORE):
        write(memory, access.runs, access.data)
    elif access.kind == COMPARE_AND_SWAP:
        if before == access.compare:
            write(memory, access.runs, access.data)
    elif access.kind != GET:
        write(memory, access.runs, _combined(access, before, call))
    return before if access.kind in FETCHING else b""


def _combined(access: Access, before: bytes, call: str) -> bytes:
    if access.op == "NO_OP":
        return before
    if access.op == "REPLACE":
        return access.data
    one, two = elements(access.sign, before), elements(access.sign, access.data)
    whole: bytes = OPS[access.op].fold_data([one, two], call)[2]
    return whole


def elements(sign: str, data: bytes) -> tuple[str, int, bytes]:
    """Bytes as buffers are sent."""
    width, many = width_of(sign)
    return sign, len(data) // width * many, data


def overlap(one: Runs, two: Runs) -> bool:
    return any(a < d + m and d < a + n for a, n in one for d, m in two)


def clash(one: Access, two: Access) -> bool:
    """Whether MPI says nothing of what comes of the two, if neither is complete before the other.

    Atomic ones of the same type are done one after another; others must not meet, unless all read.
    """
    if not (one.writes or two.writes) or not overlap(one.runs, two.runs):
        return False
    return not (one.is_atomic and two.is_atomic and one.sign == two.sign)


def order_matters(one: Access, two: Access) -> bool:
    """Whether two atomic accesses of different ranks may give something else the other way round.

    Sums and the like commute; rounding is not looked at.
    """
    if one.origin == two.origin or not overlap(one.runs, two.runs):
        return False
    return not (one.kind == two.kind == ACCUMULATE and one.op == two.op != "REPLACE")


def first_clash(accesses: Iterable[Access]) -> tuple[Access, Access] | None:
    seen: list[Access] = []
    for each in accesses:
        for other in seen:
            if clash(other, each):
                return other, each
        seen.append(each)
    return None
