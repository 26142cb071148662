"""`MPI.Win`: memory that other ranks access by themselves. Here: how windows are made and freed.

`accesses` has what is done with them, `syncs` what opens and closes epochs.
"""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call
from presage.frontends.mpi.collective.transport import gathered, note
from presage.frontends.mpi.communicator.comm import COMM_SELF, Comm
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.group import Group
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.data.buffers import _memory
from presage.frontends.mpi.data.extras import Unheeded, get_address
from presage.frontends.mpi.rma.memory import Memory
from presage.frontends.mpi.rma.synchronisation import Synchronised

WIN_BASE, WIN_SIZE, WIN_DISP_UNIT, WIN_CREATE_FLAVOR, WIN_MODEL = 1, 3, 5, 7, 9
WIN_FLAVOR_CREATE, WIN_FLAVOR_ALLOCATE, WIN_FLAVOR_DYNAMIC, WIN_FLAVOR_SHARED = range(1, 5)
WIN_SEPARATE, WIN_UNIFIED = 1, 2


class Win(Synchronised, Unheeded):
    """A window."""

    what = "window"

    def __init__(self, win: Win | None = None) -> None:
        super().__init__()
        self._title = ""
        self._flavor = WIN_FLAVOR_CREATE
        self._attributes: dict[int, Any] = {}
        if win is not None:
            self.__dict__.update(win.__dict__)

    def __buffer__(self, flags: int) -> memoryview:
        return self.tomemory()

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
        empty = given is None or repr(given) == "MPI.BOTTOM"
        view = memoryview(bytearray()) if empty else _memory(given, call)[0]
        if view.readonly:
            raise invalid(f"{call}: the memory can only be read")
        return cls._made("Win.Create", WIN_FLAVOR_CREATE, view, disp_unit, comm)

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
        held.publish()
        gathered(held.core, Call("Win.Free"), None, results.nothing, learns=False)
        held.clear_away()
        held.core.freed = True
        current_rank().drop(self._handle)
        current_rank().windows.remove(self)
        self._held = None

    free = Free

    def tomemory(self) -> memoryview:
        """The rank's own memory."""
        return self._memory("tomemory").view

    memory = property(tomemory)

    def Get_group(self) -> Group:
        return Group.of(self._memory("Win.Get_group").core.ranks)

    def Get_name(self) -> str:
        return self._title

    def Set_name(self, name: str) -> None:
        self._title = name

    def Get_attr(self, keyval: int) -> Any:
        """Predefined ones, and those of the script."""
        held = self._memory("Win.Get_attr")
        known = {
            WIN_BASE: lambda: get_address(held.view) if held.view else 0,
            WIN_SIZE: lambda: len(held.view),
            WIN_DISP_UNIT: lambda: held.units[held.core.rank],
            WIN_CREATE_FLAVOR: lambda: self._flavor,
            WIN_MODEL: lambda: WIN_UNIFIED,
        }
        return known[keyval]() if keyval in known else self._attributes.get(keyval)

    def Set_attr(self, keyval: int, value: Any) -> None:
        self._attributes[keyval] = value

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


WIN_NULL = Win()
