"""Point-to-point calls of a communicator: lower-case ones send objects, upper-case ones buffers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from presage.frontends.mpi.core.handle import Handle, check_dest, check_source, check_tag, peers
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.core.rank import (
    callers,
    check_entry,
    current_rank,
    enter_call,
    note_waiting,
    transfer_text,
)
from presage.frontends.mpi.core.status import (
    ANY_SOURCE,
    ANY_TAG,
    NULL_STATUS,
    PROC_NULL,
    Status,
    fill,
)
from presage.frontends.mpi.data.buffers import buffer
from presage.frontends.mpi.point import envelope as post
from presage.frontends.mpi.point.message import MESSAGE_NO_PROC, Message
from presage.frontends.mpi.point.partitioned import Partitioned
from presage.frontends.mpi.point.persistent import Prequest
from presage.frontends.mpi.point.request import Request
from presage.frontends.mpi.point.transfer import (
    BufferContent,
    Content,
    ObjectContent,
    Peer,
    next_message,
    post_receive,
    post_send,
    receive,
    send,
    swap,
)
from presage.process.context import blocking
from presage.process.ops import Response

Kind = Callable[[str, Any], Content]  # of a call and what it was given
Way = tuple[Any, int, int]  # what goes, to or from which rank, with which tag


class PointToPoint(Handle):
    """send, recv, probe and their relatives."""

    def _to(self, name: str, dest: Any, tag: Any) -> Peer:
        check_entry(name)
        call = transfer_text(name, callers.place(), "dest", dest, tag)
        core = self._core(call)
        dest, tag = check_dest(core, dest, call), check_tag(tag, call)
        note_waiting(peers(core, dest))
        return Peer(core, dest, tag, call)

    def _from(self, name: str, source: Any, tag: Any) -> Peer:
        shown = source, tag
        if type(source) is not int or type(tag) is not int or source < 0 or tag < 0:
            shown = _any(source, "ANY_SOURCE"), _any(tag, "ANY_TAG")
        check_entry(name)
        call = transfer_text(name, callers.place(), "source", *shown)
        core = self._core(call)
        source, tag = check_source(core, source, call), check_tag(tag, call, wanted=True)
        note_waiting(peers(core, source))
        return Peer(core, source, tag, call)

    @calls("send", "ssend", "bsend", "rsend", "isend", "issend", "ibsend", "irsend")
    def _send_object(self, obj: Any, dest: int, tag: int = 0, *, _name: str = "") -> Any:
        to = self._to(_name, dest, tag)
        return _sent(to, ObjectContent(to.call, obj), _name)

    @calls("Send", "Ssend", "Bsend", "Rsend", "Isend", "Issend", "Ibsend", "Irsend")
    def _send_buffer(self, buf: Any, dest: int, tag: int = 0, *, _name: str = "") -> Any:
        to = self._to(_name, dest, tag)
        return _sent(to, BufferContent(to.call, buf), _name)

    @calls("Send_init", "Ssend_init", "Bsend_init", "Rsend_init")
    def _send_init(self, buf: Any, dest: int, tag: int = 0, *, _name: str = "") -> Prequest:
        to = self._to(_name, dest, tag)
        content = BufferContent(to.call, buf)
        return Prequest.set_up(to.call, lambda: post_send(to, content, post.mode_of(_name)))

    def recv(
        self,
        buf: Any = None,
        source: int = ANY_SOURCE,
        tag: int = ANY_TAG,
        status: Status | None = None,
    ) -> Any:
        if buf is not None:
            warnings.warn("the argument `buf` of recv is not used", UserWarning, stacklevel=2)
        return self._received(source, tag, status)

    def _received(self, source: int, tag: int, status: Status | None) -> Any:
        """An object; the status says what is known of it."""
        of = self._from("recv", source, tag)
        return receive(of, ObjectContent(of.call), status)

    def Recv(
        self,
        buf: Any,
        source: int = ANY_SOURCE,
        tag: int = ANY_TAG,
        status: Status | None = None,
    ) -> None:
        of = self._from("Recv", source, tag)
        receive(of, BufferContent(of.call, buf), status)

    def irecv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        of = self._from("irecv", source, tag)
        return post_receive(of, ObjectContent(of.call))

    def Irecv(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        of = self._from("Irecv", source, tag)
        return post_receive(of, BufferContent(of.call, buf))

    def Recv_init(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Prequest:
        of = self._from("Recv_init", source, tag)
        content = BufferContent(of.call, buf)
        return Prequest.set_up(of.call, lambda: post_receive(of, content))

    def Psend_init(
        self, buf: Any, partitions: int, dest: int, tag: int = 0, info: Any = None
    ) -> Any:
        """A persistent send in parts."""
        return Partitioned.for_send(self._to("Psend_init", dest, tag), buf, partitions)

    def Precv_init(
        self,
        buf: Any,
        partitions: int,
        source: int = ANY_SOURCE,
        tag: int = ANY_TAG,
        info: Any = None,
    ) -> Any:
        """A persistent receive in parts."""
        return Partitioned.for_receive(self._from("Precv_init", source, tag), buf, partitions)

    def _swap(self, name: str, kind: Kind, out: Way, into: Way, status: Status | None) -> Any:
        back, to = self._from(name, *into[1:]), self._to(name, *out[1:])
        both = (*peers(to.core, to.rank), *peers(to.core, back.rank))
        enter_call(name, both, dest=to.rank, source=_any(back.rank, "ANY_SOURCE"))
        return _filled(status, swap(to, kind(to.call, out[0]), back, kind(to.call, into[0])))

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
        out, into = (sendobj, dest, sendtag), (recvbuf, source, recvtag)
        return self._swap("sendrecv", ObjectContent, out, into, status)

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
        out, into = (sendbuf, dest, sendtag), (recvbuf, source, recvtag)
        self._swap("Sendrecv", BufferContent, out, into, status)

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
        of = self._from("Isendrecv", source, recvtag)
        into = post_receive(of, BufferContent(of.call, recvbuf))
        to = self._to("Isendrecv", dest, sendtag)
        return into.joined(post_send(to, BufferContent(to.call, sendbuf), post.STANDARD))

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
        given = buffer(buf, enter_call("Isendrecv_replace"))
        copy = [bytearray(given.view), given.count, given.datatype]
        return self.Isendrecv(copy, dest, sendtag, buf, source, recvtag)

    @calls("probe", "iprobe", Probe="probe", Iprobe="iprobe")
    def _probe(
        self,
        source: int = ANY_SOURCE,
        tag: int = ANY_TAG,
        status: Status | None = None,
        *,
        _name: str = "",
    ) -> bool:
        of = self._from(_name, source, tag)
        if of.rank == PROC_NULL:
            fill(status, NULL_STATUS)
            return True
        waits = _name == "probe"
        response = _looked(of, waits)
        if response.choice == 0 and not waits:
            return False
        current_rank().learned()
        fill(status, post.status_of(response))
        return True

    @calls("mprobe", "improbe", Mprobe="mprobe", Improbe="improbe")
    def _mprobe(
        self,
        source: int = ANY_SOURCE,
        tag: int = ANY_TAG,
        status: Status | None = None,
        *,
        _name: str = "",
    ) -> Any:
        of = self._from(_name, source, tag)
        if of.rank == PROC_NULL:
            fill(status, NULL_STATUS)
            return Message(MESSAGE_NO_PROC)
        if _name == "improbe":
            found = _looked(of, waits=False)
            if found.choice == 0:
                return None
            of = Peer(of.core, *found.key, of.call)
        response = next_message(of)
        fill(status, post.status_of(response))
        return Message._of(response)


def _any(number: Any, name: str) -> Any:
    return name if number == ANY_SOURCE and isinstance(number, int) else number


def _sent(to: Peer, content: Content, name: str) -> Any:
    """Send, by a call of that name: it waits, or gives a request."""
    return (post_send if name[0] in "iI" else send)(to, content, post.mode_of(name))


def _filled(status: Status | None, got: tuple[Any, Status]) -> Any:
    """What a receive gives; the caller's status says what is known of it."""
    fill(status, got[1])
    return got[0]


def _looked(of: Peer, waits: bool) -> Response:
    return blocking(post.look(of.core, of.rank, of.tag, waits=waits))
