"""`MPI.Win`: memory that other ranks access by themselves. Here: how windows are made and freed.

`accesses` has what is done with them, `syncs` what opens and closes epochs.
"""

from __future__ import annotations

from typing import Any, NoReturn

from presage._core import Exporter
from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call
from presage.frontends.mpi.collective.transport import gathered, note
from presage.frontends.mpi.communicator.comm import COMM_SELF, Comm
from presage.frontends.mpi.core.attributes import Attributed
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.group import Group
from presage.frontends.mpi.core.mistakes import invalid, unsupported
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.core.numbered import family
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.data.errhandlers import Handled
from presage.frontends.mpi.data.extras import get_address
from presage.frontends.mpi.data.memory import Memory as BufferMemory
from presage.frontends.mpi.data.named_constants import is_bottom
from presage.frontends.mpi.data.raw import memory_of
from presage.frontends.mpi.rma.memory import Memory
from presage.frontends.mpi.rma.synchronisation import Synchronised

WIN_BASE, WIN_SIZE, WIN_DISP_UNIT, WIN_CREATE_FLAVOR, WIN_MODEL = 1, 3, 5, 7, 9
WIN_FLAVOR_CREATE, WIN_FLAVOR_ALLOCATE, WIN_FLAVOR_DYNAMIC, WIN_FLAVOR_SHARED = range(1, 5)
WIN_SEPARATE, WIN_UNIFIED = 1, 2


@family
class Win(Synchronised, Attributed, Handled, Exporter):
    """A window."""

    what = "window"
    _title: str
    _flavor: int
    _own_attributes: dict[int, Any]

    _predefined_keys = (WIN_BASE, WIN_SIZE, WIN_DISP_UNIT, WIN_CREATE_FLAVOR, WIN_MODEL)

    def __new__(cls, win: Any = None, *args: Any, **kwargs: Any) -> Any:
        """A handle that stands for the same."""
        made = Exporter.__new__(cls)
        Synchronised.__init__(made)
        made._title, made._flavor = "", WIN_FLAVOR_CREATE
        made._own_attributes = {}
        if win is not None:
            made._become(cls._checked(win))
            made.view = win.view
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """All is done by then."""

    def _attributes(self) -> dict[int, Any]:
        self._memory("Win.Get_attr")
        kept: dict[int, Any] = self._own_attributes
        return kept

    def _kept(self) -> dict[str, Any]:
        kept: dict[str, Any] = vars(self._memory("this call")).setdefault("kept", {})
        return kept

    @classmethod
    def Allocate(
        cls, size: int, disp_unit: int = 1, info: Any = None, comm: Comm = COMM_SELF
    ) -> Any:
        call = enter_call("Win.Allocate", size=size, disp_unit=disp_unit)
        if size < 0:
            raise invalid(f"{call}: a negative size")
        view = memoryview(bytearray(size))
        return cls._made("Win.Allocate", WIN_FLAVOR_ALLOCATE, view, disp_unit, comm)

    @classmethod
    def Create(
        cls, memory: Any, disp_unit: int = 1, info: Any = None, comm: Comm = COMM_SELF
    ) -> Any:
        call = enter_call("Win.Create", disp_unit=disp_unit)
        given = memory[0] if isinstance(memory, list | tuple) else memory
        empty = is_bottom(given)
        view = memoryview(bytearray()) if empty else memory_of(given, call)[0]
        if view.readonly:
            raise invalid(f"{call}: the memory can only be read")
        return cls._made("Win.Create", WIN_FLAVOR_CREATE, view, disp_unit, comm)

    @classmethod
    def Allocate_shared(
        cls, size: int, disp_unit: int = 1, info: Any = None, comm: Comm = COMM_SELF
    ) -> NoReturn:
        """Not there: a rank's own memory is its own."""
        raise unsupported(f"{enter_call('Win.Allocate_shared')}: ranks share no memory here")

    @classmethod
    def Create_dynamic(cls, info: Any = None, comm: Comm = COMM_SELF) -> NoReturn:
        """Not there."""
        raise unsupported(f"{enter_call('Win.Create_dynamic')}: windows are made with their memory")

    @calls("Attach", "Detach", "Shared_query")
    def _other_flavors(self, *args: Any, _name: str = "") -> NoReturn:
        """Not there: of windows that cannot be made."""
        raise unsupported(f"{enter_call(_name)}: not for a window of this flavour")

    @classmethod
    def _made(cls, name: str, flavor: int, view: memoryview, unit: int, comm: Comm) -> Any:
        core = comm._core(name)
        call = note(core, name)
        if unit < 1:
            raise invalid(f"{call}: disp_unit={unit} is no number of bytes")
        said = gathered(core, Call(name), [len(view), unit], results.everything)
        own = CommState(f"{core.name}.{core.calls}w", core.ranks, core.rank)
        current_rank().cores.append(own)
        win = cls()
        win._flavor = flavor
        sizes, units = zip(*said, strict=True)
        win.view = view
        win._held = Memory(own, view, tuple(sizes), tuple(units))
        win._handle = current_rank().keep(f"window of {name}")
        win._held.lay_out()
        current_rank().windows.append(win)
        return win

    def Free(self) -> None:
        """All ranks together; nobody may be in an epoch."""
        held = self._memory("Win.Free")
        call = note(held.core, "Win.Free")
        self._check_closed(call, ends=True)
        self._delete_attributes()
        held.publish()
        gathered(held.core, Call("Win.Free"), None, results.nothing, learns=False)
        held.clear_away()
        held.core.freed = True
        current_rank().drop(self._handle)
        current_rank().windows.remove(self)
        self._held = None
        self.view = None

    def tomemory(self) -> BufferMemory:
        """The rank's own memory."""
        return BufferMemory(self._memory("tomemory").view)

    memory = property(tomemory)

    def Get_group(self) -> Any:
        return Group.of(self._memory("Win.Get_group").core.ranks)

    def Get_name(self) -> str:
        """Its name."""
        return self._title if self._held is not None else "MPI_WIN_NULL"

    def Set_name(self, name: str) -> None:
        self._title = name

    def _predefined_attr(self, keyval: int) -> Any:
        held = self._memory("Win.Get_attr")
        known: dict[int, Any] = {
            WIN_BASE: lambda: get_address(held.view) if held.view else 0,
            WIN_SIZE: lambda: len(held.view),
            WIN_DISP_UNIT: lambda: held.units[held.core.rank],
            WIN_CREATE_FLAVOR: lambda: self._flavor,
            WIN_MODEL: lambda: WIN_UNIFIED,
        }
        return known[keyval]()

    @property
    def attrs(self) -> tuple[int, int, int]:
        """Address, size, and bytes of a displacement."""
        base, size, unit = (self.Get_attr(key) for key in (WIN_BASE, WIN_SIZE, WIN_DISP_UNIT))
        return base, size, unit

    group = property(Get_group)
    group_rank = property(lambda self: self._memory("group_rank").core.rank)
    group_size = property(lambda self: self._memory("group_size").core.size)
    name = property(Get_name, Set_name)
    flavor = property(lambda self: self._flavor)
    model = property(lambda self: WIN_UNIFIED)


WIN_NULL: Win = Win()
