"""Collective calls: how contributions get from rank to rank, and what all ranks must agree on.

Each pair of members has a channel of its own, apart from point-to-point messages, which keeps
order. Every rank tells rank 0 of each call, in order; so rank 0 sees whether all agree.

A blocking call goes through rank 0, which gathers all contributions and answers with results. With
eager sends, calls with a root go to the root or come from it directly, and nobody waits for what
its result does not depend on: what else arrives is *owed*, and looked at later.

A call that does not block sends every contribution to every rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from presage.mpi.mistakes import MPIException
from presage.mpi.rank import Core, Owed, calling, here, named, where
from presage.mpi.request import Request
from presage.mpi.sides import FROM_ROOT, NO_ROOT, TO_ROOT
from presage.mpi.status import Status
from presage.process.context import Asking, blocking, exchange, post, wait_any
from presage.process.ops import Recv, Response, Send


class Call(NamedTuple):
    """What a rank says of its collective call; all must say the same."""

    kind: str  # the name of the call
    root: int = NO_ROOT
    op: str = ""
    sign: str = ""  # of the elements; empty: not compared
    elements: int = -1  # how many; -1: not compared
    number: int = 0  # of collective calls on the communicator before it

    def told(self, core: Core, at: int) -> str:
        root = self.root if core.sides is None else core.sides.told(self.root, at)
        given = [f"root={root}"] if self.root != NO_ROOT else []
        given += [f"op={self.op}"] if self.op else []
        given += [f"count={self.elements}"] if self.elements >= 0 else []
        given += [f"type={self.sign}"] if self.sign else []
        who = core.ranks[at]
        place = here().places.get((core.name, who, self.number), "another place")
        return f"{named(who)} calls {self.kind}({', '.join(given)}) at {place}"

    @property
    def shape(self) -> str:
        """The kind of call, whether of objects or buffers, of equal or different parts."""
        return self.kind.lower().rstrip("vw") if self.root != NO_ROOT else ""

    @property
    def bare(self) -> str:
        """The same, whether there is a root, and whether it blocks."""
        return self.kind.lower().rstrip("vw").removeprefix("i")


# Given every rank's contribution and a rank: what that rank gets.
Result = Callable[[list[Any], int], Any]


def check(core: Core, mine: Call, source: int, other: Any) -> None:
    """Complain unless another rank's call goes with one's own."""
    theirs = Call(*other)
    if core.sides is not None:
        from presage.mpi import across

        across.check(core, mine, source, theirs)
        return
    compare(core, (core.rank, mine), (source, theirs), mine.root == theirs.root)


def compare(core: Core, one: tuple[int, Call], other: tuple[int, Call], same_root: bool) -> None:
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
    raise MPIException(kind, f"{mine.told(core, one[0])}, but {theirs.told(core, other[0])}")


def gathered(core: Core, call: Call, mine: Any, result: Result, learns: bool = True) -> Any:
    """A blocking call: give one's contribution, and get one's result.

    `learns`: whether windows are to show what there is then.
    """
    got = blocking(_blocking(core, _numbered(core, call), mine, result))
    if learns:
        here().learned()
    return got


def announced(core: Core, call: Call) -> None:
    """A call whose result depends on nobody else: all must make it, and nobody waits."""
    blocking(_announced(core, _numbered(core, call)))


def _announced(core: Core, call: Call) -> Asking[None]:
    if core.rank:
        yield from tell(core, 0, call, None)
    else:
        yield from owe(core, call)


def _numbered(core: Core, call: Call) -> Call:
    """The next call of the rank. Where it stands is no part of what ranks tell each other."""
    here().places[core.name, here().number, core.calls] = where()
    core.calls += 1
    return call._replace(number=core.calls - 1)


def _blocking(core: Core, call: Call, mine: Any, result: Result) -> Asking[Any]:
    if core.size == 1:
        return result([mine], 0)
    if core.sides is not None:
        from presage.mpi import across

        return (yield from across.gathered(core, call, mine, result))
    if here().eager and call.shape in FROM_ROOT:
        return (yield from _from_root(core, call, mine, result))
    if here().eager and call.shape in TO_ROOT:
        return (yield from _to_root(core, call, mine, result))
    if core.rank:
        yield from tell(core, 0, call, mine)
        return (yield from hear(core, 0, call))
    contributions = yield from collect(core, call, mine)
    for rank in range(1, core.size):
        yield from tell(core, rank, call, result(contributions, rank))
    return result(contributions, 0)


def _from_root(core: Core, call: Call, mine: Any, result: Result) -> Asking[Any]:
    """The root goes on at once; the others wait for the root alone."""
    everyone = [mine] * core.size
    if core.rank == call.root:
        if core.rank == 0:
            yield from owe(core, call)
        for rank in range(core.size):
            if rank != core.rank:
                yield from tell(core, rank, call, result(everyone, rank))
        return result(everyone, core.rank)
    if core.rank:
        yield from tell(core, 0, call, None)
        return (yield from hear(core, call.root, call))
    yield from owe(core, call)
    return (yield from settle_one(core, call.root))


def _to_root(core: Core, call: Call, mine: Any, result: Result) -> Asking[Any]:
    """The root waits for all; the others go on at once."""
    if call.root == 0 and core.rank == 0:
        return result((yield from collect(core, call, mine)), 0)
    if core.rank == call.root:
        yield from tell(core, 0, call, None)
        contributions = []
        for rank in range(core.size):
            if rank == core.rank:
                contributions.append(mine)
            else:
                contributions.append((yield from hear(core, rank, call)))
        return result(contributions, core.rank)
    yield from tell(core, call.root, call, mine)
    if core.rank == 0:
        yield from owe(core, call)
    elif call.root:
        yield from tell(core, 0, call, None)
    return None


def collect(core: Core, call: Call, mine: Any) -> Asking[list[Any]]:
    """At rank 0: what every rank gives, after whatever is owed."""
    yield from settle(core)
    contributions = [mine]
    for rank in range(1, core.size):
        contributions.append((yield from hear(core, rank, call)))
    return contributions


def _channel(core: Core, source: int, dest: int) -> str:
    if core.sides is not None:
        return f"{core.name}#{core.sides.label(source)}>{core.sides.label(dest)}"
    return f"{core.name}#{source}>{dest}"


def tell(core: Core, dest: int, call: Call, content: Any) -> Asking[None]:
    message = (tuple(call), content)
    yield from exchange(Send(_channel(core, core.rank, dest), message, buffered=True))


def hear(core: Core, source: int, call: Call) -> Asking[Any]:
    (told, content), _ = yield from exchange(Recv(_channel(core, source, core.rank)))
    check(core, call, source, told)
    return content


def owe(core: Core, call: Call) -> Asking[None]:
    """At rank 0: every rank will tell of this call; nobody waits for it now."""
    for rank in range(1, core.size):
        slot = yield from post(Recv(_channel(core, rank, 0)))
        core.owed.append(Owed(slot, rank, call))


def settle_one(core: Core, source: int) -> Asking[Any]:
    """Look at what one rank owes; gives the content of its last message."""
    content = None
    for owed in [owed for owed in core.owed if owed.source == source]:
        response = yield from wait_any((owed.slot,))
        told, content = response.payload
        core.owed.remove(owed)
        check(core, owed.call, source, told)
    return content


def settle(core: Core) -> Asking[None]:
    """Look at all that is owed."""
    for source in range(core.size):
        yield from settle_one(core, source)


def started(
    core: Core, call: Call, mine: Any, result: Result, done: Callable[[Any], Any], text: str
) -> Request:
    """A call that does not block: `done` is given the result when the request is complete."""
    return blocking(_started(core, _numbered(core, call), mine, result, done, text))


def _started(
    core: Core, call: Call, mine: Any, result: Result, done: Callable[[Any], Any], text: str
) -> Asking[Request]:
    others = [rank for rank in range(core.size) if rank != core.rank]
    gets = core.sides is None or core.rank in core.sides.getters(call.bare, call.root)
    slots = []
    for rank in others:
        slots.append((yield from post(Recv(_channel(core, rank, core.rank)))))
    needed = _needed(core, call) if here().eager else others
    wanted = [slot for rank, slot in zip(others, slots, strict=True) if rank in needed]
    for rank, slot in zip(others, slots, strict=True):
        if rank not in needed:
            core.owed.append(Owed(slot, rank, call))
    for rank in others:
        yield from tell(core, rank, call, mine)

    def finish(responses: list[Response]) -> tuple[Any, Status]:
        contributions: list[Any] = [None] * core.size
        contributions[core.rank] = mine
        for rank, response in zip(needed, responses, strict=False):
            told, contributions[rank] = response.payload
            check(core, call, rank, told)
        return done(result(contributions, core.rank) if gets else None), Status()

    return Request.of(wanted, finish, text, [core.ranks[rank] for rank in needed])


def _needed(core: Core, call: Call) -> list[int]:
    """Whose contributions a rank's result depends on."""
    if core.sides is not None:
        return list(core.sides.flows(call.bare, call.root, core.rank)[1])
    others = [rank for rank in range(core.size) if rank != core.rank]
    shape = call.shape.removeprefix("i")
    if shape in FROM_ROOT:
        return [rank for rank in others if rank == call.root]
    if shape in TO_ROOT:
        return others if core.rank == call.root else []
    return others


def note(core: Core, name: str, **given: Any) -> str:
    """Note a collective call, which may wait for every other member."""
    others = [rank for at, rank in enumerate(core.ranks) if at != core.rank]
    return calling(name, others, **given)
