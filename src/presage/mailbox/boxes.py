"""Mailboxes and communications, for plain functions: each call waits where it says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from presage.mailbox import comm as steps
from presage.mailbox import locks
from presage.mailbox.comm import Activities, Activity
from presage.mailbox.forms import plain
from presage.process.context import blocking, meet
from presage.process.ops import Recv, Send


class Comm(Activity):
    """A put or a get under way."""

    start = plain(steps.start)
    wait = plain(steps.wait)
    wait_for = plain(steps.wait_for)
    test = plain(steps.test)
    cancel = plain(steps.cancel)
    detach = plain(steps.detach)
    wait_any = staticmethod(plain(steps.wait_any))
    wait_any_for = staticmethod(plain(steps.wait_any_for))
    wait_all = staticmethod(plain(steps.wait_all))
    test_any = staticmethod(plain(steps.test_any))


@dataclass(frozen=True)
class Mailbox:
    """A place to meet: puts and gets at the same name are matched in the order of posting."""

    name: str
    _asks: Recv = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_asks", Recv(self.name))

    @staticmethod
    @cache
    def by_name(name: str) -> Mailbox:
        """The mailbox of that name; all mailboxes exist."""
        return Mailbox(name)

    def put(self, payload: Any, size: float = 0, timeout: float | None = None) -> None:
        """Send, and wait until it is received."""
        if timeout is None:
            meet(Send(self.name, payload, size=size))
            return
        comm = self.put_init(payload, size).start()
        blocking(steps.wait_or_withdraw(comm, timeout))

    def put_async(self, payload: Any, size: float = 0) -> Comm:
        """Start to send."""
        return self.put_init(payload, size).start()

    def put_init(self, payload: Any, size: float = 0) -> Comm:
        """What `start` or `detach` will send."""
        return Comm(Send(self.name, payload, size=size))

    def get(self, timeout: float | None = None) -> Any:
        """Receive; after a timeout, raise `TimeoutException` and ask no longer."""
        if timeout is None:
            return meet(self._asks).payload
        return blocking(locks.take(self.name, timeout))

    def get_async(self) -> Comm:
        """Start to receive."""
        return self.get_init().start()

    def get_init(self) -> Comm:
        """What `start` will receive."""
        return Comm(Recv(self.name))


class ActivitySet(Activities[Comm]):
    """Communications to wait for; those that are complete leave it."""

    wait_any = plain(Activities._wait_any)
    wait_any_for = plain(Activities._wait_any_for)
    wait_all = plain(Activities._wait_all)
    test_any = plain(Activities._test_any)
