"""One message from one rank to another: the posts that all point-to-point calls are made of.

A communicator has a mailbox for each member; a message is offered there with the sender's rank and
its tag as key. It is a mailbox of channels, one for each sender: messages of one rank do not
overtake one another, as MPI demands, and those of different ranks are received in any order. With
ordered delivery it is an ordinary mailbox, where the first to be sent is the first to be received.
"""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import Any

from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.delivery import ANY as EITHER
from presage.frontends.mpi.core.rank import Rank, current_rank
from presage.frontends.mpi.core.status import ANY_SOURCE, ANY_TAG, Status
from presage.frontends.mpi.data.buffers import Data
from presage.frontends.mpi.data.objects import OBJECT, PICKLE, unpack
from presage.process.context import Asking, asked, meet, post
from presage.process.ops import NONE, Pick, Probe, Recv, Response, Send

STANDARD, SYNCHRONOUS, BUFFERED, READY = "standard", "synchronous", "buffered", "ready"
MODES = {"send": STANDARD, "ssend": SYNCHRONOUS, "bsend": BUFFERED, "rsend": READY}
OBJECT_BYTES = 64  # what a plain object counts for, where nobody has pickled it


def offer(core: CommState, dest: int, tag: int, payload: Any, mode: str) -> Asking[int]:
    """Post a message; it may be received from now on."""
    return (yield from post(message(core, dest, tag, payload, mode)))


def message(core: CommState, dest: int, tag: int, payload: Any, mode: str) -> Send:
    """The offer of a message."""
    rank, size = current_rank(), size_of(payload)
    delivery = rank.delivery
    if mode == STANDARD or mode == READY:
        buffered = (delivery.limit is None or size <= delivery.limit) and rank.eager
        may_wait = buffered and delivery.buffering == EITHER
    else:
        buffered, may_wait = mode == BUFFERED, False
    key = (core.rank, tag)
    channelled = not delivery.ordered
    return Send(core.box(dest), payload, key, buffered, float(size), may_wait, channelled)


def request(core: CommState, source: int, tag: int) -> Asking[int]:
    claim = yield from _claim(core, source, tag)
    return (yield from post(Recv(core.inbox, (source, tag), claim)))


def received(rank: Rank, core: CommState, source: int, tag: int) -> Response:
    """Wait for a message, and take it."""
    claim = None if rank.delivery.ordered else source
    if claim == ANY_SOURCE:
        claim = asked(Pick(core.inbox, (source, tag), len(core.reach))).choice
    return meet(Recv(core.inbox, (source, tag), claim))


def look(core: CommState, source: int, tag: int, *, waits: bool) -> Asking[Response]:
    """Probe; the choice of the response is 0 if nothing was found."""
    want = (source, tag)
    if current_rank().delivery.ordered:
        return (yield Probe(core.inbox, want, waits))
    if waits:
        claim = yield from _claim(core, source, tag)
        return (yield Probe(core.inbox, want, True, claim))
    response = yield Pick(core.inbox, want, len(core.reach), polls=True)
    if response.choice == NONE:
        return Response(0)
    return (yield Probe(core.inbox, want, True, response.choice, polled=True))


def _claim(core: CommState, source: int, tag: int) -> Asking[int | None]:
    """From whom a receive is going to get its message; None where that is not decided before."""
    if current_rank().delivery.ordered:
        return None
    if source != ANY_SOURCE:
        return source
    return (yield Pick(core.inbox, (source, tag), len(core.reach))).choice


def size_of(payload: Any) -> int:
    if payload[0] == PICKLE:
        return len(payload[1])
    return OBJECT_BYTES if payload[0] == OBJECT else len(payload[2])


def status_of(response: Response) -> Status:
    source, tag = response.key
    return Status.of(source, tag, size_of(response.payload))


@lru_cache
def mode_of(name: str) -> str:
    """The mode of a send, by the name of the call."""
    return MODES[name.lower().removeprefix("i").removesuffix("_init")]


def to_object(payload: Any) -> Any:
    """A message as an object; one of an upper-case send has to be a pickle, or empty."""
    if payload[0] in (OBJECT, PICKLE):
        return unpack(payload)
    return unpack((PICKLE, payload[2])) if payload[2] else None


def to_data(payload: Any) -> Data:
    """A message as a buffer; an object is its pickle, which is bytes."""
    if payload[0] in (OBJECT, PICKLE):
        data = payload[1] if payload[0] == PICKLE else pickle.dumps(payload[1])
        return "byte", len(data), data
    return payload  # type: ignore[no-any-return]


NO_MESSAGE = Response(0, (OBJECT, None), (-2, ANY_TAG))
