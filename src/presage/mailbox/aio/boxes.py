"""Mailboxes and communications, for coroutines: the same names, to await."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from presage.mailbox import comm as steps
from presage.mailbox import locks
from presage.mailbox.comm import Activities, Activity
from presage.mailbox.forms import awaited
from presage.process.context import awaiting
from presage.process.ops import Recv, Send


class Comm(Activity):
    """A put or a get under way."""

    start = awaited(steps.start)
    wait = awaited(steps.wait)
    wait_for = awaited(steps.wait_for)
    test = awaited(steps.test)
    cancel = awaited(steps.cancel)
    detach = awaited(steps.detach)
    wait_any = staticmethod(awaited(steps.wait_any))
    wait_any_for = staticmethod(awaited(steps.wait_any_for))
    wait_all = staticmethod(awaited(steps.wait_all))
    test_any = staticmethod(awaited(steps.test_any))


@dataclass(frozen=True)
class Mailbox:
    """A place to meet: puts and gets at the same name are matched in the order of posting."""

    name: str

    @staticmethod
    def by_name(name: str) -> Mailbox:
        """The mailbox of that name; all mailboxes exist."""
        return Mailbox(name)

    async def put(self, payload: Any, size: float = 0, timeout: float | None = None) -> None:
        """Send, and wait until it is received."""
        comm = await self.put_init(payload, size).start()
        await awaiting(steps.wait_or_withdraw(comm, timeout))

    async def put_async(self, payload: Any, size: float = 0) -> Comm:
        """Start to send."""
        return await self.put_init(payload, size).start()

    def put_init(self, payload: Any, size: float = 0) -> Comm:
        """What `start` or `detach` will send."""
        return Comm(Send(self.name, payload, size=size))

    async def get(self, timeout: float | None = None) -> Any:
        """Receive; after a timeout, raise `TimeoutException` and ask no longer."""
        return await awaiting(locks.take(self.name, timeout))

    async def get_async(self) -> Comm:
        """Start to receive."""
        return await self.get_init().start()

    def get_init(self) -> Comm:
        """What `start` will receive."""
        return Comm(Recv(self.name))


class ActivitySet(Activities[Comm]):
    """Communications to wait for; those that are complete leave it."""

    wait_any = awaited(Activities._wait_any)
    wait_any_for = awaited(Activities._wait_any_for)
    wait_all = awaited(Activities._wait_all)
    test_any = awaited(Activities._test_any)
