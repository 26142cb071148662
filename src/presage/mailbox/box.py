"""A place to meet, for both families: what its calls do."""

from __future__ import annotations

from typing import Any, ClassVar, Generic

from presage.mailbox import comm, locks
from presage.mailbox.comm import A
from presage.process.context import Asking
from presage.process.ops import Recv, Send
from presage.records import record


@record(frozen=True)
class Box(Generic[A]):
    """A mailbox by its name."""

    name: str
    _comm: ClassVar[type[Any]]  # of the family

    def put_init(self, payload: Any, size: float = 0) -> A:
        """What `start` or `detach` will send."""
        made: A = self._comm(Send(self.name, payload, size=size))
        return made

    def get_init(self) -> A:
        """What `start` will receive."""
        made: A = self._comm(Recv(self.name))
        return made

    def _put(self, payload: Any, size: float = 0, timeout: float | None = None) -> Asking[None]:
        """Send, and wait until it is received."""
        started = yield from comm.start(self.put_init(payload, size))
        yield from comm.wait_or_withdraw(started, timeout)

    def _get(self, timeout: float | None = None) -> Asking[Any]:
        """Receive; after a timeout, raise `TimeoutException` and ask no longer."""
        return (yield from locks.take(self.name, timeout))

    def _put_async(self, payload: Any, size: float = 0) -> Asking[A]:
        """Start to send."""
        return (yield from comm.start(self.put_init(payload, size)))

    def _get_async(self) -> Asking[A]:
        """Start to receive."""
        return (yield from comm.start(self.get_init()))
