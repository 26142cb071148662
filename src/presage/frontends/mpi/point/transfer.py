"""One transfer, whatever it carries: an object, which is copied, or a buffer, which is in use.

The lower-case calls send and receive objects, the upper-case ones buffers. All else is the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import msgspec

from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.handle import peers
from presage.frontends.mpi.core.rank import current_rank
from presage.frontends.mpi.core.status import NULL_STATUS, PROC_NULL, Status, fill
from presage.frontends.mpi.data.buffers import buffer
from presage.frontends.mpi.data.hazards import Watched, use
from presage.frontends.mpi.data.objects import pack
from presage.frontends.mpi.point import envelope as post
from presage.frontends.mpi.point.request import Request, at_once
from presage.process.context import Asking, blocking, meet, wait_any
from presage.process.ops import Response


class Content(ABC):
    """What a call was given to send, or to receive into."""

    call: str

    def use(self, writes: bool) -> tuple[Watched, ...]:
        """Note that the call uses it; refuse it if a pending one does, too."""
        return ()

    @abstractmethod
    def read(self) -> Any:
        """The message that it makes."""

    @abstractmethod
    def take(self, response: Response) -> Any:
        """Store a message; gives what the call gives."""

    def finish(self, responses: list[Response]) -> tuple[Any, Status]:
        """The same, with what is known of the message; that of nobody changes nothing."""
        response = responses[0]
        if response is post.NO_MESSAGE:
            return None, NULL_STATUS
        return self.take(response), post.status_of(response)


class ObjectContent(Content):
    """A Python object; to receive one, nothing is given."""

    def __init__(self, call: str, obj: Any = None) -> None:
        self.call = call
        self._obj = obj

    def read(self) -> Any:
        return pack(self._obj)

    def take(self, response: Response) -> Any:
        return post.to_object(response.payload)


class BufferContent(Content):
    """Memory of the script."""

    def __init__(self, call: str, buf: Any) -> None:
        self.call = call
        self.buffer = buffer(buf, call)

    def use(self, writes: bool) -> tuple[Watched, ...]:
        return use(self.buffer, self.call, writes)

    def read(self) -> Any:
        return self.buffer.read()

    def take(self, response: Response) -> None:
        data = post.to_data(response.payload)
        if not self.buffer.write_whole(data, self.buffer.count):
            source, tag = response.key
            self.buffer.write(data, f"{self.call}, from rank {source} with tag {tag}")


class Peer(msgspec.Struct, frozen=True):
    """The other side of a call: the communicator, the rank, the tag; and the text of the call."""

    core: CommState
    rank: int
    tag: int
    call: str


def send(to: Peer, content: Content, mode: str) -> None:
    content.use(writes=False)
    if to.rank != PROC_NULL:
        meet(post.message(to.core, to.rank, to.tag, content.read(), mode))


def post_send(to: Peer, content: Content, mode: str) -> Request:
    watched = content.use(writes=False)
    if to.rank == PROC_NULL:
        return at_once()
    slot = blocking(post.offer(to.core, to.rank, to.tag, content.read(), mode))
    waits_for = peers(to.core, to.rank)
    return Request.of((slot,), lambda _: (None, Status()), to.call, waits_for, watched)


def next_message(of: Peer) -> Response:
    """Wait for a message, and take it; of nobody, there is none."""
    if of.rank == PROC_NULL:
        return post.NO_MESSAGE
    rank = current_rank()
    response = post.received(rank, of.core, of.rank, of.tag)
    rank.learned()
    return response


def receive(of: Peer, content: Content, status: Status | None) -> Any:
    """What the call gives; the caller's status says what is known of the message."""
    content.use(writes=True)
    if of.rank == PROC_NULL:
        fill(status, NULL_STATUS)
        return None
    rank = current_rank()
    response = post.received(rank, of.core, of.rank, of.tag)
    if rank.windows:
        rank.learned()
    value = content.take(response)
    if status is not None:
        status.take(post.status_of(response))
    return value


def post_receive(of: Peer, content: Content) -> Request:
    watched = content.use(writes=True)
    if of.rank == PROC_NULL:
        return at_once()
    slot = blocking(post.request(of.core, of.rank, of.tag))
    return Request.of((slot,), content.finish, of.call, peers(of.core, of.rank), watched)


def swap(to: Peer, out: Content, of: Peer, into: Content) -> tuple[Any, Status]:
    """Send and receive, neither waiting for the other to begin."""
    out.use(writes=False)
    into.use(writes=True)
    response = blocking(_swapped(to, out.read(), of))
    current_rank().learned()
    return into.finish([response])


def _sent(to: Peer, payload: Any, mode: str) -> Asking[None]:
    slot = yield from post.offer(to.core, to.rank, to.tag, payload, mode)
    yield from wait_any((slot,))


def _swapped(to: Peer, payload: Any, of: Peer) -> Asking[Response]:
    slots = []
    if of.rank != PROC_NULL:
        slots.append((yield from post.request(of.core, of.rank, of.tag)))
    if to.rank != PROC_NULL:
        yield from _sent(to, payload, post.STANDARD)
    if not slots:
        return post.NO_MESSAGE
    return (yield from wait_any((slots[0],)))
