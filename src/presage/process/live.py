"""A live process: real code, run from one operation to the next.

A coroutine is driven by `send`; a plain function runs on a greenlet, which lets it block anywhere
below its body. Neither can be copied, so a process is recreated by running it again, alone, on the
responses it got.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from threading import get_ident, local
from types import CoroutineType
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

from presage.errors import BadSystem, Nondeterminism
from presage.model.choice import NOT_THEIRS
from presage.model.service.blame import describe_failure
from presage.model.source import UNKNOWN, frame_place, place_of, raised
from presage.process.context import Context, PacedContext, running
from presage.process.guide import ScriptedReplies
from presage.process.loops import called_in, close_unstarted, wants_loop
from presage.process.ops import Done, End, Exit, Failed, Op, Response
from presage.process.program import Process, Program

Answer = Op | End


ENDED = object()  # told by a greenlet: the body has ended


class _Idle(local):
    """The greenlets of a thread that have nothing to do: making one takes longer than a run."""

    def __init__(self) -> None:
        self.greenlets: list[greenlet] = []


_idle = _Idle()


def lend_greenlet() -> greenlet:
    """A greenlet of this thread; its next `switch` is given what to run, which gives `ENDED`."""
    idle = _idle.greenlets
    if idle:
        return idle.pop()
    work = greenlet(_work)
    work.switch()
    return work


def return_greenlet(work: greenlet) -> None:
    """Take a greenlet back whose body has ended."""
    _idle.greenlets.append(work)


def _work() -> None:
    """Run one process after another; the hub is whoever resumed this greenlet last.

    What a greenlet is started with it keeps as long as it lives. So it is started with nothing, and
    keeps nothing of a process that ended: that would be all of its system.
    """
    ended: object = None
    while True:
        run: Callable[[], object] = getcurrent().parent.switch(ended)  # type: ignore[union-attr]
        ended = run()
        del run


class RunningProcess:
    """One run of a process. `at` is the operation it waits at, or how it ended.

    A `guide` is asked every operation; what it answers is given on the spot, without stopping.
    `pace` is the clock of a simulation.
    """

    __slots__ = (
        "_args",
        "_body",
        "_coroutine",
        "_error",
        "_greenlet",
        "_guide",
        "_hub",
        "_value",
        "at",
        "context",
        "name",
        "thread",
    )

    def __init__(
        self,
        name: str,
        body: Callable[..., Any],
        args: tuple[Any, ...],
        seed: str,
        *,
        is_coroutine: bool,
        guide: ScriptedReplies | None = None,
        pace: Callable[[], float] | None = None,
    ) -> None:
        self.name = name
        self._guide = guide
        self._body = body
        self._args = args
        self._coroutine: Any = None
        self._greenlet: Any = None
        self._hub: Any = None  # who resumed the greenlet
        self._value: Any = None  # what the body returned
        self._error: BaseException | None = None  # what it raised
        self.thread = get_ident()
        ask: Callable[[Op], Any] | None = None
        if not is_coroutine:
            ask = block = self._block
            if guide is not None:
                guide.stop, ask = block, guide.ask
        self.context = (
            Context(name, seed, ask) if pace is None else PacedContext(name, seed, ask, pace)
        )
        self.context.guide = guide
        self.at = self._within(self._begin_coroutine if is_coroutine else self._begin, None)

    @classmethod
    def of(
        cls,
        program: Program,
        name: str,
        process: Process,
        guide: ScriptedReplies | None = None,
        pace: Callable[[], float] | None = None,
    ) -> RunningProcess:
        """A fresh run of a process, at its first operation, or where its guide leads."""
        return cls(
            name,
            process.body,
            process.own_args(),
            f"{program.seed}/{name}",
            is_coroutine=process.is_coroutine,
            guide=guide,
            pace=pace,
        )

    @property
    def is_ours(self) -> bool:
        """Whether this thread may resume it: a greenlet belongs to the thread that made it."""
        return self.thread == get_ident()

    @property
    def place(self) -> str:
        """The line of the user's code at which it stands; "" if that is not known."""
        told, inner = "", self._coroutine
        if inner is None:
            frame = self._greenlet.gr_frame if self._greenlet is not None else None
            own = self.context.frame
            told = frame_place(frame if own is None else own() or frame)
        while inspect.iscoroutine(inner):
            outer, inner = inner, inner.cr_await
            here = frame_place(outer.cr_frame)
            told = told if here == UNKNOWN else here
        return "" if told == UNKNOWN else told

    def resume(self, response: Response) -> Answer:
        """Give the response to the operation it waits at, and run it to the next."""
        self.context.log.clear()
        go = self._switch if self._coroutine is None else self._send
        self.at = self._within(go, response)
        return self.at

    def relay(self, response: Response, last: Callable[[], RunningProcess]) -> Answer:
        """`resume` of a process that may give way to others: gives how the last of them stops."""
        if self._coroutine is not None:
            return self.resume(response)
        stack = running.stack
        self.context.log.clear()
        stack.append(self.context)
        try:
            answer = self._enter(response)
        finally:
            stack.pop()
        process = last()
        process.at = process._within(process._stopped, answer)
        return process.at

    def give_way(self, op: Op, other: RunningProcess, response: Response) -> Response:
        """From within: stop at `op`, and let another that has stopped go on in its place.

        The caller of `relay`, by which this one was resumed, then waits for that one.
        """
        if self._hub is None:
            raise GreenletExit
        self.at = op
        running.stack[-1] = other.context
        other.context.log.clear()
        return other._greenlet.switch(response)  # type: ignore[no-any-return]

    def close(self) -> None:
        """Let go of it; what its `finally` clauses ask of the world is not heard."""
        if self._coroutine is not None:
            _quietly(self._coroutine.close)
        elif self._greenlet is not None:
            self._hub = None
            _quietly(self._greenlet.throw)

    def _within(self, go: Callable[[Any], Answer], given: Any) -> Answer:
        stack, context = running.stack, self.context
        stack.append(context)
        try:
            answer = go(given)
            if context.error is not None:
                raise context.error
            return answer
        except NOT_THEIRS as error:
            close_unstarted(error)
            raise
        except BaseException as error:
            return self._failed(error)
        finally:
            stack.pop()

    def _failed(self, error: BaseException) -> Failed:
        if wants_loop(error):
            close_unstarted(error)
            raise self._without_loop(error) from error
        brief, text = describe_failure(error, self._body)
        return Failed(str(getattr(error, "kind", "exception")), brief, text)

    def _begin_coroutine(self, _: None) -> Answer:
        self._coroutine = self._body(*self._args)
        return self._send(None)

    def _send(self, response: Response | None) -> Answer:
        while True:
            try:
                op = self._coroutine.send(response)
            except StopIteration as stop:
                self._ended()
                return Done(stop.value)
            except Exit:
                self._ended()
                return Done()
            if not isinstance(op, Op):
                raise self._foreign(op)
            response = None if self._guide is None else self._guide.ask(op)
            if response is None:
                return op

    def _without_loop(self, error: BaseException) -> BadSystem:
        """The process calls `asyncio.sleep` or the like, which wants the event loop of asyncio."""
        where = raised(error.__traceback__)
        return BadSystem(
            f"{where[0] if where else place_of(self._body)}: process `{self.name}` calls"
            f" `{called_in(error)}`, and there is no event loop",
            "a coroutine written for asyncio; presage itself decides who runs next",
            "`presage.mailbox.aio` has what a process may await:"
            " `await this_actor.sleep_for(1)` for `asyncio.sleep(1)`",
        )

    def _foreign(self, awaited: Any) -> BadSystem:
        kind = type(awaited).__name__
        return BadSystem(
            f"{place_of(self._body)}: process `{self.name}` awaits a `{kind}`",
            "asyncio or another library's awaitable, which presage does not drive",
            "await what `presage.mailbox.aio` gives",
        )

    def _begin(self, _: None) -> Answer:
        self._greenlet = lend_greenlet()
        return self._switch(self._run)

    def _switch(self, given: Any) -> Answer:
        return self._stopped(self._enter(given))

    def _enter(self, given: Any) -> Any:
        hub, work = getcurrent(), self._greenlet
        if hub is not self._hub:
            self._hub = work.parent = hub
        return work.switch(given)

    def _stopped(self, answer: Any) -> Answer:
        """What its switch gave: what it asks, or that it has ended."""
        if answer is not ENDED:
            return answer  # type: ignore[no-any-return]
        return_greenlet(self._greenlet)
        self._greenlet = self.context.ask = None
        if self._guide is not None:  # no circles: it need not wait for the garbage collector
            self._guide.stop = self._guide.no_answer
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return Done(self._value)

    def _run(self) -> object:
        try:
            value = self._body(*self._args)
            if type(value) is CoroutineType:
                value.close()
                raise _forgotten(self.name, self._body)
            if self.context.at_end:
                self._ended()
            self._value = value
        except Exit:
            self._ended()
        except GreenletExit:
            raise
        except BaseException as error:
            self._error = error
        return ENDED

    def _ended(self) -> None:
        for call in self.context.at_end:
            call()

    def _block(self, op: Op) -> Response:
        if self._hub is None:
            raise GreenletExit
        return self._hub.switch(op)  # type: ignore[no-any-return]


def another(name: str, before: object, now: object) -> Nondeterminism:
    """With the same responses, a process asked for something else."""
    return Nondeterminism(
        f"process `{name}`: with the same responses it once did `{before}`, then `{now}`"
    )


def _forgotten(name: str, body: Callable[..., Any]) -> BadSystem:
    return BadSystem(
        f"process `{name}`: {place_of(body)} returned a coroutine",
        "a lambda or a plain function that calls an `async def`",
        "give the `async def` itself, and its arguments: `Process(body, *args)`",
    )


def _quietly(close: Callable[[], Any]) -> None:
    try:
        close()
    except BaseException:  # of `finally` clauses that ran on too long or raised
        return
