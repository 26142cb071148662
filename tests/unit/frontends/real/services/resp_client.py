"""A client of Redis that only talks: one socket, requests as bytes, replies as Python values."""

import socket
from typing import Any


class Gone(Exception):
    """The server closed the connection."""


class Client:
    """Blocking, with a limit of time for each reply."""

    def __init__(self, port: int, seconds: float = 10) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), seconds)
        self.unread = b""

    def close(self) -> None:
        self.socket.close()

    def ask(self, *request: Any) -> Any:
        self.send(*request)
        return self.reply()

    def send(self, *request: Any) -> None:
        texts = [each if isinstance(each, bytes) else str(each).encode() for each in request]
        head = b"*%d\r\n" % len(texts)
        self.raw(head + b"".join(b"$%d\r\n%b\r\n" % (len(text), text) for text in texts))

    def raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def _more(self) -> None:
        data = self.socket.recv(65536)
        if not data:
            raise Gone
        self.unread += data

    def _line(self) -> bytes:
        while b"\r\n" not in self.unread:
            self._more()
        line, self.unread = self.unread.split(b"\r\n", 1)
        return line

    def _exactly(self, size: int) -> bytes:
        while len(self.unread) < size + 2:
            self._more()
        data, self.unread = self.unread[:size], self.unread[size + 2 :]
        return data

    def reply(self) -> Any:
        """Its kind stays to be seen: a list of kind and value, but for strings, numbers, lists."""
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind in b"+-,_#(":
            return (kind.decode(), rest.decode("latin-1"))
        if kind == b":":
            return int(rest)
        size = int(rest)
        if kind in b"$=":
            return None if size < 0 else self._exactly(size)
        if kind == b"*":
            return ("none", "") if size < 0 else [self.reply() for _ in range(size)]
        count = size * 2 if kind == b"%" else size
        return (kind.decode(), [self.reply() for _ in range(count)])
