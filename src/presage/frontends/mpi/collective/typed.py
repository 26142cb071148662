"""`Alltoallw`: every part has a type of its own, and begins at a byte of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.frontends.mpi.collective.buffers import BufferCollectives
from presage.frontends.mpi.collective.transport import Plan, made
from presage.frontends.mpi.core.mistakes import MPIException, wrong_type, wrong_value
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.data.buffers import Buffer, Data, absolute, buffer, is_in_place
from presage.frontends.mpi.data.hazards import Watched, use
from presage.frontends.mpi.data.named_constants import is_bottom
from presage.frontends.mpi.data.raw import memory_of
from presage.frontends.mpi.data.type_handle import TypeHandle


def typed_parts(given: Any, parts: int, text: str) -> list[Buffer]:
    """`[buf, types]`, `[buf, (counts, displs), types]` or `[buf, counts, displs, types]`."""
    if not isinstance(given, list | tuple):
        raise wrong_type(f"{text}: give [buf, (counts, displs), types]")
    if not 2 <= len(given) <= 4:
        raise wrong_value(f"{text}: {len(given)} items; give [buf, (counts, displs), types]")
    memory, *rest, types = given
    counts, displs = (None, None) if not rest else rest[0] if len(rest) == 1 else rest
    sizes = [1] * parts if counts is None else [int(each) for each in counts]
    places = [0] * parts if displs is None else [int(each) for each in displs]
    types = [each if isinstance(each, TypeHandle) else TypeHandle.codes[each] for each in types]
    if {len(sizes), len(places), len(types)} != {parts}:
        raise wrong_value(f"{text}: counts, displs and types have to be {parts} each")
    if is_bottom(memory):
        return [
            absolute(each, size, at, text)
            for size, at, each in zip(sizes, places, types, strict=True)
        ]
    view = memory_of(memory, text)[0]
    return [
        buffer([view[at:], size, each], text) if size else Buffer.of(view, each, 0)
        for size, at, each in zip(sizes, places, types, strict=True)
    ]


def read_all(parts: list[Buffer]) -> list[Data]:
    return [part.read() for part in parts]


def write_all(parts: list[Buffer], text: str) -> Callable[[list[Data] | None], None]:
    def store(got: list[Data] | None) -> None:
        for part, data in zip(parts, got or (), strict=False):
            if data[1] != part.elements and "packed" not in (data[0], part.sign):
                raise MPIException(
                    "count-mismatch",
                    f"{text}: a part has {data[1]} elements, the buffer room for {part.elements}",
                )
            part.write(data, text)

    return store


def use_all(out: list[Buffer], into: list[Buffer], text: str) -> tuple[Watched, ...]:
    """Note the parts in use: within one call they may share memory."""
    watched: tuple[Watched, ...] = ()
    for part in out:
        watched += use(part, text, writes=False)
    for part in into if into is not out else ():
        watched += use(part, text, writes=True)
    return watched


class TypedCollectives(BufferCollectives):
    """Alltoallw."""

    @calls("Alltoallw", "Ialltoallw")
    def _alltoallw(self, sendbuf: Any, recvbuf: Any, *, _name: str = "") -> Any:
        """Send each rank a part, of whatever type it is."""
        core, call, text, _ = self._begin(_name)
        peers = self._peers(core)
        into = typed_parts(recvbuf, peers.size, text)
        in_place = self._is_in_place(sendbuf) and is_in_place(sendbuf)
        out = into if in_place else typed_parts(sendbuf, peers.size, text)
        watched = use_all(out, into, text)
        result, store = self._result(core, call), write_all(into, text)
        return made(Plan(core, call, text, read_all(out), result, store, watched))
