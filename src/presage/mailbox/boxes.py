"""Mailboxes and communications, for plain functions: each call waits where it says so."""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import Any

from presage.mailbox import comm as steps
from presage.mailbox.box import Box
from presage.mailbox.comm import Activities, Activity
from presage.mailbox.forms import plain
from presage.process.context import blocking, meet
from presage.process.ops import Recv, Send
from presage.records import record


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


@record(frozen=True)
class Mailbox(Box[Comm]):
    """A place to meet: puts and gets at the same name are matched in the order of posting."""

    _comm = Comm
    _asks: Recv = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_asks", Recv(self.name))

    @staticmethod
    @cache
    def by_name(name: str) -> Mailbox:
        """The mailbox of that name; all mailboxes exist."""
        return Mailbox(name)

    put_async = plain(Box._put_async)
    get_async = plain(Box._get_async)

    def put(self, payload: Any, size: float = 0, timeout: float | None = None) -> None:
        """Send, and wait until it is received."""
        if timeout is None:
            meet(Send(self.name, payload, size=size))
        else:
            blocking(self._put(payload, size, timeout))

    def get(self, timeout: float | None = None) -> Any:
        """Receive; after a timeout, raise `TimeoutException` and ask no longer."""
        return meet(self._asks).payload if timeout is None else blocking(self._get(timeout))


class ActivitySet(Activities[Comm]):
    """Communications to wait for; those that are complete leave it."""

    wait_any = plain(Activities._wait_any)
    wait_any_for = plain(Activities._wait_any_for)
    wait_all = plain(Activities._wait_all)
    test_any = plain(Activities._test_any)
