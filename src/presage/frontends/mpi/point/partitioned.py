"""Partitioned messages: a buffer that is sent when all of its parts are ready.

The parts go as one message, apart from other messages, once the last part is ready: so an arrived
part says that all have arrived, as MPI allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.core.status import Status
from presage.frontends.mpi.point import envelope
from presage.frontends.mpi.point.persistent import Prequest
from presage.frontends.mpi.point.request import Request
from presage.frontends.mpi.point.transfer import BufferContent, Peer, post_receive
from presage.process.context import blocking, exchange, post
from presage.process.ops import Recv, Send


def apart(core: CommState) -> CommState:
    """The same ranks, with mailboxes for partitioned messages."""
    made = copy(core)
    comm, _, rank = core.inbox.rpartition("/")
    made.inbox, made.outbox = f"{comm} parts/{rank}", f"{core.outbox} parts"
    return made


class Partitioned(Prequest):
    """A persistent request with parts; `_ready` has those of a send that are ready."""

    _parts = 0
    _ready: set[int] | None = None
    _post: Callable[[], int] | None = None
    _box = ""

    @classmethod
    def for_send(cls, to: Peer, buf: Any, partitions: int) -> Any:
        content = BufferContent(to.call, buf)
        peer = Peer(apart(to.core), to.rank, to.tag, to.call)
        made: Any = cls.set_up(to.call, lambda: made._begun(content))
        made._parts = partitions
        made._post = lambda: blocking(
            envelope.offer(peer.core, peer.rank, peer.tag, content.read(), envelope.STANDARD)
        )
        return made

    @classmethod
    def for_receive(cls, of: Peer, buf: Any, partitions: int) -> Any:
        content = BufferContent(of.call, buf)
        peer = Peer(apart(of.core), of.rank, of.tag, of.call)
        made: Any = cls.set_up(of.call, lambda: post_receive(peer, content))
        made._parts = partitions
        return made

    def _begun(self, content: BufferContent) -> Request:
        """A send begins: it waits for a message of its own that says that all parts are ready."""
        rank = current_rank()
        number = rank.own_notes["partitioned"] = rank.own_notes.get("partitioned", 0) + 1
        self._box, self._ready = f"partitioned {rank.number}.{number}", set()
        slot = blocking(post(Recv(self._box)))
        return Request.of((slot,), lambda _: (None, Status()), self.call)

    def _mark(self, name: str, partitions: Sequence[int]) -> None:
        call = enter_call(name)
        if self._ready is None or not self.is_active or self._post is None:
            raise invalid(f"{call}: no partitioned send is under way", "ERR_REQUEST")
        for each in partitions:
            if not 0 <= each < self._parts or each in self._ready:
                raise invalid(f"{call}: partition {each} of {self._parts} is none, or was ready")
            self._ready.add(each)
        if len(self._ready) == self._parts:
            self._slots.append(self._post())
            blocking(exchange(Send(self._box, ("object", None), buffered=True)))

    def Pready(self, partition: int) -> None:
        """A part may be sent."""
        self._mark("Pready", [partition])

    def Pready_range(self, partition_low: int, partition_high: int) -> None:
        """Several parts, from the first to the last."""
        self._mark("Pready_range", range(partition_low, partition_high + 1))

    def Pready_list(self, partitions: Sequence[int]) -> None:
        """Several parts."""
        self._mark("Pready_list", list(partitions))

    def Parrived(self, partition: int) -> bool:
        """Whether a part has arrived."""
        call = enter_call("Parrived", self.waits_for)
        if not 0 <= partition < self._parts:
            raise invalid(f"{call}: there is no partition {partition} of {self._parts}")
        return not self.is_active or blocking(self.look())
