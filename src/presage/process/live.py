"""A live process: real code, run from one operation to the next.

A coroutine is driven by `send`; a plain function runs on a greenlet, which lets it block anywhere
below its body. Neither can be copied, so a process is recreated by running it again, alone, on the
responses it got.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from threading import get_ident, local
from typing import Any, NamedTuple

from greenlet import GreenletExit, getcurrent, greenlet

from presage.errors import BadSystem, Nondeterminism, explain
from presage.model.blame import describe_failure
from presage.model.choice import NOT_THEIRS
from presage.model.source import UNKNOWN, frame_place, place_of
from presage.process.context import Context, PacedContext, enter, leave
from presage.process.ops import Done, End, Exit, Failed, Op, Response

Answer = Op | End


class _Ended(NamedTuple):
    """How the body of a process ended, told by its greenlet."""

    value: Any = None
    error: BaseException | None = None


class _Idle(local):
    """The greenlets of a thread that have nothing to do: making one takes longer than a run."""

    def __init__(self) -> None:
        self.greenlets: list[greenlet] = []


_idle = _Idle()


def _work(run: Callable[[], _Ended]) -> None:
    """Run one process after another; the hub is whoever resumed this greenlet last."""
    while True:
        ended = run()
        run = getcurrent().parent.switch(ended)  # type: ignore[union-attr]


class Live:
    """One run of a process. `at` is the operation it waits at, or how it ended.

    `pass_by` is told every operation; what it answers is given on the spot, without stopping.
    `pace` is the clock of a simulation.
    """

    def __init__(
        self,
        name: str,
        body: Callable[..., Any],
        args: tuple[Any, ...],
        seed: str,
        *,
        is_coroutine: bool,
        pass_by: Callable[[Op], Response | None] | None = None,
        pace: Callable[[], float] | None = None,
    ) -> None:
        self.name = name
        self._pass_by = pass_by
        self._body = body
        self._args = args
        ask = None if is_coroutine else self._block
        self.context = (
            Context(name, seed, ask) if pace is None else PacedContext(name, seed, ask, pace)
        )
        self._coroutine: Any = None
        self._greenlet: Any = None
        self._hub: Any = None  # who resumed the greenlet
        self._thread = get_ident()
        self.at: Answer = self._within(self._begin_coroutine if is_coroutine else self._begin)

    @property
    def is_ours(self) -> bool:
        """Whether this thread may resume it: a greenlet belongs to the thread that made it."""
        return self._thread == get_ident()

    @property
    def place(self) -> str:
        """The line of the user's code at which it stands; "" if that is not known."""
        told, inner = "", self._coroutine
        if inner is None:
            told = frame_place(self._greenlet.gr_frame if self._greenlet is not None else None)
        while inspect.iscoroutine(inner):
            outer, inner = inner, inner.cr_await
            here = frame_place(outer.cr_frame)
            told = told if here == UNKNOWN else here
        return "" if told == UNKNOWN else told

    def resume(self, response: Response) -> Answer:
        """Give the response to the operation it waits at, and run it to the next."""
        self.context.log.clear()
        self.at = self._within(
            self._send if self._coroutine is not None else self._switch, response
        )
        return self.at

    def close(self) -> None:
        """Let go of it; what its `finally` clauses ask of the world is not heard."""
        if self._coroutine is not None:
            _quietly(self._coroutine.close)
        elif self._greenlet is not None:
            self._hub = None
            _quietly(self._greenlet.throw)

    def _within(self, go: Callable[..., Answer], *given: Any) -> Answer:
        enter(self.context)
        try:
            answer = go(*given)
            if self.context.error is not None:
                raise self.context.error
            return answer
        except NOT_THEIRS:
            raise
        except BaseException as error:
            return self._failed(error)
        finally:
            leave()

    def _failed(self, error: BaseException) -> Failed:
        brief, text = describe_failure(error, self._body)
        return Failed(str(getattr(error, "kind", "exception")), brief, text)

    def _begin_coroutine(self) -> Answer:
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
            response = None if self._pass_by is None else self._pass_by(op)
            if response is None:
                return op

    def _foreign(self, awaited: Any) -> BadSystem:
        kind = type(awaited).__name__
        return BadSystem(
            explain(
                f"{place_of(self._body)}: process `{self.name}` awaits a `{kind}`",
                "asyncio or another library's awaitable, which presage does not drive",
                "await what `presage.mailbox.aio` gives",
            )
        )

    def _begin(self) -> Answer:
        idle = _idle.greenlets
        self._greenlet = idle.pop() if idle else greenlet(_work)
        return self._switch(self._run)

    def _switch(self, *given: Any) -> Answer:
        self._hub = getcurrent()
        self._greenlet.parent = self._hub
        answer = self._greenlet.switch(*given)
        if type(answer) is not _Ended:
            return answer  # type: ignore[no-any-return]
        _idle.greenlets.append(self._greenlet)
        self._greenlet = None
        if answer.error is not None:
            raise answer.error
        return Done(answer.value)

    def _run(self) -> _Ended:
        try:
            value = self._body(*self._args)
            if inspect.iscoroutine(value):
                value.close()
                raise _forgotten(self.name, self._body)
            self._ended()
            return _Ended(value)
        except Exit:
            self._ended()
            return _Ended()
        except GreenletExit:
            raise
        except BaseException as error:
            return _Ended(error=error)

    def _ended(self) -> None:
        for call in self.context.at_end:
            call()

    def _block(self, op: Op) -> Response:
        pass_by = self._pass_by
        if pass_by is not None:
            response = pass_by(op)
            if response is not None:
                return response
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
        explain(
            f"process `{name}`: {place_of(body)} returned a coroutine",
            "a lambda or a plain function that calls an `async def`",
            "give the `async def` itself, and its arguments: `Process(body, *args)`",
        )
    )


def _quietly(close: Callable[[], Any]) -> None:
    try:
        close()
    except BaseException:  # of `finally` clauses that ran on too long or raised
        return
