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

from presage.mailbox import asking
from presage.mailbox import this_actor as this_actor
from presage.mailbox.actor import Actor as Actor
from presage.mailbox.boxes import ActivitySet as ActivitySet
from presage.mailbox.boxes import Comm as Comm
from presage.mailbox.boxes import Mailbox as Mailbox
from presage.mailbox.comm import TimeoutException as TimeoutException
from presage.mailbox.forms import plain
from presage.mailbox.synchro import Barrier as Barrier
from presage.mailbox.synchro import ConditionVariable as ConditionVariable
from presage.mailbox.synchro import Mutex as Mutex
from presage.mailbox.synchro import Semaphore as Semaphore
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
