"""A live process: real code, run from one operation to the next.

A coroutine is driven by `send`; a plain function runs on a greenlet, which lets it block anywhere
below its body. Neither can be copied, so a process is recreated by running it again, alone, on the
responses it got.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from threading import get_ident
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

from presage.errors import BadSystem, Nondeterminism, explain
from presage.model.blame import describe_failure
from presage.model.choice import NOT_THEIRS
from presage.model.source import place_of
from presage.process.context import Context, enter, leave
from presage.process.ops import Done, End, Exit, Failed, Op, Response

Answer = Op | End


class Live:
    """One run of a process. `at` is the operation it waits at, or how it ended."""

    def __init__(
        self, name: str, body: Callable[..., Any], args: tuple[Any, ...], seed: str
    ) -> None:
        self.name = name
        self._body = body
        self._args = own(args)
        is_coroutine = inspect.iscoroutinefunction(body)
        self.context = Context(name, seed, None if is_coroutine else self._block)
        self._coroutine: Any = None
        self._greenlet: Any = None
        self._hub: Any = None  # who resumed the greenlet
        self._thread = get_ident()
        self.at: Answer = self._within(self._begin_coroutine if is_coroutine else self._begin)

    @property
    def is_ours(self) -> bool:
        """Whether this thread may resume it: a greenlet belongs to the thread that made it."""
        return self._thread == get_ident()

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
        elif self._greenlet is not None and not self._greenlet.dead:
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
        try:
            op = self._coroutine.send(response)
        except StopIteration as stop:
            self._ended()
            return Done(stop.value)
        except Exit:
            self._ended()
            return Done()
        if not isinstance(op, Op):
            raise BadSystem(
                explain(
                    f"{place_of(self._body)}: process `{self.name}` awaits a `{type(op).__name__}`",
                    "asyncio or another library's awaitable, which presage does not drive",
                    "await what `presage.mailbox.aio` gives",
                )
            )
        return op

    def _begin(self) -> Answer:
        self._greenlet = greenlet(self._run)
        return self._switch()

    def _switch(self, *given: Any) -> Answer:
        self._hub = getcurrent()
        self._greenlet.parent = self._hub
        answer = self._greenlet.switch(*given)
        if self._greenlet.dead:
            value, error = answer
            if error is not None:
                raise error
            return Done(value)
        return answer  # type: ignore[no-any-return]

    def _run(self) -> tuple[Any, BaseException | None]:
        try:
            value = self._body(*self._args)
            if inspect.iscoroutine(value):
                value.close()
                raise _forgotten(self.name, self._body)
            self._ended()
            return value, None
        except Exit:
            self._ended()
            return None, None
        except GreenletExit:
            raise
        except BaseException as error:
            return None, error

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
        explain(
            f"process `{name}`: {place_of(body)} returned a coroutine",
            "a lambda or a plain function that calls an `async def`",
            "give the `async def` itself, and its arguments: `Process(body, *args)`",
        )
    )


def own(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A copy, so that each run begins with the same, whatever the last one made of it."""
    try:
        return deepcopy(args)
    except Exception:  # something that cannot be copied: a module, a lock
        return args


def _quietly(close: Callable[[], Any]) -> None:
    try:
        close()
    except BaseException:  # of `finally` clauses that ran on too long or raised
        return
