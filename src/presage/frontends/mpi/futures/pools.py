"""Who executes tasks: other ranks that take them from a mailbox, or the rank itself.

The tasks of an executor are in one mailbox, and the worker that asks first gets the next. Nobody
hands them out, so that a search tries every way in which workers can share them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from typing import Any

from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.futures.future import Future, drive
from presage.frontends.mpi.futures.worker import END, FAILED, READY, Boxes, Setup, pickled
from presage.frontends.mpi.rma.memory import leave, take
from presage.process.context import blocking, cancel, post, wait_any
from presage.process.ops import Recv, Response, Send

Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class Ranks:
    """Workers that are ranks."""

    def __init__(self, name: str, size: int, setup: Setup) -> None:
        self.size, self.broken = size, ""
        self._boxes = Boxes.of(name)
        self._unheard = 0  # workers of which it is not known whether they are ready
        self._serving = size
        self._slot: int | None = None
        self._begun = 0
        self._pending: dict[int, tuple[Future, int]] = {}  # and the slots of their messages
        self._begin(setup)

    def _begin(self, setup: Setup) -> None:
        self._unheard = self.size
        for _ in range(self.size):
            leave(self._boxes.setup, tuple(setup))

    @property
    def is_busy(self) -> bool:
        return bool(self._pending)

    def submit(self, task: Task) -> Future:
        enter_call("submit")
        future = Future(self)
        try:
            data = pickled(task)
        except Exception as error:
            future.set_running_or_notify_cancel()
            future.set_exception(error)
            return future
        self._begun += 1
        slot = blocking(post(Send(self._boxes.tasks, (self._boxes.results, self._begun, data))))
        self._pending[self._begun] = future, slot
        return future

    def step(self) -> bool:
        return False

    def listen(self) -> int:
        enter_call("result of a task")
        if self._slot is None:
            self._slot = blocking(post(Recv(self._boxes.results)))
        return self._slot

    def arrived(self, response: Response) -> None:
        self._slot = None
        self._heard(response.payload)

    def _heard(self, message: Any) -> None:
        number, data = message
        if number in (READY, FAILED):
            self._unheard -= 1
            if number == FAILED:
                self._serving -= 1
                self._break()
            return
        future, slot = self._pending.pop(number)
        blocking(wait_any((slot,)))
        future.set_running_or_notify_cancel()
        is_good, result = pickle.loads(data)
        if is_good:
            future.set_result(result)
        else:
            future.set_exception(result)

    def _break(self) -> None:
        """No worker that cannot be initialized gets a task, so none that waits is certain."""
        self.broken = "initializer failed"
        for future, _ in list(self._pending.values()):
            if self.withdraw(future):
                future.set_running_or_notify_cancel()
                future.set_exception(BrokenExecutor(self.broken))

    def withdraw(self, future: Any) -> bool:
        for number, (each, slot) in self._pending.items():
            if each is future and blocking(cancel(slot)):
                del self._pending[number]
                return True
        return False

    def cancel_all(self) -> None:
        for future, _ in list(self._pending.values()):
            future.cancel()

    def finish(self) -> None:
        """Wait for all results, and let the workers end."""
        enter_call("shutdown")
        drive([self], lambda: not self._pending, None)
        while self._unheard:
            self._heard(self._next())
        self._end()

    def _end(self) -> None:
        for _ in range(self._serving):
            leave(self._boxes.tasks, END)

    def _next(self) -> Any:
        if self._slot is None:
            return take(self._boxes.results)
        slot, self._slot = self._slot, None
        return blocking(wait_any((slot,))).payload


class Own:
    """The rank itself, one task after another: what threads do in some run."""

    def __init__(self, size: int, setup: Callable[[], bool]) -> None:
        self.size, self.broken = size, ""
        self._setup: Callable[[], bool] | None = setup
        self._waiting: list[tuple[Future, Task]] = []

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting)

    def submit(self, task: Task) -> Future:
        future = Future(self)
        self._waiting.append((future, task))
        return future

    def step(self) -> bool:
        if self._setup is not None:
            setup, self._setup = self._setup, None
            self.broken = "" if setup() else "initializer failed"
        future, (function, args, named) = self._waiting.pop(0)
        future.set_running_or_notify_cancel()
        if self.broken:
            future.set_exception(BrokenExecutor(self.broken))
            return True
        try:
            future.set_result(function(*args, **named))
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            future.set_exception(error)
        return True

    def listen(self) -> int:
        raise NotImplementedError  # it always has something to do

    def arrived(self, response: Response) -> None:
        raise NotImplementedError

    def withdraw(self, future: Any) -> bool:
        known = len(self._waiting)
        self._waiting = [each for each in self._waiting if each[0] is not future]
        return len(self._waiting) < known

    def cancel_all(self) -> None:
        for future, _ in list(self._waiting):
            future.cancel()

    def finish(self) -> None:
        """Do all that is left."""
        while self._waiting:
            self.step()
