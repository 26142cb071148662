"""`MPI.Intercomm`: communicators of two groups, whose ranks talk to those of the other group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from presage.mpi import results
from presage.mpi.comm import Comm, Intracomm
from presage.mpi.group import CONGRUENT, IDENT, SIMILAR, UNEQUAL, Group
from presage.mpi.handle import check_dest, check_tag
from presage.mpi.inter_buffers import InterCollectives
from presage.mpi.mistakes import MPIException, invalid
from presage.mpi.rank import Core, Who, calling, here, named
from presage.mpi.sides import MADE, Sides, both, intercommunicator
from presage.mpi.status import UNDEFINED
from presage.mpi.together import Call, gathered
from presage.process.context import Asking, blocking, exchange
from presage.process.ops import Recv, Send


class Intercomm(InterCollectives, Comm):
    """A communicator of two groups."""

    @classmethod
    def _new(cls, core: Core, what: str) -> Any:
        comm = super()._new(core, what)
        here().cores.append(both(core)[0])
        return comm

    def Get_remote_size(self) -> int:
        return len(self._core("Get_remote_size()").reach)

    def Get_remote_group(self) -> Group:
        calling("Get_remote_group")
        return Group.of(self._core("Get_remote_group()").reach)

    def Is_inter(self) -> bool:
        return True

    def Is_intra(self) -> bool:
        return False

    def Compare(self, other: Comm) -> int:
        one, two = self._core("Compare()"), other._core("Compare()")
        if one is two:
            return IDENT
        groups, others = (one.ranks, one.reach), (two.ranks, two.reach)
        if two.whole is None or {*map(frozenset, groups)} != {*map(frozenset, others)}:
            return UNEQUAL
        return CONGRUENT if groups == others else SIMILAR

    remote_size = property(Get_remote_size)
    remote_group = property(Get_remote_group)
    is_inter = property(Is_inter)
    is_intra = property(Is_intra)

    # Made from it.

    def _halves(self, whole: Core) -> tuple[Sides, list[Who], list[Who]]:
        sides = whole.sides
        assert sides is not None
        near, far = ([whole.ranks[at] for at in sides.group(side)] for side in (0, 1))
        return sides, near, far

    def Dup(self, info: Any = None) -> Any:
        whole, name, _ = self._agreed("Dup", None)
        sides, near, far = self._halves(whole)
        made = intercommunicator(name, (near, far), sides.titles, whole.rank)
        return type(self)._new(made, "communicator of Dup")

    dup = clone = Clone = Dup

    def Merge(self, high: bool = False) -> Any:
        """All as one group; the members that say `high` come last."""
        whole, name, said = self._agreed("Merge", bool(high))
        sides, near, far = self._halves(whole)
        for at, each in enumerate(said):
            if sides.of(at) == sides.of(whole.rank) and each != bool(high):
                raise MPIException(
                    "collective-mismatch",
                    f"{calling('Merge', high=high)}: {named(whole.ranks[at])}, of the same group,"
                    f" says high={each}",
                )
        ranks = tuple(far + near if said[0] and not said[-1] else near + far)
        made = Core(name, ranks, ranks.index(here().number))
        return Intracomm._new(made, "communicator of Merge")

    def Split(self, color: int = 0, key: int = 0) -> Any:
        """Those of both groups that name a colour; none, if it is named in one group only."""
        if color != UNDEFINED and color < 0:
            raise invalid(f"{calling('Split', color=color)}: a colour is 0 or more, or UNDEFINED")
        whole, name, said = self._agreed("Split", [color, key])
        sides = self._halves(whole)[0]
        order = sorted(range(whole.size), key=lambda at: (said[at][1], at))
        chosen = [
            [at for at in order if said[at][0] == color and sides.of(at) == side] for side in (0, 1)
        ]
        if color == UNDEFINED or not all(chosen):
            return Intercomm()
        near, far = ([whole.ranks[at] for at in group] for group in chosen)
        at = (near + far).index(here().number)
        made = intercommunicator(f"{name}:{color}", (near, far), sides.titles, at)
        return Intercomm._new(made, "communicator of Split")

    split = Split

    def Create(self, group: Group) -> NoReturn:
        _not_there("Create")

    def Create_group(self, group: Group, tag: int = 0) -> NoReturn:
        _not_there("Create_group")


def _not_there(name: str) -> NoReturn:
    raise invalid(
        f"{calling(name)}: presage's mpi4py cannot do this on an intercommunicator; what it can is"
        " listed in docs/reference/mpi.md"
    )


def create_intercomm(
    comm: Intracomm, local_leader: int, peer_comm: Comm, remote_leader: int, tag: int
) -> Any:
    """Two groups become one intercommunicator; their leaders meet on `peer_comm`."""
    name = "Create_intercomm"
    core, call, text, leader = comm._begin(name, local_leader)
    gathered(core, call, None, results.nothing)  # so that all know of each other's leader
    mine = None
    if core.rank == leader:
        peer = peer_comm._core(text)
        mine = _met(core, peer, check_dest(peer, remote_leader, text), check_tag(tag, text))
    title, is_first, others = gathered(core, call, mine, results.of_root(leader))
    groups: tuple[Sequence[Who], Sequence[Who]] = (core.ranks, others)
    at = core.rank if is_first else len(others) + core.rank
    made = intercommunicator(title, groups if is_first else groups[::-1], MADE, at)
    return Intercomm._new(made, f"communicator of {name}")


def _met(core: Core, peer: Core, other: int, tag: int) -> list[Any]:
    """What a leader learns: the name of the new one, whose group comes first, the other group."""
    text = calling("Create_intercomm", (peer.ranks[other],), remote_leader=other, tag=tag)
    if other == peer.rank:
        raise invalid(f"{text}: the leader of the other group cannot be this rank")
    call = Call("Create_intercomm", number=core.calls)
    mine = [f"{core.name}.{core.calls}", list(core.ranks)]
    theirs = blocking(_swapped(f"{peer.name} tag {tag}", peer.rank, other, call, mine))
    common = [named(who) for who in theirs[1] if who in core.ranks]
    if common:
        raise invalid(f"{text}: the groups have members in common: {', '.join(common)}")
    is_first = peer.rank < other
    return [(mine if is_first else theirs)[0], is_first, theirs[1]]


def _swapped(name: str, at: int, other: int, call: Call, mine: Any) -> Asking[Any]:
    message = (tuple(call), mine)
    yield from exchange(Send(f"{name}#{at}>{other}", message, buffered=True))
    (_, content), _ = yield from exchange(Recv(f"{name}#{other}>{at}"))
    return content
