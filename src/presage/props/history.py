"""Histories: what clients asked and were told, as observers whose state is part of the world.

A client records `Invoke(op)` when it starts an operation and `Return(value)` when it is answered.
The observer keeps, per client, the answered operations in order and the one in flight. For
linearizability each also keeps, as of its invocation, the last answered operation of every other
client: those came before it in real time. Nothing else is kept, so worlds that differ in no order
a client could tell apart stay equal. `order.py` decides whether such a history makes sense.

Invariant: a `History` is immutable, its clients are sorted by name, and once it is malformed it
never changes again.
"""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from presage.errors import PropertyError
from presage.props.order import (
    Client,
    Done,
    Pending,
    SequentialSpec,
    explain_disorder,
    find_order,
)
from presage.props.property import HOLDS, Predicate, Property, Verdict

_CLAIM = "__presage_claim__"  # the attribute of a predicate


class Read(Struct, frozen=True):
    """Ask a register for its value."""


class Write(Struct, frozen=True):
    """Give a register a value; the result is None."""

    value: Any

    def __repr__(self) -> str:
        return f"Write({self.value!r})"


class Register(Struct, frozen=True):
    """One cell: a `Read` returns what the last `Write` gave, or `value` before the first."""

    value: Any = None

    def initial(self) -> Any:
        return self.value

    def apply(self, state: Any, op: Any) -> tuple[Any, Any] | None:
        if isinstance(op, Write):
            return op.value, None
        if isinstance(op, Read):
            return state, state
        raise TypeError(f"a register understands Read() and Write(value), not {op!r}")


class Invoke(Struct, frozen=True):
    """Record of a client that starts `op`."""

    op: Any


class Return(Struct, frozen=True):
    """Record of a client whose operation in flight was answered with `value`."""

    value: Any = None


class History(Struct, frozen=True):
    """The state of a history observer."""

    spec: SequentialSpec
    real_time: bool  # whether operations remember what was answered before they began
    clients: tuple[Client, ...] = ()
    malformed: str | None = None  # what a client recorded out of turn

    def client(self, name: str) -> Client:
        """That client's part so far; empty if it has recorded nothing."""
        return next((c for c in self.clients if c.name == name), Client(name))

    def having(self, client: Client) -> History:
        """The same history with this client's part replaced."""
        others = [c for c in self.clients if c.name != client.name]
        return replace(self, clients=tuple(sorted([*others, client], key=lambda c: c.name)))

    def verdict(self) -> Verdict:
        """Whether the operations can be put in one order that explains every answer."""
        if self.malformed is not None:
            return Verdict.fails(self.malformed)
        if find_order(self.spec, self.clients) is not None:
            return HOLDS
        return Verdict.fails(explain_disorder(self.spec, self.clients))

    def forget_real_time(self) -> History:
        """The same history with only each client's own order left."""
        if not self.real_time:
            return self
        clients = tuple(
            Client(
                c.name,
                tuple(replace(op, seen=()) for op in c.done),
                c.pending and replace(c.pending, seen=()),
            )
            for c in self.clients
        )
        return replace(self, real_time=False, clients=clients)


class _HistoryObserver(Struct, frozen=True):
    """Turns the records of clients into a `History`; records of other kinds are not its own."""

    real_time: ClassVar[bool]
    spec: SequentialSpec

    def initial(self) -> History:
        return History(self.spec, self.real_time)

    def observe(self, state: History, node: str, record: Any) -> History:
        if state.malformed is not None:
            return state
        if isinstance(record, Invoke):
            return self._invoked(state, state.client(node), record.op)
        if isinstance(record, Return):
            return self._returned(state, state.client(node), record.value)
        return state

    def _invoked(self, state: History, client: Client, op: Any) -> History:
        if client.pending is not None:
            return replace(
                state,
                malformed=f"{client.name} invoked {op!r} while its {client.pending.op!r} was in"
                " flight: one operation at a time per client",
            )
        return state.having(replace(client, pending=Pending(op, self._seen(state, client.name))))

    def _returned(self, state: History, client: Client, value: Any) -> History:
        if client.pending is None:
            return replace(
                state, malformed=f"{client.name} was answered {value!r} but had asked nothing"
            )
        done = Done(client.pending.op, value, client.pending.seen)
        return state.having(Client(client.name, (*client.done, done)))

    def _seen(self, state: History, name: str) -> tuple[tuple[str, int], ...]:
        if not self.real_time:
            return ()
        return tuple((c.name, len(c.done) - 1) for c in state.clients if c.done and c.name != name)


class Linearizable(_HistoryObserver, frozen=True):
    """Observer for `linearizable`: operations keep their order in real time."""

    real_time: ClassVar[bool] = True


class SequentiallyConsistent(_HistoryObserver, frozen=True):
    """Observer for `sequentially_consistent`: only each client's own order is kept.

    It tells fewer worlds apart than `Linearizable`, so the search is smaller.
    """

    real_time: ClassVar[bool] = False


class HistoryClaim(Struct, frozen=True):
    """What a predicate made here says, for a search that can judge that by itself."""

    observer: str
    real_time: bool


def mark_claim(predicate: Predicate, claim: HistoryClaim) -> None:
    """Let a search know what `predicate` claims."""
    setattr(predicate, _CLAIM, claim)


def claim_of_history(predicate: Predicate) -> HistoryClaim | None:
    """What `predicate` claims of a history; None if it is not one that was made here."""
    claim = getattr(predicate, _CLAIM, None)
    return claim if isinstance(claim, HistoryClaim) else None


def linearizable(observer: str = "history") -> Property:
    """Always: each operation seems to happen at one moment between its call and its answer."""

    def linearizable(world: Any) -> Verdict:
        history = _history(world, observer)
        if not history.real_time:
            raise PropertyError(
                f"observer `{observer}` does not keep the order that `linearizable` needs",
                "`SequentiallyConsistent` given where `Linearizable` is meant",
                f"observers={{{observer!r}: Linearizable(...)}}, or `sequentially_consistent`",
            )
        return history.verdict()

    mark_claim(linearizable, HistoryClaim(observer, real_time=True))
    return Property("linearizable", "always", linearizable, signature=f"linearizable({observer!r})")


def sequentially_consistent(observer: str = "history") -> Property:
    """Always: some order of all operations, keeping each client's own, explains every answer."""

    def sequentially_consistent(world: Any) -> Verdict:
        return _history(world, observer).forget_real_time().verdict()

    mark_claim(sequentially_consistent, HistoryClaim(observer, real_time=False))
    return Property(
        "sequentially_consistent",
        "always",
        sequentially_consistent,
        signature=f"sequentially_consistent({observer!r})",
    )


def _history(world: Any, observer: str) -> History:
    history = world.observer(observer)
    if isinstance(history, History):
        return history
    raise PropertyError(
        f"the state of observer `{observer}` is a `{type(history).__name__}`, not a history",
        "another kind of observer under that name",
        f"observers={{{observer!r}: Linearizable(Register(None))}}",
    )
