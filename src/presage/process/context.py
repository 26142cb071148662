"""What a process sees of the world: its own name, slots, clock, chance, and the way to ask.

A library for processes is written once, as generators that yield operations and are sent the
responses. A plain function runs such a generator with `blocking`, a coroutine with `awaiting`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from heapq import heappop, heappush
from random import Random
from threading import local
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from presage.errors import BadCall, PresageError
from presage.process import ops
from presage.process.ops import Op, Response

WAITS = [ops.WaitAny((slot,)) for slot in range(64)]

PROCESS, MACHINE = 0, 1  # who answers for a leaf; see `presage.process.leaves`

T = TypeVar("T")
Asking: TypeAlias = Generator[Op, Response, T]


class Meeting(Protocol):
    """Answers a post and the wait for it at once."""

    script: Sequence[Response]
    left: int  # answers of the script that are still to be given
    watched: int  # so many of them `meet` gives, because what they answer has to be seen

    def meet(self, op: Op, wait: Op) -> Response: ...


class Context:
    """One process, as the libraries it calls see it."""

    answerer = PROCESS

    __slots__ = (  # processes are run again and again, and look here for everything
        "_random",
        "_seed",
        "_slots",
        "ask",
        "at_end",
        "children",
        "clock",
        "clock_read",
        "error",
        "frame",
        "free",
        "guide",
        "log",
        "looks",
        "mark",
        "name",
        "notes",
        "tick",
    )

    def __init__(self, name: str, seed: str, ask: Callable[[Op], Any] | None) -> None:
        self.name = name
        self._seed: str | bytes = seed
        self._random: Random | None = None
        self.clock = 0.0  # how long it has slept
        self.clock_read = False
        self.tick = 0.0  # how long a look at the clock takes
        self.looks = 0
        self.mark: bytes | None = None  # what its future depends on, if it said so
        self.children = 0
        self.notes: dict[str, Any] = {}  # what a library keeps for this process
        self.log: list[str] = []  # lines said since the last operation
        self.at_end: list[Callable[[], None]] = []  # called when the body has returned
        self.error: PresageError | None = None  # kept, because an `except` of the body may eat it
        self.ask = ask  # puts an operation to the world; None in a coroutine, which has to await
        self.guide: Meeting | None = None  # answers what is known; see `presage.process.guide`
        self.frame: Callable[[], Any] | None = None  # where it stands, if it has several stacks
        self.free: list[int] = []  # slots, a heap
        self._slots = 0

    @property
    def random(self) -> Random:
        """Its own chance; seeded by a string, so the same in every interpreter."""
        if self._random is None:  # most processes leave nothing to chance, and seeding takes time
            self._random = Random(self._seed)
        return self._random

    def reseed(self, seed: str | bytes) -> None:
        """Begin a new stream of chance."""
        self._seed, self._random = seed, None

    def read_clock(self) -> float:
        """Look at its clock, which takes a moment where a process may wait for it in a loop."""
        self.clock_read = True
        self.looks += 1
        return self.clock + self.looks * self.tick

    def take(self) -> int:
        """The slot that the next post takes."""
        if self.free:
            return heappop(self.free)
        self._slots += 1
        return self._slots - 1

    def give_back(self, slot: int) -> None:
        heappush(self.free, slot)

    @property
    def newest(self) -> int:
        """The slot that was taken last, where none is given back."""
        return self._slots - 1

    @property
    def open_slots(self) -> tuple[int, ...]:
        """Those that a post has taken and nothing has returned."""
        free = set(self.free)
        return tuple(slot for slot in range(self._slots) if slot not in free)


class PacedContext(Context):
    """A process of a simulation, which has a clock that no process can move."""

    def __init__(
        self,
        name: str,
        seed: str,
        ask: Callable[[Op], Response] | None,
        pace: Callable[[], float],
    ) -> None:
        self._pace = pace
        super().__init__(name, seed, ask)

    @property
    def clock(self) -> float:
        """The time there."""
        return self._pace()

    @clock.setter
    def clock(self, slept: float) -> None:
        """What a process has slept, the simulation knows."""


class _Running(local):
    """The processes that run on a thread, the innermost last; whoever runs one puts it there."""

    def __init__(self) -> None:
        self.stack: list[Context] = []


running = _Running()


def current() -> Context:
    stack = running.stack
    if not stack:
        raise BadCall(
            "no process is running here",
            "a mailbox, MPI or socket function was called outside of a process",
            "call it from the body of a process: `Program({'name': Process(body)})`",
        )
    return stack[-1]


def is_running() -> bool:
    return bool(running.stack)


def _blocks(context: Context) -> Callable[[Op], Response]:
    """What a plain function asks the world with; a coroutine is told that it has to await."""
    if context.ask is None:
        raise BadCall(
            f"process `{context.name}` is a coroutine and called a function that blocks",
            "`presage.mailbox` used in an `async def` process",
            "use `presage.mailbox.aio` there, and `await` what it gives",
        )
    return context.ask


def asked(op: Op) -> Response:
    """What the world answers to one operation, from a plain function."""
    return _blocks(current())(op)


def meet(op: ops.Send | ops.Recv) -> Response:
    """Post and wait until it is complete, from a plain function: `blocking(exchange(op))`, faster.

    Processes are run again and again, and most of what they do is this.
    """
    stack = running.stack
    context = stack[-1] if stack else current()
    ask = context.ask or _blocks(context)
    guide, free = context.guide, context.free
    if guide is not None and (left := guide.left) > guide.watched:
        guide.left = left - 2
        if not free:
            free.append(context.take())  # and given back
        return guide.script[1 - left]  # only the answer to the wait tells something
    slot = heappop(free) if free else context.take()
    wait = WAITS[slot] if slot < len(WAITS) else ops.WaitAny((slot,))
    if guide is not None:
        response = guide.meet(op, wait)
    else:
        ask(op)
        response = ask(wait)
    heappush(free, slot)
    return response


def blocking(asking: Asking[T]) -> T:
    """Run a library's generator to its end, from a plain function."""
    try:
        ask = _blocks(current())
    except BadCall:
        asking.close()
        raise
    try:
        op = next(asking)
        while True:
            op = asking.send(ask(op))
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


class awaiting(Generic[T]):
    """Run a library's generator to its end, from a coroutine: `await awaiting(...)`."""

    def __init__(self, asking: Asking[T]) -> None:
        self._asking = asking

    def __await__(self) -> Asking[T]:
        return (yield from self._asking)


def post(op: ops.Send | ops.Recv) -> Asking[int]:
    """Post an offer or a request; gives its slot."""
    slot = current().take()
    yield op
    return slot


def wait_any(
    slots: tuple[int, ...],
    timeout: float | None = None,
    rivals: tuple[tuple[int, ...], ...] | None = None,
    *,
    polled: bool = False,
) -> Asking[Response]:
    """Wait for one of `slots`; its index is the response's choice, NONE after a timeout."""
    context = current()
    response = yield ops.WaitAny(slots, timeout, rivals, polled)
    if response.choice == ops.NONE:
        context.clock += timeout or 0.0
    else:
        context.give_back(slots[response.choice])
    return response


def test_any(slots: tuple[int, ...]) -> Asking[Response]:
    """Which of `slots` is complete; the response's choice is its index or NONE."""
    context = current()
    response = yield ops.TestAny(slots)
    if response.choice != ops.NONE:
        context.give_back(slots[response.choice])
    return response


test_any.__test__ = False  # type: ignore[attr-defined]


def cancel(slot: int) -> Asking[bool]:
    """Withdraw a post; False if it was matched before."""
    context = current()
    response = yield ops.Cancel(slot)
    if response.choice:
        context.give_back(slot)
    return bool(response.choice)


def sleep(seconds: float = 0.0, flops: float = 0.0) -> Asking[None]:
    context = current()
    yield ops.Sleep(seconds, flops)
    context.clock += seconds


def exchange(op: ops.Send | ops.Recv) -> Asking[tuple[Any, ops.Key]]:
    """Post and wait until it is complete: what a blocking send or receive is."""
    slot = yield from post(op)
    response = yield from wait_any((slot,))
    return response.payload, response.key
