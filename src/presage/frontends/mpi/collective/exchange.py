"""What members say to each other in a collective call, and that all of them must agree.

Each pair of members has a channel of its own, apart from point-to-point messages, which keeps
order. A receive that the caller need not wait for is *pending*, and looked at later.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from presage.frontends.mpi.core.comm_state import CommState, PendingReceive
from presage.frontends.mpi.core.groups import NO_ROOT, TwoGroups
from presage.frontends.mpi.core.mistakes import MPIException
from presage.frontends.mpi.core.rank import current_rank, named
from presage.process.context import blocking, meet, post, wait_any
from presage.process.ops import Recv, Send


class Call(msgspec.Struct, frozen=True):
    """What a rank says of its collective call; all must say the same."""

    kind: str  # the name of the call
    root: int = NO_ROOT
    op: str = ""
    sign: str = ""  # of the elements; empty: not compared
    elements: int = -1  # how many; -1: not compared
    number: int = 0  # of collective calls on the communicator before it

    @property
    def said(self) -> tuple[Any, ...]:
        """As other ranks get it."""
        return msgspec.structs.astuple(self)

    def describe(self, core: CommState, at: int) -> str:
        root = self.root if core.sides is None else core.sides.root_text(self.root, at)
        given = [f"root={root}"] if self.root != NO_ROOT else []
        given += [f"op={self.op}"] if self.op else []
        given += [f"count={self.elements}"] if self.elements >= 0 else []
        given += [f"type={self.sign}"] if self.sign else []
        who = core.ranks[at]
        place = current_rank().places.get((core.name, who, self.number), "another place")
        return f"{named(who)} calls {self.kind}({', '.join(given)}) at {place}"

    @property
    def shape(self) -> str:
        """The kind of call, whether of objects or buffers, of equal or different parts."""
        return _shape(self.kind) if self.root != NO_ROOT else ""

    @property
    def bare(self) -> str:
        """The same, whether there is a root, and whether it blocks."""
        return _shape(self.kind).removeprefix("i")


@lru_cache
def _shape(kind: str) -> str:
    return kind.lower().removesuffix("_init").rstrip("vw")


def is_vector(name: str) -> bool:
    """Whether the parts of a call may differ."""
    return name.removesuffix("_init").endswith("v")


# Given every rank's contribution and a rank: what that rank gets.
Result = Callable[[list[Any], int], Any]


def check(core: CommState, mine: Call, source: int, other: Any) -> None:
    """Complain unless another rank's call goes with one's own."""
    if core.sides is None and other == mine.said:
        return
    theirs = Call(*other)
    if core.sides is not None:
        _check_two_groups(core, mine, source, theirs)
        return
    compare(core, (core.rank, mine), (source, theirs), mine.root == theirs.root)


def compare(
    core: CommState, one: tuple[int, Call], other: tuple[int, Call], same_root: bool
) -> None:
    """Complain unless the calls of two members go together."""
    mine, theirs = one[1], other[1]
    if (mine.kind, mine.op) != (theirs.kind, theirs.op) or not same_root:
        kind = "collective-mismatch"
    elif mine.sign and theirs.sign and mine.sign != theirs.sign:
        kind = "type-mismatch"
    elif mine.elements >= 0 and theirs.elements >= 0 and mine.elements != theirs.elements:
        kind = "count-mismatch"
    else:
        return
    calls = mine.describe(core, one[0]), theirs.describe(core, other[0])
    raise MPIException(kind, ", but ".join(calls))


def sides_of(core: CommState) -> TwoGroups:
    assert core.sides is not None, "both groups of an intercommunicator"
    return core.sides


def _check_two_groups(core: CommState, mine: Call, source: int, theirs: Call) -> None:
    """Complain unless a call goes with all that were heard of, of the same number.

    One's own does not do: who says `PROC_NULL` does not know the root.
    """
    sides = sides_of(core)
    heard = sides.heard.setdefault(mine.number, [(core.rank, mine)])
    for at, other in heard:
        same_root = sides.agree(other.root, at, theirs.root, source)
        compare(core, (at, other), (source, theirs), same_root)
    heard.append((source, theirs))


def collect(core: CommState, call: Call, mine: Any) -> list[Any]:
    """At rank 0: what every rank gives, after whatever is owed."""
    settle(core)
    contributions = [mine]
    for rank in range(1, core.size):
        contributions.append(hear(core, rank, call))
    return contributions


def channel(core: CommState, source: int, dest: int) -> str:
    if core.sides is not None:
        return f"{core.name}#{core.sides.label(source)}>{core.sides.label(dest)}"
    return f"{core.name}#{source}>{dest}"


def tell(core: CommState, dest: int, call: Call, content: Any) -> None:
    message = (call.said, content)
    meet(Send(channel(core, core.rank, dest), message, buffered=True))


def hear(core: CommState, source: int, call: Call) -> Any:
    theirs, content = meet(Recv(channel(core, source, core.rank))).payload
    check(core, call, source, theirs)
    return content


def owe(core: CommState, call: Call) -> None:
    """At rank 0: every rank will tell of this call; nobody waits for it now."""
    for rank in range(1, core.size):
        slot = blocking(post(Recv(channel(core, rank, 0))))
        core.owed[rank].append(PendingReceive(slot, call))


def settle_one(core: CommState, source: int) -> Any:
    """Look at what one rank owes; gives the content of its last message."""
    content = None
    owed = core.owed[source]
    while owed:
        theirs, content = blocking(wait_any((owed[0].slot,))).payload
        check(core, owed.popleft().call, source, theirs)
    return content


def settle(core: CommState) -> None:
    for source in range(core.size):
        settle_one(core, source)
