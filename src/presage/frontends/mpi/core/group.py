"""`MPI.Group`: an ordered set of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.frontends.mpi.core.comm_state import RankId
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.numbered import StateHandle, family
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.core.status import PROC_NULL, UNDEFINED

IDENT, CONGRUENT, SIMILAR, UNEQUAL = range(4)


class GroupState:
    """An ordered set of ranks, however many handles stand for it."""

    def __init__(self, ranks: Sequence[RankId], handle: int = 0) -> None:
        self.ranks = tuple(ranks)
        self.handle = handle
        self.freed = False


@family
class Group(StateHandle):
    """Ranks, numbered anew."""

    _state: GroupState | None

    def __new__(cls, group: Any = None) -> Any:
        return cls._copied(group)

    @classmethod
    def of(cls, ranks: Sequence[RankId], what: str = "group") -> Any:
        return cls._of(GroupState(ranks, current_rank().keep(what) if what else 0))

    @property
    def members(self) -> tuple[RankId, ...]:
        if self._state is None or self._state.freed:
            text = f"{enter_call('Group')}: the group is null, or was freed before"
            raise invalid(text, "ERR_GROUP")
        return self._state.ranks

    def Get_size(self) -> int:
        return len(self.members)

    def Get_rank(self) -> int:
        number = current_rank().number
        return self.members.index(number) if number in self.members else UNDEFINED

    def Free(self) -> None:
        """Let go of it."""
        state = self._state
        if state is None or state.freed or state is GROUP_EMPTY._state:
            text = f"{enter_call('Group.Free')}: the group cannot be freed"
            raise invalid(text, "ERR_GROUP")
        current_rank().drop(state.handle)
        state.freed = True

    def Dup(self) -> Any:
        return _made(type(self), "Dup", self.members)

    def Incl(self, ranks: Sequence[int]) -> Any:
        return _made(type(self), "Incl", [self._member(rank) for rank in ranks])

    def Excl(self, ranks: Sequence[int]) -> Any:
        out = {self._member(rank) for rank in ranks}
        return _made(type(self), "Excl", [rank for rank in self.members if rank not in out])

    def Range_incl(self, ranks: Sequence[Any]) -> Any:
        return self.Incl(_ranges(ranks))

    def Range_excl(self, ranks: Sequence[Any]) -> Any:
        return self.Excl(_ranges(ranks))

    def _member(self, rank: int) -> RankId:
        if not 0 <= rank < len(self.members):
            raise invalid(
                f"{enter_call('Group')}: there is no rank {rank} in the group", "ERR_RANK"
            )
        return self.members[rank]

    @classmethod
    def Union(cls, group1: Group, group2: Group) -> Any:
        more = [rank for rank in group2.members if rank not in group1.members]
        return _made(cls, "Union", [*group1.members, *more])

    @classmethod
    def Intersection(cls, group1: Group, group2: Group) -> Any:
        return _made(cls, "Intersection", [r for r in group1.members if r in group2.members])

    @classmethod
    def Difference(cls, group1: Group, group2: Group) -> Any:
        return _made(cls, "Difference", [r for r in group1.members if r not in group2.members])

    Intersect = Intersection

    def Compare(self, group: Group) -> int:
        if self.members == group.members:
            return IDENT
        return SIMILAR if set(self.members) == set(group.members) else UNEQUAL

    def Translate_ranks(
        self, ranks: Sequence[int] | None = None, group: Group | None = None
    ) -> list[int]:
        """What ranks of this group are called in another."""
        wanted = range(len(self.members)) if ranks is None else ranks
        into = current_rank().world.ranks if group is None else group.members
        return [PROC_NULL if rank == PROC_NULL else self._called(rank, into) for rank in wanted]

    def _called(self, rank: int, into: tuple[RankId, ...]) -> int:
        member = self._member(rank)
        return into.index(member) if member in into else UNDEFINED

    @classmethod
    def Create_from_session_pset(cls, session: Any, pset_name: str) -> Any:
        """The ranks of a set that a session knows."""
        return session.Create_group(pset_name)

    size = property(Get_size)
    rank = property(Get_rank)


def _made(cls: type[Group], name: str, ranks: Sequence[RankId]) -> Any:
    enter_call(f"Group.{name}")
    return cls.of(ranks)


def _ranges(ranges: Sequence[Any]) -> list[int]:
    return [
        rank
        for first, last, step in ranges
        for rank in range(first, last + (1 if step > 0 else -1), step)
    ]


GROUP_NULL: Group = Group()
GROUP_EMPTY: Group = Group()
GROUP_EMPTY._state = GroupState(())
