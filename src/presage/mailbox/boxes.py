"""Mailboxes and communications, for plain functions: each call waits where it says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from presage.mailbox import comm as steps
from presage.mailbox import locks
from presage.mailbox.comm import Activity, TimeoutException
from presage.process.context import blocking, meet
from presage.process.ops import NONE, Recv, Send


class Comm(Activity):
    """A put or a get under way."""

    def start(self) -> Comm:
        """Start what `put_init` or `get_init` gave."""
        blocking(steps.start(self))
        return self

    def wait(self) -> Comm:
        """Wait until it is complete."""
        blocking(steps.wait(self))
        return self

    def wait_for(self, timeout: float) -> Comm:
        """Wait until it is complete, or raise `TimeoutException`; it then stays under way."""
        blocking(steps.wait(self, timeout))
        return self

    def test(self) -> bool:
        """Whether it is complete, now."""
        return blocking(steps.test(self))

    def cancel(self) -> bool:
        """Withdraw it; False if it was met before, and then is complete."""
        return blocking(steps.cancel(self))

    def detach(self) -> Comm:
        """Send it and forget it: nobody is going to wait."""
        blocking(steps.detach(self))
        return self

    @staticmethod
    def wait_any(comms: Sequence[Comm]) -> int:
        """Wait for one of them; its index. Every complete one is tried by a search."""
        return blocking(steps.wait_any(comms))

    @staticmethod
    def wait_any_for(comms: Sequence[Comm], timeout: float) -> int:
        """As `wait_any`; -1 after the timeout."""
        return blocking(steps.wait_any(comms, timeout))

    @staticmethod
    def wait_all(comms: Sequence[Comm]) -> None:
        """Wait for each of them."""
        blocking(steps.wait_all(comms))

    @staticmethod
    def test_any(comms: Sequence[Comm]) -> int:
        """The index of one that is complete; -1 if none is."""
        return blocking(steps.test_any(comms))


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


class ActivitySet:
    """Communications to wait for; those that are complete leave it."""

    def __init__(self, comms: Iterable[Comm] = ()) -> None:
        self._comms = list(comms)

    def push(self, comm: Comm) -> None:
        """Add one."""
        self._comms.append(comm)

    def erase(self, comm: Comm) -> None:
        """Take one out."""
        self._comms.remove(comm)

    def __len__(self) -> int:
        return len(self._comms)

    def empty(self) -> bool:
        """Whether nothing is left to wait for."""
        return not self._comms

    def wait_any(self) -> Comm:
        """Wait for one of them, and give it."""
        return self._comms.pop(Comm.wait_any(self._comms))

    def wait_any_for(self, timeout: float) -> Comm:
        """Wait for one of them, or raise `TimeoutException`."""
        found = Comm.wait_any_for(self._comms, timeout)
        if found == NONE:
            raise TimeoutException(f"none of {len(self)} was complete within {timeout:g} s")
        return self._comms.pop(found)

    def wait_all(self) -> None:
        """Wait for each of them."""
        Comm.wait_all(self._comms)
        self._comms.clear()

    def test_any(self) -> Comm | None:
        """One that is complete, or None."""
        found = Comm.test_any(self._comms)
        return None if found == NONE else self._comms.pop(found)
