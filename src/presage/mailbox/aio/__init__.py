"""`presage.mailbox` for `async def` processes: the same names, to await."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

from presage.mailbox import __all__ as __all__
from presage.mailbox import asking
from presage.mailbox.aio import this_actor as this_actor
from presage.mailbox.aio.actor import Actor as Actor
from presage.mailbox.aio.boxes import ActivitySet as ActivitySet
from presage.mailbox.aio.boxes import Comm as Comm
from presage.mailbox.aio.boxes import Mailbox as Mailbox
from presage.mailbox.aio.synchro import Barrier as Barrier
from presage.mailbox.aio.synchro import ConditionVariable as ConditionVariable
from presage.mailbox.aio.synchro import Mutex as Mutex
from presage.mailbox.aio.synchro import Semaphore as Semaphore
from presage.mailbox.comm import TimeoutException as TimeoutException
from presage.mailbox.forms import awaited
from presage.process.context import awaiting

T = TypeVar("T")


@overload
async def choose(options: int) -> int: ...
@overload
async def choose(options: Sequence[T]) -> T: ...
async def choose(options: int | Sequence[T]) -> int | T:
    """A number from 0 below `options`, or one of them; a search tries each."""
    return await awaiting(asking.choose(options))


publish = awaited(asking.publish)
mark = awaited(asking.mark)
