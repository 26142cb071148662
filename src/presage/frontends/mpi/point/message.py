"""`MPI.Message`: what a matched probe has found, to be received by nobody else."""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.numbered import StateHandle, family
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.core.status import Status, fill
from presage.frontends.mpi.point import envelope as post
from presage.frontends.mpi.point.request import Request
from presage.frontends.mpi.point.transfer import BufferContent, Content, ObjectContent
from presage.process.ops import Response


@family
class Message(StateHandle):
    """A message that was matched and not received yet."""

    _state: Response | None

    def __new__(cls, message: Any = None) -> Any:
        """A handle that stands for the same."""
        return cls._copied(message)

    def _take(self, call: str) -> Response:
        response = self._state
        if self is not MESSAGE_NO_PROC:
            self._state = None
        if response is None:
            raise invalid(f"{call}: the message was received before")
        return response

    def peek(self) -> Any:
        """The object that it holds; it stays to be received."""
        assert self._state is not None, "a message that was matched"
        return ObjectContent("peek").finish([self._state])[0]

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


MESSAGE_NULL: Message = Message()
MESSAGE_NO_PROC: Message = Message._of(post.NO_MESSAGE)
