"""How messages of MPI are told in traces: what they hold, and which rank they are for."""

from __future__ import annotations

import struct
from typing import Any

from presage.mpi.datatype import TYPES
from presage.mpi.objects import OBJECT, PICKLE
from presage.mpi.sides import senders
from presage.mpi.waiting import unmatched as unmatched
from presage.mpi.waiting import who_waits as who_waits
from presage.process.ops import ANY, Probe, Recv, Send

FORMS = {each.basic.sign: each.basic.form for each in TYPES.values()}
ELEMENTS_MAX = 12  # of a buffer that are shown


class Said:
    """Shown as it is."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def content(payload: Any) -> tuple[str, tuple[Any, ...]]:
    """A word and values: the name of a collective call, what a message holds."""
    if isinstance(payload[0], tuple):
        (name, *_), given = payload
        return name, () if given is None else (_value(given),)
    return "", (_value(payload),)


def to(op: Send) -> str:
    """The rank that a message is for."""
    if "#" in op.mailbox:
        comm, _, ranks = op.mailbox.partition("#")
        return f"rank {ranks.partition('>')[2]}{_of(comm)}"
    comm, _, rank = op.mailbox.rpartition("/")
    return f"rank {rank}{_of(comm)}{f', tag {op.key[1]}' if op.key[1] else ''}"


def source(op: Recv | Probe) -> str:
    """The rank that a message is to come from."""
    if "#" in op.mailbox:
        comm, _, ranks = op.mailbox.partition("#")
        return f"from rank {ranks.partition('>')[0]}{_of(comm)}"
    rank, tag = op.want
    told = "from any rank" if rank == ANY else f"from rank {rank}"
    comm = senders(op.mailbox.rpartition("/")[0])
    return f"{told}{_of(comm)}{f', tag {tag}' if tag != ANY else ''}"


def _of(comm: str) -> str:
    return "" if comm == "world" else f" of {comm}"


def _value(given: Any) -> Any:
    """What was given to a call, of the form in which it is sent."""
    if isinstance(given, tuple) and given and isinstance(given[0], str):
        if given[0] == OBJECT:
            return given[1]
        if given[0] == PICKLE:
            return Said(f"<pickle of {len(given[1])} bytes>")
        if given[0] in FORMS:
            return _elements(*given)
    if isinstance(given, list | tuple):
        return [_value(each) for each in given]
    return given


def _elements(sign: str, count: int, data: bytes) -> Any:
    form = f"={FORMS[sign]}"
    width = struct.calcsize(form)
    found = list(struct.iter_unpack(form, data[: ELEMENTS_MAX * width])) if width else []
    values = [each[0] if len(each) == 1 else each for each in found]
    if count <= len(values):
        return values
    return Said(f"[{', '.join(map(repr, values))}, ...: {count} of type {sign}]")
