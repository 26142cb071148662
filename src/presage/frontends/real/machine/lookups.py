"""Names that a loop of asyncio looks up: the answer is an event of its node, without a thread.

asyncio calls `getaddrinfo` in a thread of its executor, since with a real network that takes time.
Here it is a look into a table that never changes, so nothing matters but when the answer comes. A
thread could besides be stopped at each lock of the executor, so that one look-up alone had 303
states, and has 2 now. So the answer is what can happen, at any moment, in any order.

As long as the loop has no executor, that is. Where the program has one, a look-up waits until one
of its threads is free, as ever.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextvars import Context
from typing import Any

from presage.frontends.real.machine.aio import LOOP
from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.process import Part, Process
from presage.process.leaves import ORIGINALS, extend, machine_leaf
from presage.records import NamedTuple


class Lookup(NamedTuple):
    """One question that is under way."""

    name: str  # of its event
    loop: Any
    future: Any
    ask: Callable[[], Any]


class Lookups:
    """Those of one process."""

    def __init__(self, process: Process) -> None:
        self._under_way: list[Lookup] = []

    def add(self, loop: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Ask for something; gives the future of the answer."""
        about = f"{args[0]}:{args[1]}" if len(args) > 1 and isinstance(args[0], str) else str(args)
        taken, name, number = {each.name for each in self._under_way}, about, 1
        while name in taken:
            number += 1
            name = f"{about} #{number}"
        future = loop.create_future()
        self._under_way.append(Lookup(name, loop, future, lambda: function(*args)))
        return future

    def own_events(self) -> list[tuple[str, str]]:
        """The answers that somebody still waits for; each may come."""
        self._under_way = [
            each for each in self._under_way if not (each.future.done() or each.loop.is_closed())
        ]
        return [("look up", each.name) for each in self._under_way]

    def go(self, event: tuple[str, str]) -> None:
        """An answer comes."""
        found = next(each for each in self._under_way if each.name == event[1])
        self._under_way.remove(found)
        tell, value = found.future.set_result, None
        try:
            value = found.ask()
        except Exception as error:
            tell, value = found.future.set_exception, error
        found.loop.call_soon_threadsafe(_tell, found.future, tell, value, context=Context())

    def dispose(self) -> None:
        self._under_way.clear()


def _tell(future: Any, tell: Callable[[Any], None], value: Any) -> None:
    if not future.done():
        tell(value)


def _run_in_executor(loop: Any, executor: Any, func: Any, *args: Any) -> Any:
    if executor is None and loop._default_executor is None and not loop.is_closed():
        if func in (socket.getaddrinfo, socket.getnameinfo, loop._getaddrinfo_debug):
            return here().lookups.add(loop, func, args)
    return ORIGINALS[LOOP, "run_in_executor"](loop, executor, func, *args)


ANSWERS = {(LOOP, "run_in_executor"): _run_in_executor}
extend((machine_leaf(*key) for key in ANSWERS), ANSWERS)
Part("lookups", Lookups)
