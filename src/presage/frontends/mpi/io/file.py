"""`MPI.File`: how files are opened, asked and closed; `transfers` has reading and writing."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from presage.frontends.mpi.collective.transport import note
from presage.frontends.mpi.communicator.comm import Comm
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.group import Group
from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.numbered import family
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.data.datatype import Datatype
from presage.frontends.mpi.data.errhandlers import Handled
from presage.frontends.mpi.data.predefined import BYTE
from presage.frontends.mpi.io import server as server
from presage.frontends.mpi.io.transfers import (
    SEEK_CUR,
    SEEK_END,
    SEEK_SET,
    Opened,
    Transferred,
    ask,
)
from presage.frontends.mpi.io.views import View

WAYS = "CREATE RDONLY WRONLY RDWR DELETE_ON_CLOSE UNIQUE_OPEN EXCL APPEND SEQUENTIAL"
MODES: dict[str, int] = {f"MODE_{way}": getattr(server, way) for way in WAYS.split()}


@family
class File(Transferred, Handled):
    """A file that was opened by the ranks of a communicator."""

    what = "file"

    def __new__(cls, file: Any = None, *args: Any, **kwargs: Any) -> Any:
        """A handle that stands for the same."""
        made = object.__new__(cls)
        Transferred.__init__(made)
        if file is not None:
            made._become(cls._checked(file))
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """All is done by then."""

    def _kept(self) -> dict[str, Any]:
        if self._held is None:  # of files that cannot be opened
            kept: dict[str, Any] = current_rank().own_notes.setdefault("FILE_NULL", {})
            return kept
        kept = vars(self._held).setdefault("kept", {})
        return kept

    @classmethod
    def Open(cls, comm: Comm, filename: Any, amode: int = server.RDONLY, info: Any = None) -> Any:
        core = comm._core("File.Open")
        name = _path(filename)
        call = note(core, "File.Open", filename=name, amode=_modes(amode))
        _check_mode(amode, call)
        own = CommState(f"{core.name}.{core.calls}f", core.ranks, core.rank)
        opened = Opened(own, name, amode)
        steps = [(server.OPEN, own.name, amode)] if core.rank == 0 else []
        got = opened.together("File.Open", steps, core=core, detail=f"{_modes(amode)} {name}")[0]
        if isinstance(got, str):
            raise MPIException("file-error", f"{call}: {got}")
        current_rank().cores.append(own)
        file = cls()
        file._held = opened
        file._handle = current_rank().keep(f"file {name}")
        if amode & server.APPEND:
            opened.position = got
            opened.by_first("File.Open", server.PLACE, own.name, got)
        return file

    def Close(self) -> None:
        opened, _ = self._called("File.Close")
        delete = bool(opened.amode & server.DELETE_ON_CLOSE)
        opened.by_first("File.Close", server.CLOSE, opened.core.name, delete)
        opened.core.freed = True
        current_rank().drop(self._handle)
        self._held = None

    @classmethod
    def Delete(cls, filename: Any, info: Any = None) -> None:
        name = _path(filename)
        call = enter_call("File.Delete", filename=name)
        if not ask(name, "File.Delete", [(server.DELETE,)])[0]:
            raise MPIException("file-error", f"{call}: there is no such file")

    def _called(self, name: str, **given: Any) -> tuple[Opened, str]:
        """The open file, and the text of a call that all of its ranks make."""
        opened = self._file(name)
        return opened, note(opened.core, name, **given)

    # What is asked of it.

    def Get_size(self) -> int:
        opened = self._file("Get_size")
        enter_call("Get_size")
        return int(ask(opened.name, "Get_size", [(server.SIZE,)])[0])

    def Set_size(self, size: int) -> None:
        self._resized("Set_size", server.RESIZE, size)

    def Preallocate(self, size: int) -> None:
        self._resized("Preallocate", server.GROW, size)

    def _resized(self, name: str, what: str, size: int) -> None:
        opened, call = self._called(name, size=size)
        opened.check_writes(call)
        if size < 0:
            raise invalid(f"{call}: a negative size")
        opened.by_first(name, what, size, detail=str(size))

    def Sync(self) -> None:
        opened, _ = self._called("File.Sync")
        opened.by_first("File.Sync", server.SYNC)

    def Set_atomicity(self, flag: bool) -> None:
        """Accesses always are atomic here."""
        opened, _ = self._called("Set_atomicity", flag=flag)
        opened.together("Set_atomicity", [], detail=str(bool(flag)))
        opened.atomic = bool(flag)

    def Get_atomicity(self) -> bool:
        return self._file("Get_atomicity").atomic

    def Get_amode(self) -> int:
        return self._file("Get_amode").amode

    def Get_group(self) -> Any:
        return Group.of(self._file("Get_group").core.ranks)

    # Views and positions.

    def Set_view(
        self,
        disp: int = 0,
        etype: Datatype | None = None,
        filetype: Datatype | None = None,
        datarep: str | None = None,
        info: Any = None,
    ) -> None:
        opened = self._file("Set_view")
        etype = BYTE if etype is None else etype
        filetype = etype if filetype is None else filetype
        call = note(opened.core, "Set_view", disp=disp, etype=etype, filetype=filetype)
        for each in (etype, filetype):
            each.check(call)
        if disp < 0 or (datarep or "native").lower() not in ("native", "internal"):
            raise invalid(f"{call}: disp has to be 0 or more, datarep `native`")
        size, unit = filetype.Get_size(), etype.Get_size()
        if not unit or not size or size % unit:
            raise invalid(f"{call}: a filetype holds one or more whole etypes")
        opened.by_first("Set_view", server.PLACE, opened.core.name, 0)
        opened.view, opened.position = View(disp, etype, filetype), 0

    def Get_view(self) -> tuple[int, Datatype, Datatype, str]:
        return (*self._file("Get_view").view, "native")

    def Get_type_extent(self, datatype: Datatype) -> int:
        return int(datatype.extent)

    def Get_byte_offset(self, offset: int) -> int:
        view = self._file("Get_byte_offset").view
        return view.runs(offset * view.unit, 1)[0][0]

    def Get_position(self) -> int:
        return self._file("Get_position").position

    def Seek(self, offset: int, whence: int = SEEK_SET) -> None:
        opened = self._file("Seek")
        call = enter_call("Seek", offset=offset, whence=whence)
        opened.position = _sought(opened, offset, whence, opened.position, call)

    def Get_position_shared(self) -> int:
        opened = self._file("Get_position_shared")
        enter_call("Get_position_shared")
        step = (server.ADVANCE, opened.core.name, 0)
        return int(ask(opened.name, "Get_position_shared", [step])[0])

    def Seek_shared(self, offset: int, whence: int = SEEK_SET) -> None:
        opened, call = self._called("Seek_shared", offset=offset, whence=whence)
        steps: list[server.Step] = []
        if opened.core.rank == 0:
            now = self.Get_position_shared() if whence == SEEK_CUR else 0
            at = _sought(opened, offset, whence, now, call)
            steps = [(server.PLACE, opened.core.name, at)]
        opened.together("Seek_shared", steps, detail=f"{offset} {whence}")

    amode = property(Get_amode)
    size = property(Get_size)
    group = property(Get_group)
    group_rank = property(lambda self: self._file("group_rank").core.rank)
    group_size = property(lambda self: self._file("group_size").core.size)
    atomicity = property(Get_atomicity, Set_atomicity)


def _sought(opened: Opened, offset: int, whence: int, now: int, call: str) -> int:
    if whence == SEEK_END:
        size = int(ask(opened.name, "Seek", [(server.SIZE,)])[0])
        now = -(-opened.view.data_within(size) // opened.view.unit)
    elif whence not in (SEEK_SET, SEEK_CUR):
        raise invalid(f"{call}: whence is SEEK_SET, SEEK_CUR or SEEK_END")
    position = offset if whence == SEEK_SET else now + offset
    if position < 0:
        raise invalid(f"{call}: a position before the beginning of the file")
    return position


def _modes(amode: int) -> str:
    """`CREATE|WRONLY`."""
    return "|".join(name[5:] for name, bit in MODES.items() if amode & bit)


def _path(filename: Any) -> str:
    return PurePath(filename.decode() if isinstance(filename, bytes) else filename).as_posix()


def _check_mode(amode: int, call: str) -> None:
    ways = [bit for bit in (server.RDONLY, server.WRONLY, server.RDWR) if amode & bit]
    if len(ways) != 1:
        raise invalid(f"{call}: one of MODE_RDONLY, MODE_WRONLY, MODE_RDWR has to be given")
    if amode & server.RDONLY and amode & (server.CREATE | server.EXCL):
        raise invalid(f"{call}: MODE_RDONLY goes with neither MODE_CREATE nor MODE_EXCL")
    if amode & server.SEQUENTIAL:
        raise invalid(f"{call}: presage's mpi4py has no MODE_SEQUENTIAL")


FILE_NULL: File = File()
