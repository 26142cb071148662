"""The address of a node: one TCP socket and one UDP socket with the same number.

They are made before the node is booted. What peers send meanwhile waits in them.
"""

from __future__ import annotations

import contextlib
import socket

from presage.errors import CannotListen
from presage.runtime.cluster import Address

BACKLOG = 128  # connections that wait to be accepted


class Sockets:
    """The two sockets at a node's address."""

    def __init__(self, node: str, address: Address) -> None:
        """Raises `CannotListen` if the address cannot be had."""
        try:
            self.stream = _bound(address, socket.SOCK_STREAM)
            self.stream.listen(BACKLOG)
            try:
                self.datagrams = _bound(address, socket.SOCK_DGRAM)
            except OSError:
                self.stream.close()
                raise
        except OSError as error:
            raise CannotListen(
                f"`{node}` cannot listen on {address}: {error.strerror}",
                "another process has that port, or the address is of another machine",
                "end that process, or give the node another address in the cluster file",
            ) from error

    def close(self) -> None:
        """Let go of both."""
        self.stream.close()
        self.datagrams.close()


def _bound(address: Address, kind: socket.SocketKind) -> socket.socket:
    """A socket at an address."""
    made = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET, kind)
    with contextlib.ExitStack() as undo:
        undo.callback(made.close)
        if kind is socket.SOCK_STREAM:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setblocking(False)
        made.bind((address.host, address.port))
        undo.pop_all()
    return made
