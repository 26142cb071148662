"""Point-to-point calls of a communicator with Python objects: the lower-case ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.handle import Handle, check_dest, check_source, check_tag, peers
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.core.status import (
    ANY_SOURCE,
    ANY_TAG,
    NULL_STATUS,
    PROC_NULL,
    Status,
    fill,
)
from presage.frontends.mpi.data.objects import pack
from presage.frontends.mpi.point import envelope as post
from presage.frontends.mpi.point.message import MESSAGE_NO_PROC, Message
from presage.frontends.mpi.point.request import Request, at_once
from presage.process.context import Asking, blocking, exchange, wait_any
from presage.process.ops import Probe, Recv, Response


class PointToPoint(Handle):
    """send, recv and their relatives."""

    def _send_object(self, name: str, obj: Any, dest: int, tag: int, mode: str) -> None:
        core, dest, tag, call = self._to(name, dest, tag)
        if dest != PROC_NULL:
            blocking(_sent(core, dest, tag, pack(obj), mode))

    def _to(self, name: str, dest: Any, tag: Any) -> tuple[CommState, int, int, str]:
        """A call that sends: its communicator, receiver, tag and text."""
        call = enter_call(name, dest=dest, tag=tag)
        core = self._core(call)
        dest, tag = check_dest(core, dest, call), check_tag(tag, call)
        enter_call(name, peers(core, dest), dest=dest, tag=tag)
        return core, dest, tag, call

    def _from(self, name: str, source: Any, tag: Any) -> tuple[CommState, int, int, str]:
        """A call that receives: its communicator, sender, tag and text."""
        shown = {"source": _any(source, "ANY_SOURCE"), "tag": _any(tag, "ANY_TAG")}
        call = enter_call(name, **shown)
        core = self._core(call)
        source, tag = check_source(core, source, call), check_tag(tag, call, wanted=True)
        enter_call(name, peers(core, source), **shown)
        return core, source, tag, call

    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        self._send_object("send", obj, dest, tag, post.STANDARD)

    def ssend(self, obj: Any, dest: int, tag: int = 0) -> None:
        self._send_object("ssend", obj, dest, tag, post.SYNCHRONOUS)

    def bsend(self, obj: Any, dest: int, tag: int = 0) -> None:
        self._send_object("bsend", obj, dest, tag, post.BUFFERED)

    def rsend(self, obj: Any, dest: int, tag: int = 0) -> None:
        self._send_object("rsend", obj, dest, tag, post.READY)

    def recv(
        self,
        buf: Any = None,
        source: int = ANY_SOURCE,
        tag: int = ANY_TAG,
        status: Status | None = None,
    ) -> Any:
        core, source, tag, call = self._from("recv", source, tag)
        if source == PROC_NULL:
            fill(status, NULL_STATUS)
            return None
        response = blocking(_received(core, source, tag))
        current_rank().learned()
        value, known = post.finish_object(call)([response])
        fill(status, known)
        return value

    def _isend_object(self, name: str, obj: Any, dest: int, tag: int, mode: str) -> Request:
        core, dest, tag, call = self._to(name, dest, tag)
        if dest == PROC_NULL:
            return at_once()
        slot = blocking(post.offer(core, dest, tag, pack(obj), mode))
        return Request.of((slot,), post.finish_send, call, peers(core, dest))

    def isend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        return self._isend_object("isend", obj, dest, tag, post.STANDARD)

    def issend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        return self._isend_object("issend", obj, dest, tag, post.SYNCHRONOUS)

    def ibsend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        return self._isend_object("ibsend", obj, dest, tag, post.BUFFERED)

    def irsend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        return self._isend_object("irsend", obj, dest, tag, post.READY)

    def irecv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        core, source, tag, call = self._from("irecv", source, tag)
        if source == PROC_NULL:
            return at_once()
        slot = blocking(post.request(core, source, tag))
        return Request.of((slot,), post.finish_object(call), call, peers(core, source))

    def sendrecv(
        self,
        sendobj: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> Any:
        core, source, recvtag, call = self._from("sendrecv", source, recvtag)
        core, dest, sendtag, call = self._to("sendrecv", dest, sendtag)
        both = (*peers(core, dest), *peers(core, source))
        enter_call("sendrecv", both, dest=dest, source=_any(source, "ANY_SOURCE"))
        payload = pack(sendobj)
        response = blocking(_swapped(core, dest, sendtag, payload, source, recvtag))
        current_rank().learned()
        value, known = post.finish_object(call)([response])
        fill(status, known if source != PROC_NULL else NULL_STATUS)
        return value

    def probe(
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> bool:
        return self._probe("probe", source, tag, status, waits=True)

    def iprobe(
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> bool:
        return self._probe("iprobe", source, tag, status, waits=False)

    def _probe(self, name: str, source: int, tag: int, status: Any, waits: bool) -> bool:
        core, source, tag, _ = self._from(name, source, tag)
        if source == PROC_NULL:
            fill(status, NULL_STATUS)
            return True
        response = blocking(_looked(core, source, tag, waits))
        if response.choice == 0 and not waits:
            return False
        current_rank().learned()
        fill(status, post.status_of(response))
        return True

    def mprobe(
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message:
        core, source, tag, _ = self._from("mprobe", source, tag)
        if source == PROC_NULL:
            fill(status, NULL_STATUS)
            return MESSAGE_NO_PROC
        response = blocking(_received(core, source, tag))
        current_rank().learned()
        fill(status, post.status_of(response))
        return Message.of(response)

    def improbe(
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message | None:
        core, source, tag, _ = self._from("improbe", source, tag)
        if source == PROC_NULL:
            fill(status, NULL_STATUS)
            return MESSAGE_NO_PROC
        if blocking(_looked(core, source, tag, waits=False)).choice == 0:
            return None
        response = blocking(_received(core, source, tag))
        current_rank().learned()
        fill(status, post.status_of(response))
        return Message.of(response)

    Probe: Callable[..., bool] = probe
    Iprobe: Callable[..., bool] = iprobe
    Mprobe: Callable[..., Message] = mprobe
    Improbe: Callable[..., Message | None] = improbe


def _any(number: Any, name: str) -> Any:
    return name if isinstance(number, int) and number == ANY_SOURCE else number


def _sent(core: CommState, dest: int, tag: int, payload: Any, mode: str) -> Asking[None]:
    slot = yield from post.offer(core, dest, tag, payload, mode)
    yield from wait_any((slot,))


def _received(core: CommState, source: int, tag: int) -> Asking[Response]:
    payload, key = yield from exchange(Recv(core.inbox, (source, tag)))
    return Response(0, payload, key)


def _looked(core: CommState, source: int, tag: int, waits: bool) -> Asking[Response]:
    return (yield Probe(core.inbox, (source, tag), waits))


def _swapped(
    core: CommState, dest: int, sendtag: int, payload: Any, source: int, recvtag: int
) -> Asking[Response]:
    """Send and receive, neither waiting for the other to begin."""
    slots = []
    if source != PROC_NULL:
        slots.append((yield from post.request(core, source, recvtag)))
    if dest != PROC_NULL:
        sent = yield from post.offer(core, dest, sendtag, payload, post.STANDARD)
        yield from wait_any((sent,))
    if not slots:
        return post.NO_MESSAGE
    return (yield from wait_any((slots[0],)))


sent, received, swapped = _sent, _received, _swapped
