"""The names of AF_UNIX sockets: files of the node, or names in the abstract space.

A name in the file system is a file of its own kind. It stays when the socket is closed, and when
its process crashes, so the next life finds the address in use until somebody removes it.
"""

from __future__ import annotations

import errno
from typing import Any

from presage.frontends.real.machine.descriptors import failure
from presage.frontends.real.machine.inodes import Socket

MODE = 0o755


class UnixNames:
    """All sockets of one process that have a name."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self._abstract: dict[bytes, Any] = {}
        self._files: dict[Any, Socket] = {}  # socket -> its file

    def bind(self, address: str | bytes, end: Any) -> str | bytes:
        """Give a socket a name; without one, it gets one in the abstract space."""
        taken = self._abstract
        if not address:
            numbers = range(len(taken) + 1)
            address = next(name for at in numbers if (name := b"\0%05x" % at) not in taken)
        if isinstance(address, bytes):
            if address in taken:
                raise failure(errno.EADDRINUSE)
            taken[address] = end
            return address
        files = self._process.files
        try:
            folder, name, inode = files.locate(address, follow=False)
        except OSError as error:
            raise failure(error.errno or errno.ENOENT) from None
        if inode is not None:
            raise failure(errno.EADDRINUSE)
        self._files[end] = files.create_socket(folder, name, MODE)
        self._files[end].end = end
        return address

    def find(self, address: str | bytes) -> Any:
        """The socket that has a name."""
        if isinstance(address, bytes):
            if address not in self._abstract:
                raise failure(errno.ECONNREFUSED)
            return self._abstract[address]
        try:
            inode = self._process.files.inode(address)
        except OSError as error:
            raise failure(error.errno or errno.ENOENT) from None
        if not isinstance(inode, Socket) or inode.end is None:
            raise failure(errno.ECONNREFUSED)
        return inode.end

    def release(self, end: Any) -> None:
        """A socket is closed; its file stays."""
        file, name = self._files.pop(end, None), end.bound
        if file is not None:
            file.end = None
        elif self._abstract.get(name) is end:
            del self._abstract[name]
