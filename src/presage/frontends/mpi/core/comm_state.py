"""A communicator, as one of its members holds it; one of two groups is made of three of these."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from presage.frontends.mpi.core.groups import TwoGroups
from presage.records import record

# A rank of the first world by its number; a spawned one as its process is called.
RankId = int | str


@record(eq=False)
class CommState:
    """A communicator, as one of its members holds it."""

    name: str  # the same for all members; names its mailboxes
    ranks: tuple[RankId, ...]  # the members, by number here
    rank: int
    title: str = ""  # Get_name
    calls: int = 0  # collective calls so far: names what they create
    owed: Owed = field(default_factory=lambda: defaultdict(deque))  # looked at later, by source
    freed: bool = False
    grid: Any = None  # of a Cartesian one
    attributes: dict[int, Any] = field(default_factory=dict)
    known: dict[int, Any] = field(default_factory=dict)  # attributes of the standard
    kept: dict[str, Any] = field(default_factory=dict)  # its error handler, its hints
    graph: Any = None  # of one with a graph: who its neighbours are
    sides: TwoGroups | None = None  # of the two groups of an intercommunicator, taken together
    whole: CommState | None = None  # of an intercommunicator: both groups, for collective calls
    far: CommState | None = None  # and the other group
    inbox: str = field(init=False)  # the mailbox of this member
    outbox: str = field(init=False)  # those of whom it can send to, before their number
    reach: tuple[RankId, ...] = field(init=False)  # whom it can send to
    boxes: dict[int, str] = field(default_factory=dict)  # mailboxes of those it has sent to

    def __post_init__(self) -> None:
        self.inbox = f"{self.name}/{self.rank}"
        self.outbox = self.name
        self.reach = self.ranks

    @cached_property
    def others(self) -> tuple[RankId, ...]:
        """The other members."""
        return tuple(rank for at, rank in enumerate(self.ranks) if at != self.rank)

    @property
    def size(self) -> int:
        return len(self.ranks)

    def box(self, dest: int) -> str:
        """The mailbox of a member that it can send to."""
        known = self.boxes.get(dest)
        if known is None:
            known = self.boxes[dest] = f"{self.outbox}/{dest}"
        return known


@record(frozen=True)
class PendingReceive:
    """A receive of a collective call that need not be complete for the caller to go on."""

    slot: int
    call: Any


Owed = defaultdict[int, deque[PendingReceive]]


def intercommunicator(
    name: str, groups: tuple[Sequence[RankId], Sequence[RankId]], titles: tuple[str, str], at: int
) -> CommState:
    """That of two groups, as the member with this number in both holds it."""
    near, far = tuple(groups[0]), tuple(groups[1])
    sides = TwoGroups(len(near), len(near) + len(far), titles, {})
    side = sides.of(at)
    own, others = (near, far) if side == 0 else (far, near)
    core = CommState(name, own, sides.local(at))
    core.whole = CommState(name, near + far, at, sides=sides)
    core.far = CommState(name, others, 0)
    core.reach = others
    core.inbox = f"{titles[side]} of {name}/{core.rank}"
    core.outbox = f"{titles[1 - side]} of {name}"
    return core


def both(core: CommState) -> tuple[CommState, CommState]:
    """Both groups of an intercommunicator as one, and the other group."""
    assert core.whole is not None and core.far is not None, "an intercommunicator"
    return core.whole, core.far
