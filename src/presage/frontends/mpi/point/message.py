"""`MPI.Message`: what a matched probe has found, to be received by nobody else."""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.core.status import Status, fill
from presage.frontends.mpi.point import envelope as post
from presage.frontends.mpi.point.request import Request
from presage.frontends.mpi.point.transfer import BufferContent, Content, ObjectContent
from presage.process.ops import Response


class Message:
    """A message that was matched and not received yet."""

    def __init__(self, message: Message | None = None) -> None:
        self._response: Response | None = message._response if message else None

    @classmethod
    def of(cls, response: Response) -> Message:
        message = cls()
        message._response = response
        return message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return self._response is other._response

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self._response is not None

    def _take(self, call: str) -> Response:
        response = self._response
        if self is not MESSAGE_NO_PROC:
            self._response = None
        if response is None:
            raise invalid(f"{call}: the message was received before")
        return response

    def recv(self, status: Status | None = None) -> Any:
        call = enter_call("Message.recv")
        value, known = ObjectContent(call).finish([self._take(call)])
        fill(status, known)
        return value

    def irecv(self) -> Request:
        return self._request(ObjectContent(enter_call("Message.irecv")))

    def Recv(self, buf: Any, status: Status | None = None) -> None:
        call = enter_call("Message.Recv")
        fill(status, BufferContent(call, buf).finish([self._take(call)])[1])

    def Irecv(self, buf: Any) -> Request:
        return self._request(BufferContent(enter_call("Message.Irecv"), buf))

    def _request(self, content: Content) -> Request:
        response = self._take(content.call)
        return Request.of((), lambda _: content.finish([response]), content.call)

    @classmethod
    def probe(cls, comm: Any, *args: Any, **named: Any) -> Message:
        found: Message = comm.mprobe(*args, **named)
        return found

    @classmethod
    def iprobe(cls, comm: Any, *args: Any, **named: Any) -> Message | None:
        found: Message | None = comm.improbe(*args, **named)
        return found

    Probe = probe
    Iprobe = iprobe


MESSAGE_NULL = Message()
MESSAGE_NO_PROC = Message.of(post.NO_MESSAGE)
