"""Decide whether operations of concurrent clients can be put in one order, and say why not.

An order explains a history if every answered operation is in it, each client's own order and all
that was seen at an invocation is kept, and the sequential spec gives each its answer. Operations
in flight may be placed anywhere allowed, or left out. The search is depth first and never tries
the same (operations placed, spec state) twice, after Lowe, "Testing for linearizability", 2017.

Why not: the answers that cannot all be right. We free one answer after the other; those that
cannot be freed without making the history orderable are a smallest set of witnesses (no proper
subset of them is contradictory).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct


class SequentialSpec(Protocol):
    """What one operation after the other would do: the object that clients believe they share.

    The spec is part of the observer's state, so it must be a plain value, such as a frozen
    dataclass; so must its states, which must be hashable too. Both methods are pure.
    """

    def initial(self) -> Any:
        """The state before the first operation."""

    def apply(self, state: Any, op: Any) -> tuple[Any, Any] | None:
        """The state after `op`, and its result. None: `op` cannot happen in `state`."""


class Pending(Struct, frozen=True):
    """An operation in flight. It may have taken effect already, or never will."""

    op: Any
    seen: tuple[tuple[str, int], ...] = ()  # (other client, index of its last answered operation)


class Done(Struct, frozen=True):
    """An answered operation."""

    op: Any
    result: Any
    seen: tuple[tuple[str, int], ...] = ()


class Client(Struct, frozen=True):
    """One client's part of a history, in the order in which it happened."""

    name: str
    done: tuple[Done, ...] = ()
    pending: Pending | None = None


Index = tuple[int, int]  # (client's index, index among its answered operations)
Placed = tuple[int, ...]  # per client: how many operations are in the order, in flight included


def find_order(
    spec: SequentialSpec, clients: Sequence[Client], free: frozenset[Index] = frozenset()
) -> list[Index] | None:
    """An order that explains every answer not in `free`, or None if there is none.

    An index just past a client's answered operations stands for the one it has in flight.
    """
    number = {client.name: i for i, client in enumerate(clients)}
    start: Placed = (0,) * len(clients)
    order: list[Index] = []
    tried: set[tuple[Placed, Any]] = set()
    branches = [_next_placements(spec, clients, number, free, start, spec.initial())]
    if _complete(clients, start):
        return order
    while branches:
        found = next(branches[-1], None)
        if found is None:
            branches.pop()
            if order:
                order.pop()
            continue
        index, placed, state = found
        if (placed, state) in tried:
            continue
        tried.add((placed, state))
        order.append(index)
        if _complete(clients, placed):
            return order
        branches.append(_next_placements(spec, clients, number, free, placed, state))
    return None


def _complete(clients: Sequence[Client], placed: Placed) -> bool:
    return all(count >= len(client.done) for client, count in zip(clients, placed, strict=True))


def _next_placements(
    spec: SequentialSpec,
    clients: Sequence[Client],
    number: dict[str, int],
    free: frozenset[Index],
    placed: Placed,
    state: Any,
) -> Iterator[tuple[Index, Placed, Any]]:
    """Each operation that may come next: where it is, what is placed then, the spec's state."""
    for i, client in enumerate(clients):
        operation = _operation(client, placed[i])
        if operation is None or any(placed[number[c]] <= last for c, last in operation.seen):
            continue
        outcome = spec.apply(state, operation.op)
        if outcome is None:
            continue
        after, result = outcome
        answered = placed[i] < len(client.done)
        if answered and (i, placed[i]) not in free and client.done[placed[i]].result != result:
            continue
        yield (i, placed[i]), (*placed[:i], placed[i] + 1, *placed[i + 1 :]), after


def _operation(client: Client, index: int) -> Done | Pending | None:
    if index < len(client.done):
        return client.done[index]
    return client.pending if index == len(client.done) else None


def explain_disorder(spec: SequentialSpec, clients: Sequence[Client]) -> str:
    """Why no order explains these operations: the answers at odds, and what came before each."""
    free: frozenset[Index] = frozenset()
    every = [(i, k) for i, client in enumerate(clients) for k in range(len(client.done))]
    for index in every:
        if find_order(spec, clients, free | {index}) is None:
            free |= {index}
    witnesses = [index for index in every if index not in free]
    if not witnesses:
        return "no order of the operations is possible, whatever they return"
    told = "; ".join(_tell(clients, index) for index in witnesses)
    together = "" if len(witnesses) == 1 else " together"
    return f"no order of the operations explains{together}: {told}{_in_flight(clients)}"


def _tell(clients: Sequence[Client], index: Index) -> str:
    """`c1 Read() -> None, begun after c0 Write('A'), c1 Write('B')`."""
    client = clients[index[0]]
    operation = client.done[index[1]]
    before = dict(operation.seen) | {client.name: index[1] - 1}
    earlier = [
        _answered(c.name, operation)
        for c in clients
        for operation in c.done[: before.get(c.name, -1) + 1]
    ]
    after = f", begun after {', '.join(earlier)}" if earlier else ""
    return f"{_answered(client.name, operation, always=True)}{after}"


def _answered(name: str, operation: Done, *, always: bool = False) -> str:
    """An answer of None says nothing worth reading, unless it is the one at odds."""
    shown = f" -> {operation.result!r}" if always or operation.result is not None else ""
    return f"{name} {operation.op!r}{shown}"


def _in_flight(clients: Sequence[Client]) -> str:
    pending = [f"{c.name} {c.pending.op!r}" for c in clients if c.pending is not None]
    return f" (in flight: {', '.join(pending)})" if pending else ""
