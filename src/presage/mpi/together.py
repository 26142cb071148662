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
from presage.mpi.rank import Core, Owed, calling, here, where
from presage.mpi.request import Request
from presage.mpi.status import Status
from presage.process.context import Asking, blocking, exchange, post, wait_any
from presage.process.ops import Recv, Response, Send

FROM_ROOT = ("bcast", "scatter")
TO_ROOT = ("gather", "reduce")


class Call(NamedTuple):
    """What a rank says of its collective call; all must say the same."""

    kind: str  # the name of the call
    root: int = -1
    op: str = ""
    sign: str = ""  # of the elements; empty: not compared
    elements: int = -1  # how many; -1: not compared
    number: int = 0  # of collective calls on the communicator before it

    def told(self, core: Core, rank: int) -> str:
        given = [f"root={self.root}"] if self.root >= 0 else []
        given += [f"op={self.op}"] if self.op else []
        given += [f"count={self.elements}"] if self.elements >= 0 else []
        given += [f"type={self.sign}"] if self.sign else []
        place = here().places.get((core.name, rank, self.number), "another place")
        return f"rank {rank} calls {self.kind}({', '.join(given)}) at {place}"

    @property
    def shape(self) -> str:
        """The kind of call, whether of objects or buffers, of equal or different parts."""
        return self.kind.lower().rstrip("vw") if self.root >= 0 else ""


# Given every rank's contribution and a rank: what that rank gets.
Result = Callable[[list[Any], int], Any]


def check(core: Core, mine: Call, source: int, other: Any) -> None:
    """Complain unless another rank's call goes with one's own."""
    theirs = Call(*other)
    if mine[:3] != theirs[:3]:
        kind = "collective-mismatch"
    elif mine.sign and theirs.sign and mine.sign != theirs.sign:
        kind = "type-mismatch"
    elif mine.elements >= 0 and theirs.elements >= 0 and mine.elements != theirs.elements:
        kind = "count-mismatch"
    else:
        return
    told = mine.told(core, core.ranks[core.rank]), theirs.told(core, core.ranks[source])
    raise MPIException(kind, ", but ".join(told))


def gathered(core: Core, call: Call, mine: Any, result: Result) -> Any:
    """A blocking call: give one's contribution, and get one's result."""
    return blocking(_blocking(core, _numbered(core, call), mine, result))


def _numbered(core: Core, call: Call) -> Call:
    """The next call of the rank. Where it stands is no part of what ranks tell each other."""
    here().places[core.name, here().number, core.calls] = where()
    core.calls += 1
    return call._replace(number=core.calls - 1)


def _blocking(core: Core, call: Call, mine: Any, result: Result) -> Asking[Any]:
    if core.size == 1:
        return result([mine], 0)
    if here().eager and call.shape in FROM_ROOT:
        return (yield from _from_root(core, call, mine, result))
    if here().eager and call.shape in TO_ROOT:
        return (yield from _to_root(core, call, mine, result))
    if core.rank:
        yield from _tell(core, 0, call, mine)
        return (yield from _hear(core, 0, call))
    contributions = yield from _collect(core, call, mine)
    for rank in range(1, core.size):
        yield from _tell(core, rank, call, result(contributions, rank))
    return result(contributions, 0)


def _from_root(core: Core, call: Call, mine: Any, result: Result) -> Asking[Any]:
    """The root goes on at once; the others wait for the root alone."""
    everyone = [mine] * core.size
    if core.rank == call.root:
        if core.rank == 0:
            yield from _owe(core, call)
        for rank in range(core.size):
            if rank != core.rank:
                yield from _tell(core, rank, call, result(everyone, rank))
        return result(everyone, core.rank)
    if core.rank:
        yield from _tell(core, 0, call, None)
        return (yield from _hear(core, call.root, call))
    yield from _owe(core, call)
    return (yield from _settle(core, call.root))


def _to_root(core: Core, call: Call, mine: Any, result: Result) -> Asking[Any]:
    """The root waits for all; the others go on at once."""
    if call.root == 0 and core.rank == 0:
        return result((yield from _collect(core, call, mine)), 0)
    if core.rank == call.root:
        yield from _tell(core, 0, call, None)
        contributions = []
        for rank in range(core.size):
            if rank == core.rank:
                contributions.append(mine)
            else:
                contributions.append((yield from _hear(core, rank, call)))
        return result(contributions, core.rank)
    yield from _tell(core, call.root, call, mine)
    if core.rank == 0:
        yield from _owe(core, call)
    elif call.root:
        yield from _tell(core, 0, call, None)
    return None


def _collect(core: Core, call: Call, mine: Any) -> Asking[list[Any]]:
    """At rank 0: what every rank gives, after whatever is owed."""
    yield from settle(core)
    contributions = [mine]
    for rank in range(1, core.size):
        contributions.append((yield from _hear(core, rank, call)))
    return contributions


def _channel(core: Core, source: int, dest: int) -> str:
    return f"{core.name}#{source}>{dest}"


def _tell(core: Core, dest: int, call: Call, content: Any) -> Asking[None]:
    message = (tuple(call), content)
    yield from exchange(Send(_channel(core, core.rank, dest), message, buffered=True))


def _hear(core: Core, source: int, call: Call) -> Asking[Any]:
    (told, content), _ = yield from exchange(Recv(_channel(core, source, core.rank)))
    check(core, call, source, told)
    return content


def _owe(core: Core, call: Call) -> Asking[None]:
    """At rank 0: every rank will tell of this call; nobody waits for it now."""
    for rank in range(1, core.size):
        slot = yield from post(Recv(_channel(core, rank, 0)))
        core.owed.append(Owed(slot, rank, call))


def _settle(core: Core, source: int) -> Asking[Any]:
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
        yield from _settle(core, source)


def started(
    core: Core, call: Call, mine: Any, result: Result, done: Callable[[Any], Any], text: str
) -> Request:
    """A call that does not block: `done` is given the result when the request is complete."""
    return blocking(_started(core, _numbered(core, call), mine, result, done, text))


def _started(
    core: Core, call: Call, mine: Any, result: Result, done: Callable[[Any], Any], text: str
) -> Asking[Request]:
    others = [rank for rank in range(core.size) if rank != core.rank]
    slots = []
    for rank in others:
        slots.append((yield from post(Recv(_channel(core, rank, core.rank)))))
    needed = _needed(core, call) if here().eager else others
    wanted = [slot for rank, slot in zip(others, slots, strict=True) if rank in needed]
    for rank, slot in zip(others, slots, strict=True):
        if rank not in needed:
            core.owed.append(Owed(slot, rank, call))
    for rank in others:
        yield from _tell(core, rank, call, mine)

    def finish(responses: list[Response]) -> tuple[Any, Status]:
        contributions: list[Any] = [None] * core.size
        contributions[core.rank] = mine
        for rank, response in zip(needed, responses, strict=False):
            told, contributions[rank] = response.payload
            check(core, call, rank, told)
        return done(result(contributions, core.rank)), Status()

    return Request.of(wanted, finish, text, [core.ranks[rank] for rank in needed])


def _needed(core: Core, call: Call) -> list[int]:
    """Whose contributions a rank's result depends on."""
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
