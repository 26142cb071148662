"""Locks made of mailboxes: whoever holds the token of a mailbox may go on.

A lock takes the token, an unlock puts it back without waiting. Processes share no memory, so the
token of a mutex carries the value that the mutex guards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from presage.mailbox import comm
from presage.mailbox.comm import Activity, TimeoutException, misuse
from presage.process.context import Asking, current
from presage.process.ops import Recv, Send

N = TypeVar("N", bound="Named")


class Named:
    """A lock by its name. It can be sent: whoever receives it means the same lock."""

    def __init__(self, name: str) -> None:
        self.name = name

    @classmethod
    def by_name(cls: type[N], name: str) -> N:
        """The one of that name, made by some process, now or later."""
        lock = cls.__new__(cls)
        lock.name = name
        return lock

    def __reduce__(self) -> tuple[Any, ...]:
        return object.__new__, (type(self),), dict(sorted(vars(self).items()))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Same:
    """In place of a value: the one that is there."""


SAME = Same()


def fresh_name(kind: str, given: str | None) -> str:
    """The name given, or one that no other process makes up."""
    if given is not None:
        return given
    context = current()
    number = context.notes.setdefault("made", 0)
    context.notes["made"] = number + 1
    return f"{kind} {number} of {context.name}"


def drop(mailbox: str, payload: Any = None) -> Asking[None]:
    """Put without waiting."""
    yield from comm.detach(Activity(Send(mailbox, payload)))


def take(mailbox: str, timeout: float | None = None) -> Asking[Any]:
    """Get, and leave nothing behind if that times out."""
    got = Activity(Recv(mailbox))
    yield from comm.start(got)
    yield from comm.wait_or_withdraw(got, timeout)
    return got.get_payload()


def try_take(mailbox: str) -> Asking[tuple[Any] | None]:
    """Get what is there, now or never."""
    got = Activity(Recv(mailbox))
    yield from comm.start(got)
    if not (yield from comm.test(got)):
        if (yield from comm.cancel(got)):
            return None
        yield from comm.wait(got)
    return (got.get_payload(),)


def _held() -> dict[str, Any]:
    held: dict[str, Any] = current().notes.setdefault("held", {})
    return held


def _box(mutex: Named) -> str:
    return f"mutex {mutex.name}"


def create_mutex(mutex: Named, value: Any) -> Asking[None]:
    yield from drop(_box(mutex), value)


def lock(mutex: Named) -> Asking[Any]:
    """Wait until nobody holds it; the value it guards."""
    if mutex.name in _held():
        raise misuse(
            f"locks the mutex `{mutex.name}` that it holds, and would wait for itself for ever",
            "a function that locks is called by one that has locked",
            "unlock first, or lock in one of the two only",
        )
    value = yield from take(_box(mutex))
    _held()[mutex.name] = value
    return value


def try_lock(mutex: Named) -> Asking[bool]:
    """Lock it if nobody holds it."""
    if mutex.name in _held():
        return False
    taken = yield from try_take(_box(mutex))
    if taken is None:
        return False
    _held()[mutex.name] = taken[0]
    return True


def unlock(mutex: Named, value: Any = SAME) -> Asking[None]:
    """Let the next one have it; with `value`, that is what it guards from now on."""
    if mutex.name not in _held():
        raise misuse(
            f"unlocks the mutex `{mutex.name}`, which it does not hold",
            "it was unlocked before, or is held by another process",
            "unlock once, in the process that locked",
        )
    kept = _held().pop(mutex.name)
    yield from drop(_box(mutex), kept if value is SAME else value)


def create_semaphore(semaphore: Named, capacity: int) -> Asking[None]:
    for _ in range(capacity):
        yield from release(semaphore)


def acquire(semaphore: Named) -> Asking[None]:
    """Wait until there is room."""
    yield from take(f"semaphore {semaphore.name}")


def acquire_timeout(semaphore: Named, timeout: float) -> Asking[bool]:
    """As `acquire`; True if that took longer than `timeout`."""
    try:
        yield from take(f"semaphore {semaphore.name}", timeout)
    except TimeoutException:
        return True
    return False


def try_acquire(semaphore: Named) -> Asking[bool]:
    """Acquire it if there is room."""
    return (yield from try_take(f"semaphore {semaphore.name}")) is not None


def release(semaphore: Named) -> Asking[None]:
    """Make room for one more."""
    yield from drop(f"semaphore {semaphore.name}")


class Gate(Named):
    """A barrier and its parties, for both families."""

    parties: int | tuple[str, ...]

    @classmethod
    def by_name(cls: type[G], name: str, parties: int | Sequence[str] = 0) -> G:
        """The one of that name, with the same parties as where it was made."""
        barrier = super().by_name(name)
        barrier.parties = parties if isinstance(parties, int) else tuple(parties)
        return barrier


G = TypeVar("G", bound=Gate)


def create_barrier(barrier: Gate) -> Asking[None]:
    if isinstance(barrier.parties, int):
        yield from drop(f"barrier {barrier.name}", (0, 0))


def pass_barrier(barrier: Gate) -> Asking[bool]:
    """Wait for the others; whether this one came last, where they are counted."""
    name, parties = barrier.name, barrier.parties
    if not parties:
        raise misuse(
            f"waits at the barrier `{name}` without saying for how many it is",
            "`Barrier.by_name(name)` without its parties",
            "name them again: `Barrier.by_name(name, 3)`",
        )
    if isinstance(parties, int):
        return (yield from _count_in(name, parties))
    me = current().name
    if me not in parties:
        raise misuse(
            f"waits at the barrier `{name}`, which is for {', '.join(parties)}",
            "a name that was left out of the parties",
            "name every process that waits there",
        )
    others = [other for other in parties if other != me]
    for other in others:
        yield from drop(f"barrier {name}: {me} to {other}")
    for other in others:
        yield from take(f"barrier {name}: {other} to {me}")
    return False


def _count_in(name: str, parties: int) -> Asking[bool]:
    """Take the count in turn; the last one opens a gate for each of the others."""
    count, turn = yield from take(f"barrier {name}")
    gate = f"barrier {name}, turn {turn}, place "
    if count + 1 < parties:
        yield from drop(f"barrier {name}", (count + 1, turn))
        yield from take(f"{gate}{count}")
        return False
    yield from drop(f"barrier {name}", (0, turn + 1))
    for place in range(parties - 1):
        yield from drop(f"{gate}{place}")
    return True


def await_condition(condition: Named, mutex: Named) -> Asking[Any]:
    """Unlock `mutex`, wait to be notified, lock it again; the value it guards."""
    woken = yield from _sleep_on(condition, mutex)
    yield from comm.wait(woken)
    return (yield from lock(mutex))


def await_condition_for(condition: Named, mutex: Named, timeout: float) -> Asking[bool]:
    """As `wait`; True if that took longer than `timeout`."""
    woken = yield from _sleep_on(condition, mutex)
    timed_out = False
    try:
        yield from comm.wait_or_withdraw(woken, timeout)
    except TimeoutException:
        timed_out = True
    yield from lock(mutex)
    return timed_out


def _sleep_on(condition: Named, mutex: Named) -> Asking[Activity]:
    if mutex.name not in _held():
        raise misuse(
            f"waits for the condition `{condition.name}` without holding the mutex `{mutex.name}`",
            "the mutex was not locked, or another one was",
            "lock the mutex, and wait while holding it",
        )
    woken = Activity(Recv(f"condition {condition.name}"))
    yield from comm.start(woken)
    yield from unlock(mutex)
    return woken


def notify_one(condition: Named) -> Asking[None]:
    """Wake the one that has waited longest, if there is one."""
    yield from _notify(condition)


def notify_all(condition: Named) -> Asking[None]:
    """Wake all that wait."""
    while (yield from _notify(condition)):
        pass


def _notify(condition: Named) -> Asking[bool]:
    if not _held():
        raise misuse(
            f"notifies the condition `{condition.name}` and holds no mutex",
            "the mutex was unlocked before, so that others may wait again meanwhile",
            "notify while holding the mutex that those who wait have locked",
        )
    call = Activity(Send(f"condition {condition.name}", None))
    yield from comm.start(call)
    if (yield from comm.cancel(call)):
        return False
    yield from comm.wait(call)
    return True
