"""Point-to-point calls of a communicator with buffers: the upper-case ones, and persistent ones."""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.handle import peers
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.core.status import (
    ANY_SOURCE,
    ANY_TAG,
    NULL_STATUS,
    PROC_NULL,
    Status,
    fill,
)
from presage.frontends.mpi.data.buffers import Buffer, buffer
from presage.frontends.mpi.data.hazards import use
from presage.frontends.mpi.point import envelope as post
from presage.frontends.mpi.point.objects import PointToPoint, received, sent, swapped
from presage.frontends.mpi.point.persistent import Prequest
from presage.frontends.mpi.point.request import Request, at_once
from presage.process.context import blocking


class BufferedPointToPoint(PointToPoint):
    """Send, Recv and their relatives."""

    def _send_buffer(self, name: str, buf: Any, dest: int, tag: int, mode: str) -> None:
        core, dest, tag, call = self._to(name, dest, tag)
        given = buffer(buf, call)
        use(given, call, writes=False)
        if dest != PROC_NULL:
            blocking(sent(core, dest, tag, given.read(), mode))

    def Send(self, buf: Any, dest: int, tag: int = 0) -> None:
        self._send_buffer("Send", buf, dest, tag, post.STANDARD)

    def Ssend(self, buf: Any, dest: int, tag: int = 0) -> None:
        self._send_buffer("Ssend", buf, dest, tag, post.SYNCHRONOUS)

    def Bsend(self, buf: Any, dest: int, tag: int = 0) -> None:
        self._send_buffer("Bsend", buf, dest, tag, post.BUFFERED)

    def Rsend(self, buf: Any, dest: int, tag: int = 0) -> None:
        self._send_buffer("Rsend", buf, dest, tag, post.READY)

    def Recv(
        self,
        buf: Any,
        source: int = ANY_SOURCE,
        tag: int = ANY_TAG,
        status: Status | None = None,
    ) -> None:
        core, source, tag, call = self._from("Recv", source, tag)
        given = buffer(buf, call)
        use(given, call, writes=True)
        if source == PROC_NULL:
            fill(status, NULL_STATUS)
            return
        response = blocking(received(core, source, tag))
        current_rank().learned()
        fill(status, post.finish_buffer(given, call)([response])[1])

    def _isend_buffer(self, name: str, buf: Any, dest: int, tag: int, mode: str) -> Request:
        core, dest, tag, call = self._to(name, dest, tag)
        return _posted_send(core, buffer(buf, call), dest, tag, mode, call)

    def Isend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        return self._isend_buffer("Isend", buf, dest, tag, post.STANDARD)

    def Issend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        return self._isend_buffer("Issend", buf, dest, tag, post.SYNCHRONOUS)

    def Ibsend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        return self._isend_buffer("Ibsend", buf, dest, tag, post.BUFFERED)

    def Irsend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        return self._isend_buffer("Irsend", buf, dest, tag, post.READY)

    def Irecv(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        core, source, tag, call = self._from("Irecv", source, tag)
        return _posted_receive(core, buffer(buf, call), source, tag, call)

    def Sendrecv(
        self,
        sendbuf: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> None:
        core, source, recvtag, call = self._from("Sendrecv", source, recvtag)
        core, dest, sendtag, call = self._to("Sendrecv", dest, sendtag)
        enter_call("Sendrecv", (*peers(core, dest), *peers(core, source)), dest=dest, source=source)
        out, into = buffer(sendbuf, call), buffer(recvbuf, call)
        use(out, call, writes=False)
        use(into, call, writes=True)
        response = blocking(swapped(core, dest, sendtag, out.read(), source, recvtag))
        current_rank().learned()
        if source == PROC_NULL:
            fill(status, NULL_STATUS)
        else:
            fill(status, post.finish_buffer(into, call)([response])[1])

    def Isendrecv(
        self,
        sendbuf: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
    ) -> Request:
        """One request for a receive and a send."""
        core, source, recvtag, call = self._from("Isendrecv", source, recvtag)
        into = _posted_receive(core, buffer(recvbuf, call), source, recvtag, call)
        core, dest, sendtag, call = self._to("Isendrecv", dest, sendtag)
        out = _posted_send(core, buffer(sendbuf, call), dest, sendtag, post.STANDARD, call)
        return into.joined(out)

    def Sendrecv_replace(
        self,
        buf: Any,
        dest: int,
        sendtag: int = 0,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> None:
        self.Sendrecv(buf, dest, sendtag, buf, source, recvtag, status)

    def Isendrecv_replace(
        self,
        buf: Any,
        dest: int,
        sendtag: int = 0,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
    ) -> Request:
        call = enter_call("Isendrecv_replace")
        given = buffer(buf, call)
        copy = [bytearray(given.view), given.count, given.datatype]
        return self.Isendrecv(copy, dest, sendtag, buf, source, recvtag)

    def _send_init(self, name: str, buf: Any, dest: int, tag: int, mode: str) -> Prequest:
        core, dest, tag, call = self._to(name, dest, tag)
        given = buffer(buf, call)
        return Prequest.set_up(call, lambda: _posted_send(core, given, dest, tag, mode, call))

    def Send_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        return self._send_init("Send_init", buf, dest, tag, post.STANDARD)

    def Ssend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        return self._send_init("Ssend_init", buf, dest, tag, post.SYNCHRONOUS)

    def Bsend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        return self._send_init("Bsend_init", buf, dest, tag, post.BUFFERED)

    def Rsend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        return self._send_init("Rsend_init", buf, dest, tag, post.READY)

    def Recv_init(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Prequest:
        core, source, tag, call = self._from("Recv_init", source, tag)
        given = buffer(buf, call)
        return Prequest.set_up(call, lambda: _posted_receive(core, given, source, tag, call))


def _posted_send(
    core: CommState, given: Buffer, dest: int, tag: int, mode: str, call: str
) -> Request:
    watched = use(given, call, writes=False)
    if dest == PROC_NULL:
        return at_once()
    slot = blocking(post.offer(core, dest, tag, given.read(), mode))
    return Request.of((slot,), post.finish_send, call, peers(core, dest), watched)


def _posted_receive(core: CommState, given: Buffer, source: int, tag: int, call: str) -> Request:
    watched = use(given, call, writes=True)
    if source == PROC_NULL:
        return at_once()
    slot = blocking(post.request(core, source, tag))
    finish = post.finish_buffer(given, call)
    return Request.of((slot,), finish, call, peers(core, source), watched)
