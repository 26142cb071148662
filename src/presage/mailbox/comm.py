"""A put or a get from its start to its end: written once, for plain functions and coroutines.

A communication that was started holds a slot of its process until a wait or a test has returned it
or it was withdrawn. Which slots are open, and for what, is noted in the process's context, because
it is part of what the future of the process depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Generic, TypeVar

from presage.errors import explain
from presage.process import context
from presage.process.context import Asking, current
from presage.process.ops import NONE, Misuse, Recv, Response, Send


class TimeoutException(Exception):
    """A wait with a timeout has given up."""


class State(Enum):
    """How far a communication is."""

    INITED = "not started"
    STARTED = "under way"
    TESTED = "complete"  # and a test said so; a wait may still come
    WAITED = "over"
    CANCELED = "cancelled"
    DETACHED = "detached"


class Activity:
    """What a put and a get have in common, whoever waits for them."""

    def __init__(self, op: Send | Recv) -> None:
        self._op = op
        self._owner = current()
        self._slot = NONE
        self._state = State.INITED
        self._payload: Any = op.payload if isinstance(op, Send) else None

    @property
    def mailbox_name(self) -> str:
        """The mailbox it was started at."""
        return self._op.mailbox

    @property
    def is_get(self) -> bool:
        return isinstance(self._op, Recv)

    def get_payload(self) -> Any:
        """What was sent: known to a get once it is complete."""
        if self.is_get and self._state not in (State.WAITED, State.TESTED):
            raise misuse(
                f"the payload of {self} is read, which is {self._state.value}",
                "a `get_async()` that was not waited for",
                "call `comm.wait()` first",
            )
        return self._payload

    def __str__(self) -> str:
        return f"{'get' if self.is_get else 'put'} at `{self._op.mailbox}`"


A = TypeVar("A", bound=Activity)


class Activities(Generic[A]):
    """Communications to wait for; those that are complete leave it."""

    def __init__(self, comms: Iterable[A] = ()) -> None:
        self._comms = list(comms)

    def push(self, comm: A) -> None:
        """Add one."""
        self._comms.append(comm)

    def erase(self, comm: A) -> None:
        """Take one out."""
        self._comms.remove(comm)

    def __len__(self) -> int:
        return len(self._comms)

    def empty(self) -> bool:
        """Whether nothing is left to wait for."""
        return not self._comms

    def _wait_any(self) -> Asking[A]:
        """Wait for one of them, and give it."""
        return self._comms.pop((yield from wait_any(self._comms)))

    def _wait_any_for(self, timeout: float) -> Asking[A]:
        """Wait for one of them, or raise `TimeoutException`."""
        index = yield from wait_any_for(self._comms, timeout)
        if index == NONE:
            raise TimeoutException(f"none of {len(self)} was complete within {timeout:g} s")
        return self._comms.pop(index)

    def _wait_all(self) -> Asking[None]:
        """Wait for each of them."""
        yield from wait_all(self._comms)
        self._comms.clear()

    def _test_any(self) -> Asking[A | None]:
        """One that is complete, or None."""
        index = yield from test_any(self._comms)
        return None if index == NONE else self._comms.pop(index)


def misuse(fact: str, cause: str, remedy: str) -> Misuse:
    """The checked code uses the library wrongly: a violation, not an error of presage."""
    return Misuse("misuse", explain(f"process `{current().name}`: {fact}", cause, remedy))


def open_slots() -> dict[int, str]:
    """What the slots of this process are taken for."""
    noted: dict[int, str] = current().notes.setdefault("open", {})
    return noted


def start(comm: A) -> Asking[A]:
    """Start what `put_init` or `get_init` gave."""
    yield from _start(comm)
    return comm


def _start(comm: Activity, *, buffered: bool = False) -> Asking[None]:
    """Post it. `buffered`: complete for the sender at once."""
    if comm._state is not State.INITED:
        raise misuse(
            f"{comm} is started twice",
            "`put_async` and `get_async` start what they give",
            "start only what `put_init` and `get_init` gave, once",
        )
    op = comm._op
    if buffered and isinstance(op, Send):
        op = Send(op.mailbox, op.payload, op.key, True, op.size)
    comm._slot = yield from context.post(op)
    comm._state = State.STARTED
    open_slots()[comm._slot] = str(comm)


def detach(comm: A) -> Asking[A]:
    """Send it and forget it: nobody is going to wait."""
    if comm.is_get:
        raise misuse(
            f"{comm} is detached", "only a put can be forgotten", "wait for it, or cancel it"
        )
    if comm._state is State.INITED:
        yield from _start(comm, buffered=True)
        current().notes.setdefault("detached", []).append(comm._slot)
    elif comm._state is not State.STARTED:
        raise misuse(
            f"{comm} is detached, and is {comm._state.value}",
            "it was waited for, cancelled or detached before",
            "detach what was just made: `mailbox.put_init(payload).detach()`",
        )
    comm._state = State.DETACHED
    return comm


def reap() -> Asking[None]:
    """Give back the slots of what was sent and forgotten."""
    slots: list[int] = current().notes.pop("detached", [])
    for slot in slots:
        yield from context.wait_any((slot,))
        del open_slots()[slot]


def wait(comm: A) -> Asking[A]:
    """Wait until it is complete."""
    return (yield from wait_for(comm, None))


def wait_for(comm: A, timeout: float | None) -> Asking[A]:
    """Wait until it is complete, or raise `TimeoutException`; it then stays under way."""
    if comm._state is State.INITED:
        yield from _start(comm)
    if comm._state is State.TESTED:
        comm._state = State.WAITED
        return comm
    _check([comm])
    response = yield from context.wait_any((comm._slot,), timeout)
    if response.choice == NONE:
        raise TimeoutException(f"{comm}: nobody came within {timeout or 0.0:g} s")
    _close(comm, response, State.WAITED)
    return comm


def wait_or_withdraw(comm: Activity, timeout: float | None) -> Asking[None]:
    """Wait; when that times out, nothing is left behind, unless it was met at the last moment."""
    try:
        yield from wait_for(comm, timeout)
    except TimeoutException:
        if (yield from cancel(comm)):
            raise
        yield from wait(comm)


def test(comm: Activity) -> Asking[bool]:
    """Whether it is complete, now."""
    if comm._state in (State.TESTED, State.WAITED):
        return True
    if comm._state is State.INITED:
        yield from _start(comm)
    _check([comm])
    response = yield from context.test_any((comm._slot,))
    if response.choice == NONE:
        return False
    _close(comm, response, State.TESTED)
    return True


def cancel(comm: Activity) -> Asking[bool]:
    """Withdraw it; False if it was met before, and then is complete."""
    if comm._state in (State.TESTED, State.WAITED):
        return False
    if comm._state is State.INITED:
        comm._state = State.CANCELED
        return True
    _check([comm])
    if (yield from context.cancel(comm._slot)):
        comm._state = State.CANCELED
        del open_slots()[comm._slot]
        return True
    return False


def wait_any(comms: Sequence[Activity]) -> Asking[int]:
    """Wait for one of them; its index. Every complete one is tried by a search."""
    return (yield from wait_any_for(comms, None))


def wait_any_for(comms: Sequence[Activity], timeout: float | None) -> Asking[int]:
    """As `wait_any`; -1 after the timeout."""
    _check(comms)
    response = yield from context.wait_any(tuple(comm._slot for comm in comms), timeout)
    if response.choice != NONE:
        _close(comms[response.choice], response, State.WAITED)
    return response.choice


def test_any(comms: Sequence[Activity]) -> Asking[int]:
    """The index of one that is complete; -1 if none is."""
    if not comms:
        return NONE
    _check(comms)
    response = yield from context.test_any(tuple(comm._slot for comm in comms))
    if response.choice != NONE:
        _close(comms[response.choice], response, State.TESTED)
    return response.choice


def wait_all(comms: Sequence[Activity]) -> Asking[None]:
    """Wait for each of them."""
    for comm in comms:  # in turn: no order among those that are complete is explored in vain
        yield from wait(comm)


def _close(comm: Activity, response: Response, state: State) -> None:
    del open_slots()[comm._slot]
    comm._state = state
    if comm.is_get:
        comm._payload = response.payload


def _check(comms: Sequence[Activity]) -> None:
    if not comms:
        raise misuse(
            "waits for one of no communications, which never ends",
            "an empty list, or a set from which everything was taken",
            "ask whether something is left before waiting",
        )
    for comm in comms:
        if comm._owner is not current():
            raise misuse(
                f"waits for {comm}, which process `{comm._owner.name}` has started",
                "a communication shared through a global or an argument",
                "wait in the process that put or got; send the other a message",
            )
        if comm._state is not State.STARTED:
            raise misuse(
                f"waits for {comm}, which is {comm._state.value}",
                "a communication that was waited for twice, cancelled or detached",
                "forget a communication once it has been waited for",
            )
