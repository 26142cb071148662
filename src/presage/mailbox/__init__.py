"""Mailboxes, actors and locks in the style of SimGrid's Python, for processes that block.

comm        a put or a get from its start to its end
locks       mutexes, semaphores, barriers and conditions made of mailboxes
asking      other processes, chance, time, marks
forms       a generator as a plain function, or as a coroutine
boxes, synchro, actor, this_actor     the same for plain functions
aio         the same for coroutines

Everything is made of the operations in `presage.process.ops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

from presage.mailbox import asking, this_actor
from presage.mailbox.actor import Actor
from presage.mailbox.boxes import ActivitySet, Comm, Mailbox
from presage.mailbox.comm import TimeoutException
from presage.mailbox.forms import plain
from presage.mailbox.synchro import Barrier, ConditionVariable, Mutex, Semaphore
from presage.process.context import blocking

T = TypeVar("T")

__all__ = [
    "ActivitySet",
    "Actor",
    "Barrier",
    "Comm",
    "ConditionVariable",
    "Mailbox",
    "Mutex",
    "Semaphore",
    "TimeoutException",
    "choose",
    "mark",
    "publish",
    "this_actor",
]


@overload
def choose(options: int) -> int: ...
@overload
def choose(options: Sequence[T]) -> T: ...
def choose(options: int | Sequence[T]) -> int | T:
    """A number from 0 below `options`, or one of them; a search tries each."""
    return blocking(asking.choose(options))


publish = plain(asking.publish)
mark = plain(asking.mark)
