"""What a coroutine says of itself: `await this_actor.sleep_for(1)`."""

from __future__ import annotations

from presage.mailbox import asking
from presage.mailbox.this_actor import debug as debug
from presage.mailbox.this_actor import error as error
from presage.mailbox.this_actor import exit as exit
from presage.mailbox.this_actor import get_name as get_name
from presage.mailbox.this_actor import info as info
from presage.mailbox.this_actor import warning as warning
from presage.process.context import awaiting, sleep


async def sleep_for(seconds: float) -> None:
    """Let time pass."""
    await awaiting(sleep(seconds))


async def sleep_until(moment: float) -> None:
    """Let time pass until the process's own clock says `moment`."""
    await awaiting(asking.sleep_until(moment))


async def execute(flops: float) -> None:
    """Compute; how long that takes depends on the host of a simulation."""
    await awaiting(sleep(0.0, flops))


async def yield_() -> None:
    """Let others go on."""
    await awaiting(sleep(0.0))
