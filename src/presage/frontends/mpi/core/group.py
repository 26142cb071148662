"""`MPI.Group`: an ordered set of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.frontends.mpi.core.comm_state import RankId
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.core.status import PROC_NULL, UNDEFINED

IDENT, CONGRUENT, SIMILAR, UNEQUAL = range(4)


class Group:
    """Ranks, numbered anew."""

    def __init__(self, group: Group | None = None) -> None:
        self._ranks: tuple[RankId, ...] = group._ranks if group else ()
        self._handle = 0
        self._is_null = True
        self.freed = False

    @classmethod
    def of(cls, ranks: Sequence[RankId], what: str = "group") -> Group:
        group = cls()
        group._ranks = tuple(ranks)
        group._is_null = False
        group._handle = current_rank().keep(what) if what else 0
        return group

    @property
    def members(self) -> tuple[RankId, ...]:
        if self._is_null or self.freed:
            raise invalid(f"{enter_call('Group')}: the group is null, or was freed before")
        return self._ranks

    def __bool__(self) -> bool:
        return not self._is_null and not self.freed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self is other or (bool(self) == bool(other) and self._ranks == other._ranks)

    __hash__ = object.__hash__

    def Get_size(self) -> int:
        return len(self.members)

    def Get_rank(self) -> int:
        number = current_rank().number
        return self.members.index(number) if number in self.members else UNDEFINED

    def Free(self) -> None:
        if not self or not self._handle:
            raise invalid(f"{enter_call('Group.Free')}: the group cannot be freed")
        current_rank().drop(self._handle)
        self.freed = True

    def Dup(self) -> Group:
        return _made("Dup", self.members)

    def Incl(self, ranks: Sequence[int]) -> Group:
        return _made("Incl", [self._member(rank) for rank in ranks])

    def Excl(self, ranks: Sequence[int]) -> Group:
        out = {self._member(rank) for rank in ranks}
        return _made("Excl", [rank for rank in self.members if rank not in out])

    def Range_incl(self, ranks: Sequence[Any]) -> Group:
        return self.Incl(_ranges(ranks))

    def Range_excl(self, ranks: Sequence[Any]) -> Group:
        return self.Excl(_ranges(ranks))

    def _member(self, rank: int) -> RankId:
        if not 0 <= rank < len(self.members):
            raise invalid(f"{enter_call('Group')}: there is no rank {rank} in the group")
        return self.members[rank]

    @classmethod
    def Union(cls, group1: Group, group2: Group) -> Group:
        more = [rank for rank in group2.members if rank not in group1.members]
        return _made("Union", [*group1.members, *more])

    @classmethod
    def Intersection(cls, group1: Group, group2: Group) -> Group:
        return _made("Intersection", [r for r in group1.members if r in group2.members])

    @classmethod
    def Difference(cls, group1: Group, group2: Group) -> Group:
        return _made("Difference", [r for r in group1.members if r not in group2.members])

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

    size = property(Get_size)
    rank = property(Get_rank)


def _made(name: str, ranks: Sequence[RankId]) -> Group:
    enter_call(f"Group.{name}")
    return Group.of(ranks)


def _ranges(ranges: Sequence[Any]) -> list[int]:
    return [
        rank
        for first, last, step in ranges
        for rank in range(first, last + (1 if step > 0 else -1), step)
    ]


GROUP_NULL = Group()
GROUP_EMPTY = Group()
GROUP_EMPTY._is_null = False
