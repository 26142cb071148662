"""The two groups of an intercommunicator, and who sends to whom in a collective call over both.

For collective calls the groups are one: the members of the first, then those of the second, are
numbered through. Of the root, those in its own group know only that it is one of them; MPI has them
say `PROC_NULL`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.records import NamedTuple

NO_ROOT = -1
ONE_OF_US = (-2, -3)  # the root is in the group of the caller: by group

FROM_ROOT = ("bcast", "scatter")
TO_ROOT = ("gather", "reduce")
CROSSWISE = ("barrier", "allgather", "alltoall", "allreduce")

SPAWNED = ("parents", "children")  # what the two groups are called
MADE = ("group 0", "group 1")


def senders(comm: str) -> str:
    """Whose messages come to a mailbox of `comm`: of two groups, those of the other."""
    for one, other in (SPAWNED, SPAWNED[::-1], MADE, MADE[::-1]):
        if comm.startswith(f"{one} of "):
            return other + comm.removeprefix(one)
    return comm


class TwoGroups(NamedTuple):
    """Two groups numbered through."""

    first: int  # how many are in the first group
    size: int  # in both
    titles: tuple[str, str]
    heard: dict[int, list[Any]]  # what members said of each of their calls, by number

    def of(self, at: int) -> int:
        return int(at >= self.first)

    def local(self, at: int) -> int:
        """The number of a member in its own group."""
        return at - self.first * self.of(at)

    def label(self, at: int) -> str:
        """What traces call a member: `0 of children`."""
        return f"{self.local(at)} of {self.titles[self.of(at)]}"

    def group(self, side: int) -> range:
        return range(self.first) if side == 0 else range(self.first, self.size)

    def other(self, at: int) -> range:
        return self.group(1 - self.of(at))

    def of_root(self, root: int) -> int:
        return ONE_OF_US.index(root) if root in ONE_OF_US else self.of(root)

    def agree(self, root: int, at: int, other_root: int, other_at: int) -> bool:
        """Whether what two members say of the root can both be true."""
        if NO_ROOT in (root, other_root):
            return root == other_root
        if self.of_root(root) != self.of_root(other_root):
            return False
        if root >= 0 and other_root >= 0:
            return root == other_root
        return root != other_at and other_root != at

    def root_text(self, root: int, at: int) -> str:
        """The root as the member gave it."""
        if root in ONE_OF_US:
            return "MPI.PROC_NULL"
        return "MPI.ROOT" if root == at else str(self.local(root))

    def getters(self, kind: str, root: int) -> Sequence[int]:
        """Who gets a result, as far as it is known to whoever knows this root."""
        if kind in FROM_ROOT:
            return self.group(1 - self.of_root(root))
        if kind in TO_ROOT:
            return (root,)
        return range(self.size)

    def flows(self, kind: str, root: int, at: int) -> tuple[Sequence[int], Sequence[int]]:
        """Whom a member has something for, and whose contributions its result depends on."""
        other = self.other(at)
        if kind in CROSSWISE:
            return other, other
        if root == at:
            return (other, ()) if kind in FROM_ROOT else ((), other)
        if root in ONE_OF_US:
            return (), ()
        return ((), (root,)) if kind in FROM_ROOT else ((root,), ())
