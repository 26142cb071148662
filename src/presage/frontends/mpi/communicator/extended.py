"""Calls of communicators beside messages: room for buffered sends, and failures of others.

Ranks do not fail here, so the calls that deal with failed ones are not there, and say so.
"""

from __future__ import annotations

from typing import Any, NoReturn

from presage.frontends.mpi.core.handle import Handle
from presage.frontends.mpi.core.mistakes import unsupported
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.data.extras import attach_buffer, detach_buffer
from presage.frontends.mpi.point.request import Request, at_once


class Extended(Handle):
    """Attach_buffer, Revoke and their relatives."""

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

    @calls(
        *("Revoke", "Is_revoked", "Get_failed", "Ack_failed", "Agree", "Iagree"),
        *("Shrink", "Ishrink"),
    )
    def _failures(self, *args: Any, _name: str = "") -> NoReturn:
        """Not there: no rank fails."""
        raise unsupported(f"{enter_call(_name)}: presage's ranks do not fail")

    @calls("Accept", "Connect")
    def _ports(self, *args: Any, _name: str = "", **kwargs: Any) -> NoReturn:
        """Not there: ranks have no ports."""
        raise unsupported(f"{enter_call(_name)}: presage's ranks have no ports")

    @classmethod
    def Join(cls, fd: int) -> NoReturn:
        """Not there: ranks have no sockets."""
        raise unsupported(f"{enter_call('Join')}: presage's ranks have no sockets")
