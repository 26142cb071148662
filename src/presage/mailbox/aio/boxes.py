"""Mailboxes and communications, for coroutines: the same names, to await."""

from __future__ import annotations

from presage.mailbox import comm as steps
from presage.mailbox.box import Box
from presage.mailbox.comm import Activities, Activity
from presage.mailbox.forms import awaited
from presage.records import record


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


@record(frozen=True)
class Mailbox(Box[Comm]):
    """A place to meet: puts and gets at the same name are matched in the order of posting."""

    _comm = Comm

    @staticmethod
    def by_name(name: str) -> Mailbox:
        """The mailbox of that name; all mailboxes exist."""
        return Mailbox(name)

    put = awaited(Box._put)
    get = awaited(Box._get)
    put_async = awaited(Box._put_async)
    get_async = awaited(Box._get_async)


class ActivitySet(Activities[Comm]):
    """Communications to wait for; those that are complete leave it."""

    wait_any = awaited(Activities._wait_any)
    wait_any_for = awaited(Activities._wait_any_for)
    wait_all = awaited(Activities._wait_all)
    test_any = awaited(Activities._test_any)
