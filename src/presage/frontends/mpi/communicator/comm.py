"""`MPI.Comm`: communicators, and how they are made from others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call
from presage.frontends.mpi.collective.persistent import PersistentCollectives
from presage.frontends.mpi.collective.transport import gathered
from presage.frontends.mpi.communicator.extended import Extended
from presage.frontends.mpi.communicator.failures import Failures
from presage.frontends.mpi.communicator.making import Spawning, Topologies
from presage.frontends.mpi.core.attributes import Attributed
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.error_codes import added
from presage.frontends.mpi.core.group import CONGRUENT, IDENT, SIMILAR, UNEQUAL, Group
from presage.frontends.mpi.core.handle import TAG_UB
from presage.frontends.mpi.core.mistakes import Aborted, MPIException, invalid, wrong_type
from presage.frontends.mpi.core.numbered import family
from presage.frontends.mpi.core.rank import current_rank, enter_call, named
from presage.frontends.mpi.core.status import ANY_SOURCE, UNDEFINED
from presage.frontends.mpi.data.constants import KEYS, NUMBERS
from presage.frontends.mpi.data.errhandlers import Handled
from presage.frontends.mpi.inter import spawn
from presage.frontends.mpi.inter.meeting import meet
from presage.frontends.mpi.point.request import at_once

COMM_TYPE_SHARED = 1

TAG_UB_KEY = 0
INTRA, CARTESIAN, INTER = "intra", "cartesian", "inter"  # kinds of communicators
GRAPHS = {2: "graph", 3: "distributed graph"}


@family
class Comm(PersistentCollectives, Failures, Extended, Attributed, Handled):
    """A communicator.

    Which class a script gets for a new one follows from what the communicator is, so that the
    classes need not know each other.
    """

    _classes: ClassVar[dict[str, type[Comm]]] = {}
    _is_for_two: ClassVar[bool | None] = None  # None: for either

    _predefined_keys = (TAG_UB_KEY, spawn.APPNUM, *(NUMBERS[name] for name in KEYS.split()))

    def __init_subclass__(cls, kind: str = "") -> None:
        if kind:
            Comm._classes[kind] = cls

    def __new__(cls, comm: Any = None, *args: Any, **kwargs: Any) -> Any:
        """A handle that stands for the same; subclasses of scripts call this, as mpi4py's do."""
        made = object.__new__(cls)
        made._held, made._handle = None, 0
        if comm is not None:
            made._become(cls._checked(comm))
            if made and cls._is_for_two in (True, False) and made.Is_inter() != cls._is_for_two:
                raise wrong_type(f"MPI.{cls.__name__}() takes one of its kind")
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """All is done by then."""

    def _become(self, other: Any) -> None:
        self._held, self._handle = other._held, other._handle

    @classmethod
    def _of(cls, held: CommState | Callable[[], CommState]) -> Any:
        comm = Comm.__new__(cls)  # a subclass of a script may want arguments
        comm._held = held
        return comm

    @classmethod
    def _new(cls, core: CommState, what: str) -> Any:
        comm = cls._of(core)
        comm._handle = current_rank().keep(what)
        current_rank().cores.append(core)
        return comm

    def _null(self, kind: str) -> Any:
        return Comm._classes[kind]()

    @staticmethod
    def _made(core: CommState, what: str) -> Any:
        """A new communicator, as the script holds it."""
        return Comm._classes[_kind(core)]._new(core, f"communicator of {what}")

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
        """Its name."""
        return "MPI_COMM_NULL" if self._held is None else self._core("Get_name()").title

    def Set_name(self, name: str) -> None:
        self._core("Set_name()").title = name

    def Get_group(self) -> Any:
        enter_call("Get_group")
        return Group.of(self._core("Get_group()").ranks)

    def Get_topology(self) -> int:
        core = self._core("Get_topology()")
        if core.graph is not None:
            return int(core.graph.topology)
        return UNDEFINED if core.grid is None else 1

    def Is_inter(self) -> bool:
        """Whether it has two groups."""
        return self._core("Is_inter()").whole is not None

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
    is_topo = property(lambda self: self.Get_topology() != UNDEFINED)

    def _attributes(self) -> dict[int, Any]:
        return self._core("Get_attr").attributes

    def _kept(self) -> dict[str, Any]:
        return self._core("this call").kept

    def _predefined_attr(self, keyval: int) -> Any:
        core = self._core("Get_attr")
        known = {TAG_UB_KEY: TAG_UB, NUMBERS["IO"]: ANY_SOURCE, NUMBERS["WTIME_IS_GLOBAL"]: 0}
        known[NUMBERS["LASTUSEDCODE"]] = added().last
        known[NUMBERS["UNIVERSE_SIZE"]] = len(current_rank().world.ranks)
        return core.known.get(keyval, known.get(keyval))

    # Made from others: collective calls, so that all members agree on what the new one is called.

    def _agreed(self, name: str, mine: Any) -> tuple[CommState, str, list[Any]]:
        """What each member says, and a name for what comes of it."""
        core, call, _, _ = self._begin(name)
        said = gathered(core, call, mine, results.everything)
        return core, f"{core.name}.{core.calls}", said

    def Dup(self, info: Any = None) -> Any:
        core, name, _ = self._agreed("Dup", None)
        new = CommState(name, core.ranks, core.rank, grid=core.grid, graph=core.graph)
        return self._copied(type(self)._new(new, "communicator of Dup"), info)

    def _copied(self, new: Any, info: Any) -> Any:
        """A duplicate, with what the script keeps there."""
        self._copy_attributes_to(new)
        new._kept().update({k: v for k, v in self._kept().items() if k == "errhandler"})
        hints = self._kept().get("info", {}) if info is None else info.hints
        new._kept()["info"] = dict(hints)
        return new

    def Dup_with_info(self, info: Any) -> Any:
        """A duplicate with other hints."""
        return self.Dup(info)

    def Idup(self, info: Any = None) -> tuple[Any, Any]:
        """Made at once; the request has nothing to wait for."""
        return self.Dup(info), at_once()

    def Idup_with_info(self, info: Any) -> tuple[Any, Any]:
        """The same, with other hints."""
        return self.Dup(info), at_once()

    def Clone(self) -> Any:
        """A duplicate."""
        return self.Dup()

    dup = clone = Clone

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
        """All ranks are on one machine, of which no more is known."""
        known = split_type in (COMM_TYPE_SHARED, NUMBERS["COMM_TYPE_RESOURCE_GUIDED"])
        if split_type == NUMBERS["COMM_TYPE_HW_GUIDED"] and info:
            known = info.Get("mpi_hw_resource_type") == "mpi_shared_memory"
        return self.Split(0 if known else UNDEFINED, key)

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
        return _by_members(Comm, group.members, f"{core.name}.{tag}", "Create_group")

    def _member_of(self, name: str, group: Group, what: str) -> Any:
        core = CommState(name, group.members, group.members.index(current_rank().number))
        return self._made(core, what)

    def Free(self) -> None:
        call = enter_call("Free")
        core = self._core(call)
        if core in (current_rank().world, current_rank().own):
            raise invalid(f"{call}: {core.title} cannot be freed", "ERR_COMM")
        self._delete_attributes()
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
        raise Aborted(f"{named(current_rank().number)} called {call}", errorcode)

    @classmethod
    def Get_parent(cls) -> Any:
        """The intercommunicator with those who spawned this rank, if it was spawned."""
        enter_call("Get_parent")
        core = current_rank().parent
        if core is None or core.freed:
            return Comm._classes[INTER]()
        return Comm._classes[INTER]._of(core)


class Intracomm(Comm, Spawning, Topologies, kind=INTRA):
    """A communicator of one group."""

    _is_for_two = False

    @classmethod
    def Create_from_group(
        cls, group: Group, stringtag: str = "org.mpi4py", info: Any = None, errhandler: Any = None
    ) -> Any:
        """Collective over the group; it needs no communicator to begin with."""
        call = enter_call("Create_from_group", stringtag=stringtag)
        members = group.members
        if current_rank().number not in members:
            raise invalid(f"{call}: this rank is not in the group", "ERR_GROUP")
        made = _by_members(cls, members, f"from group {stringtag}", "Create_from_group")
        if errhandler is not None:
            made.Set_errhandler(errhandler)
        return made

    def Create_intercomm(
        self, local_leader: int, peer_comm: Comm, remote_leader: int, tag: int = 0
    ) -> Any:
        """Two groups become one intercommunicator; their leaders meet on `peer_comm`."""
        made = meet(self, local_leader, peer_comm, remote_leader, tag)
        return self._made(made, "Create_intercomm")


def _by_members(cls: type[Comm], members: Sequence[Any], label: str, what: str) -> Any:
    """A communicator that its members alone make; they know its name without asking anyone."""
    name = f"{label}.{'-'.join(map(str, members))}"
    count = sum(1 for each in current_rank().cores if each.name.startswith(f"{name}."))
    core = CommState(f"{name}.{count}", tuple(members), members.index(current_rank().number))
    made = cls._made(core, what)
    gathered(made._core(), Call(what), None, results.nothing)
    return made


def _kind(core: CommState) -> str:
    if core.whole is not None:
        return INTER
    if core.graph is not None:
        return GRAPHS[core.graph.topology]
    return INTRA if core.grid is None else CARTESIAN


def _check_group(core: CommState, group: Group, call: str) -> None:
    strange = [rank for rank in group.members if rank not in core.ranks]
    if strange:
        raise invalid(f"{call}: the group has ranks outside of the communicator: {strange}")


COMM_WORLD: Intracomm = Intracomm._of(lambda: current_rank().world)
COMM_SELF: Intracomm = Intracomm._of(lambda: current_rank().own)
COMM_NULL: Comm = Comm()
