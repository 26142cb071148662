"""`id` for modules that a process has for itself: numbers in the order of asking, not addresses.

Addresses differ from run to run, and libraries put them into messages and dicts. Private modules
find this function under the name `id`; no other module does, so what the standard library keeps
by address outside of processes is not touched.

A number belongs to its object while it lives, as an address does. Objects that cannot be referenced
weakly live as long as the process. Numbers that are asked for while modules are executed belong to
the copy of these modules: the next process that uses the copy does not execute them again.
"""

from __future__ import annotations

from builtins import id as address
from typing import Any
from weakref import ref

from presage.frontends.real.finder import FINDER
from presage.process.context import MACHINE, running

FIRST, STEP = 0x7F00_0000_0000, 16  # so that the numbers look like addresses
IMPORTED = 0x7E00_0000_0000  # the first of those that belong to a copy


class Identities:
    """Numbers of objects."""

    __slots__ = ("_known", "_next")

    def __init__(self, first: int) -> None:
        self._known: dict[int, tuple[Any, int]] = {}
        self._next = first

    def find(self, thing: Any) -> int | None:
        found = self._known.get(address(thing))
        return found[1] if found is not None and found[0]() is thing else None

    def give(self, thing: Any) -> int:
        number = self._next
        self._next += STEP
        self._known[address(thing)] = _holder(thing), number
        return number


def identity(thing: Any, /) -> int:
    """As `id`."""
    stack: list[Any] = running.stack
    copy: Any = FINDER.copy
    if copy is None or not stack or stack[-1].answerer != MACHINE:
        return address(thing)
    number: int | None = copy.identities.find(thing)
    if number is not None:
        return number
    if copy.is_loading():
        return int(copy.identities.give(thing))
    notes = stack[-1].notes
    if "identities" not in notes:
        notes["identities"] = Identities(FIRST)
    mine: Identities = notes["identities"]
    number = mine.find(thing)
    return mine.give(thing) if number is None else number


def _holder(thing: Any) -> Any:
    """Gives the object while it lives."""
    try:
        return ref(thing)
    except TypeError:
        return lambda: thing
