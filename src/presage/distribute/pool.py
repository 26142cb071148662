"""What does tasks: this process, or workers elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from presage.distribute.task import Answer, Task, work


class WorkerLost(Exception):
    """A task was begun as often as may be, and each worker died of it."""


class Pool(Protocol):
    """Workers. A handle stands for a task that was handed out."""

    workers: int

    def submit(self, task: Task) -> Any:
        """Hand a task out; gives its handle."""

    def wait(self, handles: Sequence[Any], seconds: float) -> list[Any]:
        """Those of `handles` that are done; waits at most so long for the first."""

    def answer(self, handle: Any) -> Answer:
        """What became of a task that is done; raises `WorkerLost`."""

    def cancel(self, handle: Any) -> None:
        """Forget a task, whether or not it runs."""

    def close(self) -> None:
        """Leave nothing behind."""


class Here:
    """This process, as a pool of one worker: a task is done when it is waited for."""

    workers = 1

    def __init__(self) -> None:
        self._answers: dict[int, Answer] = {}
        self._tasks: dict[int, Task] = {}
        self._next = 0

    def submit(self, task: Task) -> int:
        self._next += 1
        self._tasks[self._next] = task
        return self._next

    def wait(self, handles: Sequence[int], seconds: float) -> list[int]:
        handle = handles[0]
        self._answers[handle] = work(self._tasks.pop(handle))
        return [handle]

    def answer(self, handle: int) -> Answer:
        return self._answers.pop(handle)

    def cancel(self, handle: int) -> None:
        self._tasks.pop(handle, None)

    def close(self) -> None:
        self._tasks.clear()
