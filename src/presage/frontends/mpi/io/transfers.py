"""Reading and writing files, as scripts call it: at a position given, their own or a shared one.

With sends that wait, collective calls synchronise all ranks, as MPI allows; with eager ones nobody
waits for another, as MPI allows, too.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from presage.frontends.mpi.collective.exchange import Call
from presage.frontends.mpi.collective.transport import announced, gathered, note
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.core.shared_handle import Owned
from presage.frontends.mpi.core.status import Status, fill
from presage.frontends.mpi.data.buffers import Buffer, agree, buffer
from presage.frontends.mpi.data.hazards import use
from presage.frontends.mpi.io import server as server
from presage.frontends.mpi.io.views import View
from presage.frontends.mpi.point.request import Request
from presage.process.context import Asking, blocking, exchange, post, wait_any
from presage.process.ops import Recv, Response, Send
from presage.records import record

SEEK_SET, SEEK_CUR, SEEK_END = 600, 602, 604


@record(eq=False)
class Opened:
    """An open file, as one of its ranks holds it."""

    core: CommState  # its ranks
    name: str
    amode: int
    view: View = field(default_factory=View)
    position: int = 0  # of this rank, in units of the view
    atomic: bool = False
    split: tuple[str, Request] | None = (
        None  # a transfer that is begun by one call, ended by another
    )

    def check_writes(self, call: str) -> None:
        if self.amode & server.RDONLY:
            raise MPIException("file-error", f"{call}: the file was opened for reading only")

    def check_reads(self, call: str) -> None:
        if self.amode & server.WRONLY:
            raise MPIException("file-error", f"{call}: the file was opened for writing only")

    def together(
        self, name: str, steps: list[server.Step], core: CommState | None = None, detail: str = ""
    ) -> list[Any]:
        """All ranks at once: the first asks for all, and each gets its answers.

        Who asks for nothing gets what the first rank gets.
        """
        asked: list[list[Any]] = []

        def result(contributions: list[Any], rank: int) -> Any:
            if not asked:  # in the first rank
                every = [tuple(step) for each in contributions for step in each]
                got = ask(self.name, name, every) if every else []
                for each in contributions:
                    asked.append([got.pop(0) for _ in each])
            return asked[rank] or asked[0]

        said: list[Any] = gathered(core or self.core, Call(name, op=detail), steps, result)
        return said

    def by_first(self, name: str, *step: Any, detail: str = "") -> None:
        """All ranks at once: the first asks for one thing."""
        self.together(name, [step] if self.core.rank == 0 else [], detail=detail)


class Transferred(Owned):
    """Read, Write and their relatives."""

    _held: Opened | None

    def _file(self, call: str) -> Opened:
        if self._held is None:
            raise invalid(f"{call}: the file is FILE_NULL, or was closed before")
        return self._held

    def _ready(self, name: str, buf: Any, all_: bool = False) -> tuple[Any, ...]:
        opened = self._file(name)
        call = note(opened.core, name) if all_ else enter_call(name)
        opened.check_writes(call) if _writes(name) else opened.check_reads(call)
        given = buffer(buf, call)
        sign = opened.view.etype.sign
        if sign != "byte" and given.sign != "byte" and not agree(sign, given.sign):
            raise MPIException(
                "type-mismatch",
                f"{call}: the file holds elements of type {sign}, the buffer {given.sign}",
            )
        return opened, call, given

    def _transfer(
        self, name: str, buf: Any, status: Status | None, offset: int | None = None
    ) -> None:
        """At an offset, or at the rank's own position, which goes on."""
        all_ = name.endswith("_all")
        opened, call, given = self._ready(name, buf, all_)
        use(given, call, writes=not _writes(name))
        step = _step(opened, given, name, _start(opened, given, offset, call))
        if all_ and not current_rank().eager:
            got = opened.together(name, [step])[0]
        else:
            if all_:
                announced(opened.core, Call(name))
            got = ask(opened.name, name, [step])[0]
        fill(status, _finish(given, got, name, call))

    @calls("Read_shared", "Write_shared")
    def _shared(self, buf: Any, status: Status | None = None, *, _name: str = "") -> None:
        """At the position that all ranks share."""
        opened, call, given = self._ready(_name, buf)
        use(given, call, writes=not _writes(_name))
        count = _units(opened, given, call)
        at = ask(opened.name, _name, [(server.ADVANCE, opened.core.name, count)])[0]
        got = ask(opened.name, _name, [_step(opened, given, _name, at)])[0]
        fill(status, _finish(given, got, _name, call))

    @calls("Read_ordered", "Write_ordered")
    def _ordered(self, buf: Any, status: Status | None = None, *, _name: str = "") -> None:
        """At the shared position, one rank after another."""
        opened, call, given = self._ready(_name, buf, all_=True)
        count = _units(opened, given, call)
        at = opened.together(_name, [(server.ADVANCE, opened.core.name, count)])[0]
        got = ask(opened.name, _name, [_step(opened, given, _name, at)])[0]
        fill(status, _finish(given, got, _name, call))

    def _begun(self, name: str, buf: Any, offset: int | None = None) -> Request:
        opened, call, given = self._ready(name, buf)
        watched = use(given, call, writes=not _writes(name))
        step = _step(opened, given, name, _start(opened, given, offset, call))
        slot = blocking(_asked(opened.name, name, [step]))

        def finish(responses: list[Response]) -> tuple[Any, Status]:
            _, got = responses[0].payload
            return None, _finish(given, got[0], name, call)

        return Request.of((slot,), finish, call, (), watched)

    def _begun_all(self, name: str, buf: Any, offset: int | None = None) -> Request:
        """A collective one that does not block: all must call it, and nobody waits."""
        request = self._begun(name, buf, offset)
        announced(self._file(name).core, Call(name))
        return request

    def _begun_shared(self, name: str, buf: Any) -> Request:
        """At the position that all ranks share, which goes on at once."""
        opened, call, given = self._ready(name, buf)
        count = _units(opened, given, call)
        at = ask(opened.name, name, [(server.ADVANCE, opened.core.name, count)])[0]
        return self._begun(name, buf, int(at))

    def _begun_ordered(self, name: str, buf: Any) -> Request:
        """The same, one rank after another."""
        opened, call, given = self._ready(name, buf, all_=True)
        count = _units(opened, given, call)
        at = opened.together(name, [(server.ADVANCE, opened.core.name, count)])[0]
        return self._begun(name, buf, int(at))

    def _split(self, name: str, begun: Request) -> None:
        """The first of two calls; there is one such pair at a time."""
        opened = self._file(name)
        if opened.split is not None:
            call = f"{name}: {opened.split[0]}_begin was not ended"
            raise invalid(call, "ERR_OTHER")
        opened.split = name.removesuffix("_begin"), begun

    def _end_split(self, name: str, status: Status | None) -> None:
        opened = self._file(name)
        bare = name.removesuffix("_end")
        if opened.split is None or opened.split[0] != bare:
            raise invalid(f"{enter_call(name)}: {bare}_begin was not called", "ERR_OTHER")
        request, opened.split = opened.split[1], None
        request.Wait(status)

    # The calls of scripts. Whether they write, and whether all ranks call, follows from the name.

    @calls("Read", "Write", "Read_all", "Write_all")
    def _call(self, buf: Any, status: Status | None = None, *, _name: str = "") -> None:
        self._transfer(_name, buf, status)

    @calls("Read_at", "Write_at", "Read_at_all", "Write_at_all")
    def _call_at(
        self, offset: int, buf: Any, status: Status | None = None, *, _name: str = ""
    ) -> None:
        self._transfer(_name, buf, status, offset)

    @calls("Iread", "Iwrite")
    def _begin(self, buf: Any, *, _name: str = "") -> Request:
        return self._begun(_name, buf)

    @calls("Iread_all", "Iwrite_all")
    def _begin_all(self, buf: Any, *, _name: str = "") -> Request:
        """By all ranks, not blocking."""
        return self._begun_all(_name, buf)

    @calls("Iread_at_all", "Iwrite_at_all")
    def _begin_at_all(self, offset: int, buf: Any, *, _name: str = "") -> Request:
        """By all ranks, at a position given, not blocking."""
        return self._begun_all(_name, buf, offset)

    @calls("Iread_shared", "Iwrite_shared")
    def _begin_shared(self, buf: Any, *, _name: str = "") -> Request:
        """At the position that all ranks share, not blocking."""
        return self._begun_shared(_name, buf)

    @calls("Read_all_begin", "Write_all_begin")
    def _split_all(self, buf: Any, *, _name: str = "") -> None:
        """The first of two calls."""
        self._split(_name, self._begun_all(_name, buf))

    @calls("Read_at_all_begin", "Write_at_all_begin")
    def _split_at_all(self, offset: int, buf: Any, *, _name: str = "") -> None:
        """The first of two calls, at a position given."""
        self._split(_name, self._begun_all(_name, buf, offset))

    @calls("Read_ordered_begin", "Write_ordered_begin")
    def _split_ordered(self, buf: Any, *, _name: str = "") -> None:
        """The first of two calls, one rank after another."""
        self._split(_name, self._begun_ordered(_name, buf))

    @calls(
        *("Read_all_end", "Write_all_end", "Read_at_all_end", "Write_at_all_end"),
        *("Read_ordered_end", "Write_ordered_end"),
    )
    def _split_end(self, buf: Any, status: Status | None = None, *, _name: str = "") -> None:
        """The second of two calls: the transfer is complete."""
        self._end_split(_name, status)

    @calls("Iread_at", "Iwrite_at")
    def _begin_at(self, offset: int, buf: Any, *, _name: str = "") -> Request:
        return self._begun(_name, buf, offset)


def _writes(name: str) -> bool:
    return "write" in name.lower()


def _size(given: Buffer) -> int:
    return given.size


def _units(opened: Opened, given: Buffer, call: str) -> int:
    """How far positions go on."""
    count, rest = divmod(_size(given), opened.view.unit)
    if rest:
        raise invalid(f"{call}: {_size(given)} bytes are no whole number of etypes of the view")
    return count


def _start(opened: Opened, given: Buffer, offset: int | None, call: str) -> int:
    """Where a transfer begins, in units of the view."""
    count = _units(opened, given, call)
    if offset is None:
        opened.position += count
        return opened.position - count
    if offset < 0:
        raise invalid(f"{call}: a negative offset ({offset})")
    return int(offset)


def _step(opened: Opened, given: Buffer, name: str, start: int) -> server.Step:
    runs = opened.view.runs(start * opened.view.unit, _size(given))
    return (server.WRITE, runs, given.read()[2]) if _writes(name) else (server.READ, runs)


def _finish(given: Buffer, got: Any, name: str, call: str) -> Status:
    """What was read is in the buffer; the status says how much."""
    if _writes(name):
        return Status.of(0, 0, _size(given))
    given.write((given.sign, given.datatype.layout.elements_in(len(got)), got), call)
    return Status.of(0, 0, len(got))


def ask(file: str, call: str, steps: list[server.Step]) -> list[Any]:
    """Put steps to the process that holds a file, all at once, and wait for the answers."""
    return blocking(_answered(file, call, steps))


def _answered(file: str, call: str, steps: list[server.Step]) -> Asking[list[Any]]:
    slot = yield from _asked(file, call, steps)
    response = yield from wait_any((slot,))
    return list(response.payload[1])


def _asked(file: str, call: str, steps: list[server.Step]) -> Asking[int]:
    rank = current_rank()
    if not rank.launcher.has_files:
        raise invalid(f"{call}: nobody holds files; the script does not name `File`")
    if file not in rank.files:
        rank.files.add(file)
        yield from exchange(Send(server.KEEPER, file, buffered=True))
    asked = ((call, rank.number), [tuple(step) for step in steps])
    yield from exchange(Send(server.mailbox(file), asked, buffered=True))
    return (yield from post(Recv(server.answers(file, rank.number))))
