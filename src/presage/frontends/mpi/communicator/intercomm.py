"""`MPI.Intercomm`: communicators of two groups, whose ranks talk to those of the other group."""

from __future__ import annotations

from typing import Any, NoReturn

from presage.frontends.mpi.communicator.comm import INTER, Comm
from presage.frontends.mpi.core.comm_state import CommState, RankId, both, intercommunicator
from presage.frontends.mpi.core.group import CONGRUENT, IDENT, SIMILAR, UNEQUAL, Group
from presage.frontends.mpi.core.groups import MADE, TwoGroups
from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call, named
from presage.frontends.mpi.core.status import UNDEFINED
from presage.frontends.mpi.inter.collectives import InterCollectives


class Intercomm(InterCollectives, Comm, kind=INTER):
    """A communicator of two groups."""

    _is_for_two = True

    @classmethod
    def Create_from_groups(
        cls,
        local_group: Group,
        local_leader: int,
        remote_group: Group,
        remote_leader: int,
        stringtag: str = "org.mpi4py",
        info: Any = None,
        errhandler: Any = None,
    ) -> Any:
        """Two groups that know each other become one; they need no communicator to begin with."""
        call = enter_call("Create_from_groups", stringtag=stringtag)
        own, others = local_group.members, remote_group.members
        me = current_rank().number
        if me not in own or set(own) & set(others):
            raise invalid(f"{call}: the groups have to differ, and this rank be in its own")
        is_first = str(own) < str(others)
        near, far = (own, others) if is_first else (others, own)
        label = f"from groups {stringtag}.{near}.{far}"
        count = sum(1 for each in current_rank().cores if each.name.startswith(f"{label}."))
        at = own.index(me) + (0 if is_first else len(near))
        core = intercommunicator(f"{label}.{count}", (near, far), MADE, at)
        made = cls._made(core, "Create_from_groups")
        made.barrier()
        if errhandler is not None:
            made.Set_errhandler(errhandler)
        return made

    @classmethod
    def _new(cls, core: CommState, what: str) -> Any:
        comm = super()._new(core, what)
        current_rank().cores.append(both(core)[0])
        return comm

    def Get_remote_size(self) -> int:
        return len(self._core("Get_remote_size()").reach)

    def Get_remote_group(self) -> Any:
        enter_call("Get_remote_group")
        return Group.of(self._core("Get_remote_group()").reach)

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

    # Made from it.

    def _halves(self, whole: CommState) -> tuple[TwoGroups, list[RankId], list[RankId]]:
        sides = whole.sides
        assert sides is not None
        near, far = ([whole.ranks[at] for at in sides.group(side)] for side in (0, 1))
        return sides, near, far

    def Dup(self, info: Any = None) -> Any:
        whole, name, _ = self._agreed("Dup", None)
        sides, near, far = self._halves(whole)
        made = intercommunicator(name, (near, far), sides.titles, whole.rank)
        return self._copied(type(self)._new(made, "communicator of Dup"), info)

    def Merge(self, high: bool = False) -> Any:
        """All as one group; the members that say `high` come last."""
        whole, name, said = self._agreed("Merge", bool(high))
        sides, near, far = self._halves(whole)
        for at, each in enumerate(said):
            if sides.of(at) == sides.of(whole.rank) and each != bool(high):
                raise MPIException(
                    "collective-mismatch",
                    f"{enter_call('Merge', high=high)}: {named(whole.ranks[at])}, of the same"
                    f" group, says high={each}",
                )
        ranks = tuple(far + near if said[0] and not said[-1] else near + far)
        made = CommState(name, ranks, ranks.index(current_rank().number))
        return self._made(made, "Merge")

    def Split(self, color: int = 0, key: int = 0) -> Any:
        """Those of both groups that name a colour; none, if it is named in one group only."""
        whole, name, said = self._coloured(color, key)
        sides = self._halves(whole)[0]
        order = sorted(range(whole.size), key=lambda at: (said[at][1], at))
        chosen = [
            [at for at in order if said[at][0] == color and sides.of(at) == side] for side in (0, 1)
        ]
        if color == UNDEFINED or not all(chosen):
            return Intercomm()
        near, far = ([whole.ranks[at] for at in group] for group in chosen)
        at = (near + far).index(current_rank().number)
        made = intercommunicator(f"{name}:{color}", (near, far), sides.titles, at)
        return self._made(made, "Split")

    split = Split

    def Create(self, group: Group) -> NoReturn:
        _not_there("Create", self)

    def Create_group(self, group: Group, tag: int = 0) -> NoReturn:
        _not_there("Create_group", self)


def _not_there(name: str, comm: Any) -> NoReturn:
    comm._core(name)
    raise invalid(
        f"{enter_call(name)}: presage's mpi4py cannot do this on an intercommunicator; what it can"
        " is listed in docs/reference/mpi.md"
    )
