"""Calls of communicators beside messages: room for buffered sends, and sockets."""

from __future__ import annotations

from typing import Any, NoReturn

from presage.frontends.mpi.core.handle import Handle
from presage.frontends.mpi.core.mistakes import unsupported
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.data.extras import attach_buffer, detach_buffer
from presage.frontends.mpi.point.request import Request, at_once


class Extended(Handle):
    """Attach_buffer and its relatives."""

    def Attach_buffer(self, buf: Any) -> None:
        """Buffered sends find room without it."""
        attach_buffer(buf, self._core("Attach_buffer").name)

    def Detach_buffer(self) -> Any:
        """What was attached."""
        return detach_buffer(self._core("Detach_buffer").name)

    def Flush_buffer(self) -> None:
        """What was sent has left the sender by then."""
        self._core("Flush_buffer")

    def Iflush_buffer(self) -> Request:
        """The same, to be waited for."""
        self._core("Iflush_buffer")
        return at_once()

    @classmethod
    def Join(cls, fd: int) -> NoReturn:
        """Not there: ranks have no sockets."""
        raise unsupported(f"{enter_call('Join')}: presage's ranks have no sockets")
