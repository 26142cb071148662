"""How traces show messages of MPI: what they hold, and which rank they are for."""

from __future__ import annotations

import re
import struct
from typing import Any

from presage.frontends.mpi.core.groups import senders
from presage.frontends.mpi.data.objects import OBJECT, PICKLE
from presage.frontends.mpi.data.predefined import NAMED
from presage.frontends.mpi.io.server import CLOSE, KEEPER, OPEN, READ, STEPS, WRITE
from presage.frontends.mpi.report.waiting import unmatched as unmatched
from presage.frontends.mpi.report.waiting import who_waits as who_waits
from presage.frontends.mpi.rma.access import ATOMIC, GET, PUT, Access, elements
from presage.process.ops import ANY, Probe, Recv, Send

FORMS = {sign: form for sign, (form, _) in NAMED.items()}
KINDS = (PUT, GET, *ATOMIC)
ELEMENTS_MAX = 12  # of a buffer that are shown
BYTES_MAX = 32  # of a memory that are shown


class Said:
    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def content(payload: Any) -> tuple[str, tuple[Any, ...]]:
    """A word and values: the name of a collective call, what a message holds."""
    if isinstance(payload, str):
        return payload, ()
    if not isinstance(payload, tuple):  # what ranks leave for any that takes it
        return "", (_value(payload),)
    if isinstance(payload[0], bytes):
        return "memory", (Said(_hex(payload[0])),)
    if isinstance(payload[0], tuple):
        (name, *_), given = payload
        return name, () if given is None else (_value(given),)
    return "", (_value(payload),)


def to(op: Send) -> str:
    if op.mailbox == KEEPER or op.mailbox.startswith("file:"):
        name, rank = _file(op.mailbox)
        return f"rank {rank}" if rank else name
    if "@" in op.mailbox:
        return _window(op.mailbox)
    if "#" in op.mailbox:
        comm, _, ranks = op.mailbox.partition("#")
        return f"rank {ranks.partition('>')[2]}{_of(comm)}"
    if "/" not in op.mailbox:
        return op.mailbox  # of a request or a lock of the script
    comm, _, rank = op.mailbox.rpartition("/")
    return f"rank {rank}{_of(comm)}{f', tag {op.key[1]}' if op.key[1] else ''}"


def source(op: Recv | Probe) -> str:
    if op.mailbox == KEEPER or op.mailbox.startswith("file:"):
        name, asking = _file(op.mailbox)
        return f"from {name}" if asking else "from any rank"
    if "@" in op.mailbox:
        return f"from {_window(op.mailbox)}"
    if "#" in op.mailbox:
        comm, _, ranks = op.mailbox.partition("#")
        return f"from rank {ranks.partition('>')[0]}{_of(comm)}"
    if "/" not in op.mailbox:
        return f"from {op.mailbox}"
    rank, tag = op.want
    text = "from any rank" if rank == ANY else f"from rank {rank}"
    comm = senders(op.mailbox.rpartition("/")[0])
    return f"{text}{_of(comm)}{f', tag {tag}' if tag != ANY else ''}"


def _window(mailbox: str) -> str:
    """The memory of a rank in a window, or its lock."""
    window, _, rest = mailbox.partition("@")
    rank = re.match(r"\d+", rest)
    return f"the memory of rank {rank.group() if rank else rest} in window {window}"


def _file(mailbox: str) -> tuple[str, str]:
    """A file, and the rank that gets answers from it, if it is there that they go."""
    if mailbox == KEEPER:
        return "the keeper of files", ""
    name, _, rank = mailbox.removeprefix("file:").rpartition(">")
    return (f"file {name}", rank) if name else (f"file {rank}", "")


def _hex(data: bytes) -> str:
    shown = data[:BYTES_MAX].hex(" ")
    return shown if len(data) <= BYTES_MAX else f"{shown} ...: {len(data)} bytes"


def _of(comm: str) -> str:
    return "" if comm == "world" else f" of {comm}"


def _value(given: Any) -> Any:
    """What was given to a call, of the form in which it is sent."""
    if isinstance(given, tuple) and given and isinstance(given[0], str):
        if given[0] == OBJECT:
            return given[1]
        if given[0] == PICKLE:
            return Said(f"<pickle of {len(given[1])} bytes>")
        if given[0].partition("+")[0] in FORMS:
            return _elements(*given)
        if given[0] in KINDS:
            return _access(Access(*given))
        if given[0] in STEPS:
            return _step(*given)
    if isinstance(given, list | tuple):
        return [_value(each) for each in given]
    return given


def _access(access: Access) -> Said:
    data = _elements(*elements(access.sign, access.data)) if access.data else ""
    op = f" {access.op}" if access.op else ""
    return Said(f"{access.kind}{op} {data} at byte {access.runs[0][0] if access.runs else 0}")


def _step(what: str, *given: Any) -> Said:
    text = [what]
    if what in (READ, WRITE):
        runs = given[0]
        text.append(f"{sum(size for _, size in runs)} bytes at {runs[0][0] if runs else 0}")
        text += [f"in {len(runs)} pieces"] if len(runs) > 1 else []
        text += [f": {_hex(given[1])}"] if what == WRITE else []
    elif what not in (OPEN, CLOSE):
        text += [str(each) for each in given if not isinstance(each, str)]
    return Said(" ".join(text))


def _elements(sign: str, count: int, data: bytes) -> Any:
    form = f"={''.join(FORMS[each] for each in sign.split('+'))}"
    width = struct.calcsize(form)
    found = list(struct.iter_unpack(form, data[: ELEMENTS_MAX * width])) if width else []
    values = [each[0] if len(each) == 1 else each for each in found]
    if count <= len(values):
        return values
    return Said(f"[{', '.join(map(repr, values))}, ...: {count} of type {sign}]")
