"""What the threads of a rank ask of the world; where one has to wait, others go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from greenlet import GreenletExit

from presage.frontends.mpi.threads.lines import user_line
from presage.frontends.mpi.threads.thread import RankThread
from presage.process import ops
from presage.process.ops import Op, Response

if TYPE_CHECKING:
    from presage.frontends.mpi.threads.threads import Threads

POSTS = frozenset({ops.Send, ops.Recv})
LOOKS = frozenset({ops.Probe, ops.Pick})
TESTS = frozenset({ops.TestAny, ops.Poll, ops.Probe})


class Asking:
    """Stands where the process has its way to ask, and its guide."""

    # No script: threads have to see what is posted, also where the answers are known.
    script: Sequence[Response] = ()
    left: int = 0
    watched: int = 0

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._is_meeting = False  # what is posted is waited for at once

    def ask(self, op: Op) -> Any:
        """Stands in for `Context.ask`."""
        if self._threads.is_over:
            raise GreenletExit
        kind, thread = type(op), self._threads.current
        if kind in POSTS:
            name = self._threads.slots.named()
            self._enter(thread, op if self._is_meeting and not self._is_sure(op) else None)
            self._wake(op.mailbox)  # type: ignore[union-attr]
            response = self._threads.ask_world(op)
            self._threads.slots.posted(name, op)  # type: ignore[arg-type]
            self._threads.done_something()
            return response
        if kind is ops.WaitAny:
            return self._wait(thread, self._threads.slots.wait(op))  # type: ignore[arg-type]
        if kind is ops.Probe and op.blocking:  # type: ignore[union-attr]
            self._wake(op.mailbox)  # type: ignore[union-attr]
            return self._wait(thread, op)  # type: ignore[arg-type]
        if kind is ops.Sleep:
            return self._sleep(thread, op)  # type: ignore[arg-type]
        self._enter(thread)
        if kind in LOOKS:
            self._wake(op.mailbox)  # type: ignore[union-attr]
        if kind in TESTS or getattr(op, "polls", False):
            return self._test(thread, op)
        response = self._threads.ask_world(self._threads.slots.real(op))
        self._threads.slots.answered(op, response)
        return response

    def _test(self, thread: RankThread, op: Op) -> Response:
        where = str(self._threads.context.notes.get("call", ""))
        order, is_free = self._threads.order, self._threads.is_alone or self._threads.order.has_time
        if not is_free and self._threads.has_spun(thread, where):
            waits, instead = order.forced(self._threads.slots.real(op))
            if waits is not None:
                return self._wait(thread, waits)
            response = self._threads.ask_world(instead)
            if response.choice == ops.NONE:
                thread.exhausted, thread.runs_on = self._threads.progress, 0
        else:
            response = self._threads.ask_world(self._threads.slots.real(op))
        self._threads.slots.answered(op, response)
        if response.choice == (0 if isinstance(op, ops.Probe) else ops.NONE):
            self._threads.tested_in_vain(where)
            order.yielded(self._threads)
        else:
            self._threads.done_something()
        return response

    def meet(self, op: Op, wait: Op) -> Response:
        """Stands in for the guide of the process."""
        self._is_meeting = True
        self.ask(op)
        return self.ask(wait)  # type: ignore[no-any-return]

    @staticmethod
    def _is_sure(op: Op) -> bool:
        return isinstance(op, ops.Send) and op.buffered

    def _wake(self, mailbox: str) -> None:
        """Something is posted at a mailbox: now it matters who else posts there."""
        for each in self._threads.alive:
            if each.sleeps and each.post == mailbox:
                each.sleeps = False

    def _enter(self, thread: RankThread, post: Any = None) -> None:
        """Others may go on before a call of MPI does anything.

        If it does nothing but post, and waits, `post` is what it posts.
        """
        self._is_meeting = False
        if thread.in_mpi:
            thread.in_mpi = False
            thread.post = None if post is None else post.mailbox
            self._threads.give_way()
            thread.post, thread.sleeps = None, False

    def _wait(self, thread: RankThread, op: ops.WaitAny | ops.Probe) -> Response:
        self._enter(thread)
        if self._threads.is_alone:
            response = self._threads.ask_world(op)
        elif getattr(op, "polled", False) or self._threads.slots.is_sure(op):
            response = self._threads.ask_world(self._threads.order.beside_others(self._threads, op))
        else:
            thread.wait = op
            response = self._threads.turn(thread)
            thread.wait = None
        self._threads.slots.returned(op, response)
        self._threads.done_something()
        return response

    def _sleep(self, thread: RankThread, op: ops.Sleep) -> Any:
        if self._threads.is_alone:
            return self._threads.ask_world(op)
        self._threads.tested_in_vain(f"sleep at {user_line()}")
        if self._threads.order.has_time:
            self._threads.block(_never, op.seconds)
            self._threads.context.clock -= op.seconds  # which is added by who sleeps
        else:
            self._threads.give_way()
        return Response()


def _never() -> bool:
    return False
