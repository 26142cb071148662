"""Redis' wire protocol: bytes to commands, replies to bytes (RESP 2 and 3).

Input is bounded: a line, an argument and the number of arguments have limits, and a request
beyond one is an error of the protocol, after which the connection ends, as with Redis.

Replies are plain Python values (`int`, `bytes`, `None`, `list`, `float`), or one of the classes
here where the protocol knows more than Python does.
"""

import shlex
from collections.abc import Iterator
from typing import Any

from presage.records import record

Reply = Any

MAX_LINE = 64 * 1024
MAX_ARGUMENTS = 1024 * 1024
MAX_ARGUMENT = 64 * 1024 * 1024
LINE_END = b"\r\n"


class ProtocolError(Exception):
    """Bytes that are no request."""


@record(frozen=True)
class Status:
    """A short reply such as `OK`."""

    text: str


@record(frozen=True)
class Failure:
    """An error as a reply, or as part of one."""

    text: str


@record(frozen=True)
class Map:
    """Names and values: a flat array in RESP 2."""

    pairs: list[tuple[Reply, Reply]]


@record(frozen=True)
class Members:
    """A set: an array in RESP 2."""

    items: list[Reply]


@record(frozen=True)
class Push:
    """What nobody asked for: a message of a channel."""

    items: list[Reply]


@record(frozen=True)
class Scored:
    """Members with scores: pairs in RESP 3, a flat array in RESP 2."""

    pairs: list[tuple[bytes, Reply]]


@record(frozen=True)
class Text:
    """Text for people: verbatim in RESP 3."""

    text: str


class Missing:
    """No array: `*-1` in RESP 2, null in RESP 3."""


class Silent:
    """No reply at all, or one that was sent already."""


OK = Status("OK")
MISSING = Missing()
SILENT = Silent()


class Requests:
    """The requests in a stream of bytes."""

    def __init__(self) -> None:
        self.unread = bytearray()

    def feed(self, data: bytes) -> None:
        self.unread += data

    def next(self) -> list[bytes] | None:
        """The next request that is there completely, without its bytes in `unread`."""
        while self.unread:
            if self.unread[:1] != b"*":
                line = self._line(0, "too big inline request")
                if line is None:
                    return None
                del self.unread[: line[1]]
                words = inline(line[0].rstrip(b"\r"))
                if words:
                    return words
                continue
            request = self._array()
            if request is None:
                return None
            arguments, end = request
            del self.unread[:end]
            if arguments:
                return arguments
        return None

    def _line(self, start: int, complaint: str) -> tuple[bytes, int] | None:
        end = self.unread.find(b"\n", start)
        if end < 0:
            if len(self.unread) - start > MAX_LINE:
                raise ProtocolError(complaint)
            return None
        return bytes(self.unread[start:end]), end + 1

    def _array(self) -> tuple[list[bytes], int] | None:
        head = self._line(0, "too big mbulk count string")
        if head is None:
            return None
        count = number(head[0][1:], MAX_ARGUMENTS, "invalid multibulk length")
        position, arguments = head[1], []
        for _ in range(count):
            line = self._line(position, "too big bulk count string")
            if line is None:
                return None
            if line[0][:1] != b"$":
                raise ProtocolError(f"expected '$', got '{line[0][:1].decode('latin-1')}'")
            length = number(line[0][1:], MAX_ARGUMENT, "invalid bulk length")
            if length < 0:
                raise ProtocolError("invalid bulk length")
            end = line[1] + length
            if len(self.unread) < end + 2:
                return None
            arguments.append(bytes(self.unread[line[1] : end]))
            position = end + 2
        return arguments, position


def number(text: bytes, limit: int, complaint: str) -> int:
    digits = text.rstrip(b"\r")
    if not digits.lstrip(b"-").isdigit() or len(digits) > 20 or int(digits) > limit:
        raise ProtocolError(complaint)
    return int(digits)


def inline(line: bytes) -> list[bytes]:
    """The words of a request that somebody typed."""
    if b'"' not in line and b"'" not in line:
        return line.split()
    try:
        return [word.encode("latin-1") for word in shlex.split(line.decode("latin-1"))]
    except ValueError:
        raise ProtocolError("unbalanced quotes in request") from None


def encode(reply: Reply, protocol: int = 2) -> bytes:
    return b"".join(pieces(reply, protocol))


def pieces(reply: Reply, protocol: int) -> Iterator[bytes]:
    """The bytes of `reply`; `protocol` is 2 or 3."""
    if reply is None:
        yield b"$-1\r\n" if protocol == 2 else b"_\r\n"
    elif isinstance(reply, bytes):
        yield b"$%d\r\n%b\r\n" % (len(reply), reply)
    elif isinstance(reply, int):
        yield b":%d\r\n" % reply
    elif isinstance(reply, float):
        text = double(reply)
        yield b",%b\r\n" % text if protocol == 3 else b"$%d\r\n%b\r\n" % (len(text), text)
    elif isinstance(reply, list):
        yield b"*%d\r\n" % len(reply)
        for item in reply:
            yield from pieces(item, protocol)
    elif isinstance(reply, Status):
        yield b"+%b\r\n" % reply.text.encode("latin-1")
    elif isinstance(reply, Failure):
        yield b"-%b\r\n" % reply.text.encode("latin-1", "replace")
    elif reply is MISSING:
        yield b"*-1\r\n" if protocol == 2 else b"_\r\n"
    elif reply is not SILENT:
        yield from aggregate(reply, protocol)


def aggregate(reply: Reply, protocol: int) -> Iterator[bytes]:
    """The bytes of what only RESP 3 has a kind for."""
    if isinstance(reply, Text):
        text = reply.text.encode("latin-1", "replace")
        start = b"=%d\r\ntxt:" % (len(text) + 4) if protocol == 3 else b"$%d\r\n" % len(text)
        yield start + text + LINE_END
        return
    kind, items = shape(reply, protocol)
    yield b"%b%d\r\n" % (kind, len(items) // 2 if kind == b"%" else len(items))
    for item in items:
        yield from pieces(item, protocol)


def shape(reply: Reply, protocol: int) -> tuple[bytes, list[Reply]]:
    if isinstance(reply, Map):
        items = [part for pair in reply.pairs for part in pair]
        return (b"%" if protocol == 3 else b"*"), items
    if isinstance(reply, Scored):
        if protocol == 3:
            return b"*", [list(pair) for pair in reply.pairs]
        return b"*", [part for pair in reply.pairs for part in pair]
    if isinstance(reply, Members):
        return (b"~" if protocol == 3 else b"*"), reply.items
    if isinstance(reply, Push):
        return (b">" if protocol == 3 else b"*"), reply.items
    raise TypeError(f"no reply: {reply!r}")


def double(value: float) -> bytes:
    """A number as Redis 7.0 prints it."""
    if value != value:
        return b"nan"
    if value in (float("inf"), float("-inf")):
        return b"inf" if value > 0 else b"-inf"
    return b"%.17g" % value
