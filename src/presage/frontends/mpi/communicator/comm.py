"""`MPI.Comm`: communicators, and how they are made from others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.buffers import BufferCollectives
from presage.frontends.mpi.collective.exchange import Call
from presage.frontends.mpi.collective.transport import gathered
from presage.frontends.mpi.communicator import grid
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.group import CONGRUENT, IDENT, SIMILAR, UNEQUAL, Group
from presage.frontends.mpi.core.handle import TAG_UB
from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call, named
from presage.frontends.mpi.core.status import UNDEFINED
from presage.frontends.mpi.data.extras import Unheeded
from presage.frontends.mpi.inter import spawn
from presage.frontends.mpi.inter.meeting import meet
from presage.frontends.mpi.point.request import at_once

COMM_TYPE_SHARED = 1

INTRA, CARTESIAN, INTER = "intra", "cartesian", "inter"  # kinds of communicators


class Comm(BufferCollectives, Unheeded):
    """A communicator.

    Which class a script gets for a new one follows from what the communicator is, so that the
    classes need not know each other.
    """

    _classes: ClassVar[dict[str, type[Comm]]] = {}

    def __init_subclass__(cls, kind: str = "") -> None:
        if kind:
            Comm._classes[kind] = cls

    def __new__(cls, comm: Comm | None = None) -> Any:
        """Subclasses of scripts call this with a communicator, as mpi4py's do."""
        return object.__new__(cls)

    def __init__(self, comm: Comm | None = None) -> None:
        super().__init__(comm._held if comm is not None else None)
        self._handle: int = comm._handle if comm is not None else 0

    @classmethod
    def _of(cls, held: CommState | Callable[[], CommState]) -> Any:
        comm = object.__new__(cls)  # a subclass of a script may want arguments
        Comm.__init__(comm)
        comm._held = held
        return comm

    @classmethod
    def _new(cls, core: CommState, what: str) -> Any:
        comm = cls._of(core)
        comm._handle = current_rank().keep(what)
        current_rank().cores.append(core)
        return comm

    @staticmethod
    def _made(core: CommState, what: str) -> Any:
        """A new communicator, as the script holds it."""
        return Comm._classes[_kind(core)]._new(core, f"communicator of {what}")

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
        return self._core("Get_name()").title

    def Set_name(self, name: str) -> None:
        self._core("Set_name()").title = name

    def Get_group(self) -> Group:
        enter_call("Get_group")
        return Group.of(self._core("Get_group()").ranks)

    def Get_topology(self) -> int:
        return UNDEFINED if self._core().grid is None else 1

    def Is_inter(self) -> bool:
        return isinstance(self, Comm._classes[INTER])

    def Is_intra(self) -> bool:
        return not self.Is_inter()

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

    def _agreed(self, name: str, mine: Any) -> tuple[CommState, str, list[Any]]:
        """What each member says, and a name for what comes of it."""
        core, call, _, _ = self._begin(name)
        said = gathered(core, call, mine, results.everything)
        return core, f"{core.name}.{core.calls}", said

    def Dup(self, info: Any = None) -> Any:
        core, name, _ = self._agreed("Dup", None)
        new = CommState(name, core.ranks, core.rank, grid=core.grid)
        return type(self)._new(new, "communicator of Dup")

    def Dup_with_info(self, info: Any) -> Any:
        return self.Dup()

    def Idup(self, info: Any = None) -> tuple[Any, Any]:
        """Made at once; the request has nothing to wait for."""
        return self.Dup(), at_once()

    dup = clone = Clone = Dup

    def _coloured(self, color: int, key: int) -> tuple[CommState, str, list[Any]]:
        if color != UNDEFINED and color < 0:
            call = enter_call("Split", color=color)
            raise invalid(f"{call}: a colour is 0 or more, or UNDEFINED")
        return self._agreed("Split", [color, key])

    def Split(self, color: int = 0, key: int = 0) -> Any:
        core, name, said = self._coloured(color, key)
        if color == UNDEFINED:
            return Intracomm()
        order = sorted((said[rank][1], rank) for rank in range(core.size) if said[rank][0] == color)
        ranks = [rank for _, rank in order]
        made = CommState(
            f"{name}:{color}", tuple(core.ranks[r] for r in ranks), ranks.index(core.rank)
        )
        return self._made(made, "Split")

    split = Split

    def Split_type(self, split_type: int, key: int = 0, info: Any = None) -> Any:
        """All ranks are on one machine."""
        return self.Split(UNDEFINED if split_type == UNDEFINED else 0, key)

    def Create(self, group: Group) -> Any:
        call = enter_call("Create")
        core = self._core(call)
        _check_group(core, group, call)
        _, name, said = self._agreed("Create", list(group.members))
        if current_rank().number not in group.members:
            return Intracomm()
        for rank, members in enumerate(said):
            if core.ranks[rank] in group.members and tuple(members) != group.members:
                raise MPIException(
                    "collective-mismatch",
                    f"{call}: {named(core.ranks[rank])} names the group {members}, this one"
                    f" {list(group.members)}",
                )
        return self._member_of(f"{name}:{group.members[0]}", group, "Create")

    def Create_group(self, group: Group, tag: int = 0) -> Any:
        """Collective over the group alone."""
        call = enter_call("Create_group", group.members, tag=tag)
        core = self._core(call)
        _check_group(core, group, call)
        if current_rank().number not in group.members:
            return Intracomm()
        name = f"{core.name}.{'-'.join(map(str, group.members))}.{tag}"
        count = sum(1 for each in current_rank().cores if each.name.startswith(f"{name}."))
        made = self._member_of(f"{name}.{count}", group, "Create_group")
        gathered(made._core(), Call("Create_group"), None, results.nothing)
        return made

    def _member_of(self, name: str, group: Group, what: str) -> Any:
        core = CommState(name, group.members, group.members.index(current_rank().number))
        return self._made(core, what)

    def Free(self) -> None:
        call = enter_call("Free")
        core = self._core(call)
        if core in (current_rank().world, current_rank().own):
            raise invalid(f"{call}: {core.title} cannot be freed")
        core.freed = True
        current_rank().drop(self._handle)

    def Disconnect(self) -> None:
        """Free it, once all its members do: collective."""
        call = enter_call("Disconnect")
        if self._core(call) in (current_rank().world, current_rank().own):
            raise invalid(f"{call}: {self._core().title} cannot be disconnected")
        self._agreed("Disconnect", None)
        self.Free()

    def Abort(self, errorcode: int = 0) -> NoReturn:
        """The whole program ends."""
        call = enter_call("Abort", errorcode=errorcode)
        raise MPIException("abort", f"{named(current_rank().number)} called {call}")

    # What means nothing here, and does no harm.

    def Attach_buffer(self, buf: Any) -> None:
        """Buffered sends find room without it."""

    def Detach_buffer(self) -> None:
        """There is none."""

    @classmethod
    def Get_parent(cls) -> Comm:
        """The intercommunicator with those who spawned this rank, if it was spawned."""
        enter_call("Get_parent")
        core = current_rank().parent
        if core is None or core.freed:
            return COMM_NULL
        parent: Comm = Comm._classes[INTER]._of(core)
        return parent

    def Set_attr(self, keyval: int, value: Any) -> None:
        self._core("Set_attr()").attributes[keyval] = value

    def Get_attr(self, keyval: int) -> Any:
        return self._core("Get_attr()").attributes.get(keyval, TAG_UB if keyval == 0 else None)


class Intracomm(Comm, kind=INTRA):
    """A communicator of one group."""

    def Create_cart(self, dims: Sequence[int], periods: Any = None, reorder: bool = False) -> Any:
        """The first ranks become a grid; the others get a null communicator."""
        shape = grid.grid_of(dims, periods)
        core = self._core("Create_cart()")
        if shape.size > core.size:
            call = enter_call("Create_cart", dims=list(shape.dims))
            raise invalid(f"{call}: a grid of {shape.size} ranks, but there are {core.size}")
        core, name, _ = self._agreed("Create_cart", [list(shape.dims), list(shape.periods)])
        if core.rank >= shape.size:
            return Comm._classes[CARTESIAN]()
        made = CommState(f"{name}:grid", core.ranks[: shape.size], core.rank, grid=shape)
        return self._made(made, "Create_cart")

    def Create_intercomm(
        self, local_leader: int, peer_comm: Comm, remote_leader: int, tag: int = 0
    ) -> Any:
        """Two groups become one intercommunicator; their leaders meet on `peer_comm`."""
        made = meet(self, local_leader, peer_comm, remote_leader, tag)
        return self._made(made, "Create_intercomm")

    def Spawn(
        self,
        command: Any,
        args: Any = None,
        maxprocs: int = 1,
        info: Any = None,
        root: int = 0,
        errcodes: list[int] | None = None,
    ) -> Any:
        given = spawn.Given("Spawn", lambda: [(command, args, maxprocs, info)], root)
        core, counts = spawn.spawn(self, given)
        if errcodes is not None:
            errcodes[:] = [0] * sum(counts)
        return self._made(core, "Spawn")

    def Spawn_multiple(
        self,
        command: Sequence[Any],
        args: Any = None,
        maxprocs: Any = None,
        info: Any = None,
        root: int = 0,
        errcodes: list[list[int]] | None = None,
    ) -> Any:
        each = spawn.one_by_one(command, args, maxprocs, info)
        core, counts = spawn.spawn(self, spawn.Given("Spawn_multiple", each, root))
        if errcodes is not None:
            errcodes[:] = [[0] * count for count in counts]
        return self._made(core, "Spawn_multiple")


def _kind(core: CommState) -> str:
    if core.whole is not None:
        return INTER
    return INTRA if core.grid is None else CARTESIAN


def _check_group(core: CommState, group: Group, call: str) -> None:
    strange = [rank for rank in group.members if rank not in core.ranks]
    if strange:
        raise invalid(f"{call}: the group has ranks outside of the communicator: {strange}")


COMM_WORLD: Intracomm = Intracomm._of(lambda: current_rank().world)
COMM_SELF: Intracomm = Intracomm._of(lambda: current_rank().own)
COMM_NULL = Comm()


def _by_name(name: str) -> Comm:
    return {"world": COMM_WORLD, "self": COMM_SELF, "null": COMM_NULL}[name]
