"""`MPI.Comm`: communicators, and how they are made from others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from presage.mpi import results
from presage.mpi.extras import Info
from presage.mpi.gather_buffers import BufferCollectives
from presage.mpi.group import CONGRUENT, IDENT, SIMILAR, UNEQUAL, Group
from presage.mpi.mistakes import MPIException, invalid
from presage.mpi.rank import Core, calling, here, named
from presage.mpi.status import UNDEFINED
from presage.mpi.together import Call, gathered

COMM_TYPE_SHARED = 1


class Comm(BufferCollectives):
    """A communicator."""

    def __new__(cls, comm: Comm | None = None) -> Any:
        """Subclasses of scripts call this with a communicator, as mpi4py's do."""
        return object.__new__(cls)

    def __init__(self, comm: Comm | None = None) -> None:
        super().__init__(comm._held if comm is not None else None)
        self._handle: int = comm._handle if comm is not None else 0

    @classmethod
    def _of(cls, held: Core | Callable[[], Core]) -> Any:
        comm = object.__new__(cls)  # a subclass of a script may want arguments
        Comm.__init__(comm)
        comm._held = held
        return comm

    @classmethod
    def _new(cls, core: Core, what: str) -> Any:
        comm = cls._of(core)
        comm._handle = here().keep(what)
        here().cores.append(core)
        return comm

    def __reduce__(self) -> Any:
        for name, comm in (("world", COMM_WORLD), ("self", COMM_SELF), ("null", COMM_NULL)):
            if self is comm:
                return _by_name, (name,)
        raise ValueError("a communicator cannot be sent to another rank")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"presage's mpi4py has no communicator method `{name}`; what it has is listed in"
            " docs/reference/mpi.md"
        )

    def Get_rank(self) -> int:
        return self._core("Get_rank()").rank

    def Get_size(self) -> int:
        return self._core("Get_size()").size

    def Get_name(self) -> str:
        core = self._core("Get_name()")
        return core.title

    def Set_name(self, name: str) -> None:
        self._core("Set_name()").title = name

    def Get_group(self) -> Group:
        calling("Get_group")
        return Group.of(self._core("Get_group()").ranks)

    def Get_topology(self) -> int:
        return UNDEFINED if self._core().grid is None else 1

    def Is_inter(self) -> bool:
        return False

    def Is_intra(self) -> bool:
        return True

    def Compare(self, other: Comm) -> int:
        one, two = self._core("Compare()"), other._core("Compare()")
        if one is two:
            return IDENT
        if one.ranks == two.ranks:
            return CONGRUENT
        return SIMILAR if set(one.ranks) == set(two.ranks) else UNEQUAL

    rank = property(Get_rank)
    size = property(Get_size)
    name = property(Get_name, Set_name)
    group = property(Get_group)
    topology = property(Get_topology)
    is_inter = property(Is_inter)
    is_intra = property(Is_intra)

    # Made from others: collective calls, so that all members agree on what the new one is called.

    def _agreed(self, name: str, mine: Any) -> tuple[Core, str, list[Any]]:
        """What each member says, and a name for what comes of it."""
        core, call, _, _ = self._begin(name)
        said = gathered(core, call, mine, results.everything)
        return core, f"{core.name}.{core.calls}", said

    def Dup(self, info: Any = None) -> Any:
        core, name, _ = self._agreed("Dup", None)
        new = Core(name, core.ranks, core.rank, grid=core.grid)
        return type(self)._new(new, "communicator of Dup")

    def Dup_with_info(self, info: Any) -> Any:
        return self.Dup()

    def Idup(self, info: Any = None) -> tuple[Any, Any]:
        """Made at once; the request has nothing to wait for."""
        from presage.mpi.request import at_once

        return self.Dup(), at_once()

    dup = Dup
    Clone = Dup
    clone = Dup

    def Split(self, color: int = 0, key: int = 0) -> Any:
        if color != UNDEFINED and color < 0:
            raise invalid(f"{calling('Split', color=color)}: a colour is 0 or more, or UNDEFINED")
        core, name, said = self._agreed("Split", [color, key])
        if color == UNDEFINED:
            return Intracomm()
        order = sorted((said[rank][1], rank) for rank in range(core.size) if said[rank][0] == color)
        ranks = [rank for _, rank in order]
        made = Core(f"{name}:{color}", tuple(core.ranks[r] for r in ranks), ranks.index(core.rank))
        return Intracomm._new(made, "communicator of Split")

    split = Split

    def Split_type(self, split_type: int, key: int = 0, info: Any = None) -> Any:
        """All ranks are on one machine."""
        return self.Split(UNDEFINED if split_type == UNDEFINED else 0, key)

    def Create(self, group: Group) -> Any:
        call = calling("Create")
        core = self._core(call)
        _check_group(core, group, call)
        _, name, said = self._agreed("Create", list(group.members))
        if here().number not in group.members:
            return Intracomm()
        for rank, members in enumerate(said):
            if core.ranks[rank] in group.members and tuple(members) != group.members:
                raise MPIException(
                    "collective-mismatch",
                    f"{call}: {named(core.ranks[rank])} names the group {members}, this one"
                    f" {list(group.members)}",
                )
        return self._member_of(f"{name}:{group.members[0]}", group, "communicator of Create")

    def Create_group(self, group: Group, tag: int = 0) -> Any:
        """Collective over the group alone."""
        call = calling("Create_group", group.members, tag=tag)
        core = self._core(call)
        _check_group(core, group, call)
        if here().number not in group.members:
            return Intracomm()
        name = f"{core.name}.{'-'.join(map(str, group.members))}.{tag}"
        count = sum(1 for each in here().cores if each.name.startswith(f"{name}."))
        made = self._member_of(f"{name}.{count}", group, "communicator of Create_group")
        gathered(made._core(), Call("Create_group"), None, results.nothing)
        return made

    def _member_of(self, name: str, group: Group, what: str) -> Any:
        core = Core(name, group.members, group.members.index(here().number))
        return Intracomm._new(core, what)

    def Free(self) -> None:
        call = calling("Free")
        core = self._core(call)
        if core in (here().world, here().own):
            raise invalid(f"{call}: {core.title} cannot be freed")
        core.freed = True
        here().drop(self._handle)

    def Disconnect(self) -> None:
        """Free it, once all its members do: collective."""
        call = calling("Disconnect")
        if self._core(call) in (here().world, here().own):
            raise invalid(f"{call}: {self._core().title} cannot be disconnected")
        self._agreed("Disconnect", None)
        self.Free()

    def Abort(self, errorcode: int = 0) -> NoReturn:
        """The whole program ends."""
        call = calling("Abort", errorcode=errorcode)
        raise MPIException("abort", f"{named(here().number)} called {call}")

    # What means nothing here, and does no harm.

    def Set_errhandler(self, errhandler: Any) -> None:
        """Errors always are exceptions."""

    def Get_errhandler(self) -> Any:
        return None

    def Get_info(self) -> Info:
        return Info()

    def Attach_buffer(self, buf: Any) -> None:
        """Buffered sends find room without it."""

    def Detach_buffer(self) -> None:
        """There is none."""

    @classmethod
    def Get_parent(cls) -> Comm:
        """The intercommunicator with those who spawned this rank, if it was spawned."""
        from presage.mpi.intercomm import Intercomm

        calling("Get_parent")
        core = here().parent
        parent: Comm = COMM_NULL if core is None or core.freed else Intercomm._of(core)
        return parent

    def Set_info(self, info: Any) -> None:
        """There are no hints to take."""

    def Set_attr(self, keyval: int, value: Any) -> None:
        self._core("Set_attr()").attributes[keyval] = value

    def Get_attr(self, keyval: int) -> Any:
        from presage.mpi.handle import TAG_UB

        return self._core("Get_attr()").attributes.get(keyval, TAG_UB if keyval == 0 else None)


class Intracomm(Comm):
    """A communicator of one group."""

    def Create_cart(self, dims: Sequence[int], periods: Any = None, reorder: bool = False) -> Any:
        from presage.mpi.cart import create_cart

        return create_cart(self, dims, periods)

    def Create_intercomm(
        self, local_leader: int, peer_comm: Comm, remote_leader: int, tag: int = 0
    ) -> Any:
        from presage.mpi.intercomm import create_intercomm

        return create_intercomm(self, local_leader, peer_comm, remote_leader, tag)

    def Spawn(
        self,
        command: Any,
        args: Any = None,
        maxprocs: int = 1,
        info: Any = None,
        root: int = 0,
        errcodes: list[int] | None = None,
    ) -> Any:
        from presage.mpi import spawn

        given = spawn.Given("Spawn", lambda: [(command, args, maxprocs, info)], root)
        made, counts = spawn.spawn(self, given)
        if errcodes is not None:
            errcodes[:] = [0] * sum(counts)
        return made

    def Spawn_multiple(
        self,
        command: Sequence[Any],
        args: Any = None,
        maxprocs: Any = None,
        info: Any = None,
        root: int = 0,
        errcodes: list[list[int]] | None = None,
    ) -> Any:
        from presage.mpi import spawn

        each = spawn.one_by_one(command, args, maxprocs, info)
        made, counts = spawn.spawn(self, spawn.Given("Spawn_multiple", each, root))
        if errcodes is not None:
            errcodes[:] = [[0] * count for count in counts]
        return made


def _check_group(core: Core, group: Group, call: str) -> None:
    strange = [rank for rank in group.members if rank not in core.ranks]
    if strange:
        raise invalid(f"{call}: the group has ranks outside of the communicator: {strange}")


COMM_WORLD: Intracomm = Intracomm._of(lambda: here().world)
COMM_SELF: Intracomm = Intracomm._of(lambda: here().own)
COMM_NULL = Comm()


def _by_name(name: str) -> Comm:
    return {"world": COMM_WORLD, "self": COMM_SELF, "null": COMM_NULL}[name]
