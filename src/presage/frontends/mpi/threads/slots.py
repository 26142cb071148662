"""The slots of a rank with several threads: the first to post gets the smallest that is free.

A thread takes a number for its post, gives way, and posts later: by then others may have posted.
So its number is a name, which is never used again, and the slot is known once it has posted.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from presage.process import ops
from presage.process.context import Context
from presage.process.ops import NONE, Op, Response


class _Never(list[int]):
    """Names that were given back: none is taken again."""

    def __bool__(self) -> bool:
        return False


class Slots:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._real: dict[int, int] = {}  # by name
        self._sure: set[int] = set()  # slots of sends that are complete for their sender
        self._free: list[int] = []
        self._next = 0

    def begin(self) -> None:
        """Those that are open are named as they are called."""
        context = self._context
        taken = context.open_slots
        self._real = {slot: slot for slot in taken}
        self._next = max(taken, default=-1) + 1
        self._free = [slot for slot in range(self._next) if slot not in self._real]
        context.free = _Never()

    def named(self) -> int:
        """The name that was just taken for a post."""
        self._context.free.clear()
        return self._context.newest

    def take(self) -> int:
        """The slot that the next post takes."""
        if self._free:
            return heappop(self._free)
        self._next += 1
        return self._next - 1

    def posted(self, name: int, op: ops.Send | ops.Recv) -> None:
        slot = self._real[name] = self.take()
        if isinstance(op, ops.Send) and op.buffered:
            self._sure.add(slot)

    def real(self, op: Op) -> Op:
        """An operation on slots instead of names."""
        match op:
            case ops.TestAny():
                return ops.TestAny(tuple(self._real[name] for name in op.slots))
            case ops.Cancel():
                return ops.Cancel(self._real[op.slot])
        return op

    def wait(self, op: ops.WaitAny) -> ops.WaitAny:
        slots = tuple(self._real[name] for name in op.slots)
        rivals = op.rivals
        if rivals is not None:
            rivals = tuple(tuple(self._real[name] for name in group) for group in rivals)
        return ops.WaitAny(slots, op.timeout, rivals, op.polled)

    def is_sure(self, op: Any) -> bool:
        """Whether a wait is for a send that is complete for its sender."""
        return isinstance(op, ops.WaitAny) and op.slots[0] in self._sure and len(op.slots) == 1

    def answered(self, op: Op, response: Response) -> None:
        """A test has returned a slot, or a post was withdrawn."""
        if isinstance(op, ops.TestAny) and response.choice != NONE:
            self._back(self._real[op.slots[response.choice]])
        elif isinstance(op, ops.Cancel) and response.choice:
            self._back(self._real[op.slot])

    def returned(self, op: Any, response: Response) -> None:
        """A wait, on slots, has ended."""
        if isinstance(op, ops.WaitAny) and response.choice != NONE:
            self._back(op.slots[response.choice])

    def _back(self, slot: int) -> None:
        self._sure.discard(slot)
        heappush(self._free, slot)
