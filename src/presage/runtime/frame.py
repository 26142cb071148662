"""Frames: how messages, checkpoints and acknowledgements stand in a stream of bytes.

`length u32 | version u8 | kind u8 | flags u16 | number u64 | life u32 | handled u64 | body`, all
big-endian; `length` counts what follows it. `number` is the sender's checkpoint number, `life` the
life of the connection as the sender counts it, `handled` how many messages of the peer the sender
has handled in this life. A datagram has the same header: there `life` is the life of the sending
process, `handled` the datagram's own number, and `flags` the first bits of the definition's digest.

The sender of the bytes may be broken or hostile. A `Decoder` therefore judges a frame by its header
before it waits for the body, and holds at most one frame and what one read gave. Messages in a row
are read and written in one piece, by the core.

Invariant: bytes give frames or one `BadFrame`, never another exception; memory is bounded.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from presage._core import read_messages, write_messages
from presage.version import VERSION

if TYPE_CHECKING:
    from presage.search.checkpoint.code_digest import Definition

PROTOCOL: Final = 1  # the version in every header
HEADER: Final = struct.Struct(">IBBHQIQ")
LENGTH: Final = struct.Struct(">I")
AFTER_LENGTH: Final = HEADER.size - LENGTH.size  # the least that `length` can say
FRAME_MAX: Final = 1 << 20  # bytes of a frame, its length included, unless a cluster says other
HELLO_MAX: Final = 4096  # until the peer is known
DATAGRAM_MAX: Final = 1200  # fits every path; no silent fragmentation
NAME_MAX: Final = 255


class Kind(IntEnum):
    """What a frame is."""

    HELLO = 1
    MESSAGE = 2
    GATHER = 3
    CHECKPOINT = 4
    PATH = 5
    BYE = 6
    ALIVE = 7  # nothing but its header: an acknowledgement, and a sign of life
    LIFE = 8  # the life of the connection, with what it means: see `link`
    DATAGRAM = 9  # on a connection, where UDP could not prove who sends


KINDS: Final = tuple(Kind(number) if number in set(Kind) else None for number in range(256))


class Frame(Struct, frozen=True, gc=False):
    """One frame, without its length and version."""

    kind: Kind
    number: int = 0
    life: int = 0
    handled: int = 0
    body: bytes = b""
    flags: int = 0

    @property
    def size(self) -> int:
        """How many bytes it has, its header included."""
        return HEADER.size + len(self.body)


class Messages(Struct, frozen=True, gc=False):
    """Frames of the kind `MESSAGE` in a row, with one header but for `handled`: the largest."""

    number: int
    life: int
    handled: int
    bodies: list[bytes]

    @property
    def kind(self) -> Kind:
        return Kind.MESSAGE

    @property
    def size(self) -> int:
        """How many bytes they have, headers included."""
        return len(self.bodies) * HEADER.size + sum(map(len, self.bodies))


class BadFrame(Exception):
    """Bytes that no frame begins with; the text says why."""


class Hello(Struct, frozen=True):
    """The first frame of both ends of a connection: who speaks, and what it runs."""

    name: str
    definition: str  # digest of the system: its code and its data
    version: str
    life: int  # of the process


def pack(
    kind: Kind, number: int, life: int, handled: int, body: bytes = b"", flags: int = 0
) -> bytes:
    """The bytes of a frame, from its fields."""
    length = AFTER_LENGTH + len(body)
    return HEADER.pack(length, PROTOCOL, kind, flags, number, life, handled) + body


def encode(frame: Frame | Messages) -> bytes:
    """The bytes of a frame, or of several in a row."""
    if isinstance(frame, Messages):
        return write_messages(frame.number, frame.life, frame.handled, frame.bodies)
    return pack(frame.kind, frame.number, frame.life, frame.handled, frame.body, frame.flags)


def hello(name: str, definition: Definition, life: int) -> Hello:
    """What the node `name` says of itself."""
    return Hello(name, definition.digest, VERSION, life)


def hello_frame(said: Hello, number: int = 0) -> Frame:
    """The frame that carries a hello."""
    return Frame(Kind.HELLO, number, body=msgspec.json.encode(said))


_HELLO = msgspec.json.Decoder(Hello)


def read_hello(frame: Frame) -> Hello:
    """What the first frame of a connection says; `BadFrame` if it is no hello."""
    if frame.kind is not Kind.HELLO:
        raise BadFrame(f"the first frame is `{frame.kind.name.lower()}`, not `hello`")
    try:
        said = _HELLO.decode(frame.body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadFrame(f"the hello cannot be read: {error}") from None
    if not 0 < len(said.name) <= NAME_MAX or not 0 <= said.life < 1 << 32:
        raise BadFrame("the hello has a name or a life out of range")
    return said


def refusal(mine: Hello, theirs: Hello) -> str | None:
    """Why two nodes cannot talk to each other; None if they can."""
    if mine.version != theirs.version:
        return f"presage {theirs.version[:40]!r} there, {mine.version!r} here"
    if mine.definition != theirs.definition:
        return (
            f"another definition of the system: {theirs.definition[:16]!r} there,"
            f" {mine.definition[:16]!r} here"
        )
    return None


class Decoder:
    """Bytes as they come in, frames as they are asked for."""

    __slots__ = ("_at", "_bytes", "limit", "size")

    def __init__(self, limit: int = FRAME_MAX) -> None:
        self.limit = limit  # bytes of one frame, its length included; may be changed
        self.size = 0  # how many bytes wait here
        self._bytes = bytearray()
        self._at = 0

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Take in what one read gave."""
        if self._at:
            del self._bytes[: self._at]
            self._at = 0
        self._bytes += data
        self.size = len(self._bytes)

    def pull(self) -> Frame | None:
        """The next whole frame, or None until more bytes come; raises `BadFrame`."""
        buffer, at = self._bytes, self._at
        if self.size < HEADER.size:
            if self.size >= LENGTH.size:
                self._judge_length(LENGTH.unpack_from(buffer, at)[0])
            return None
        length, version, code, flags, number, life, handled = HEADER.unpack_from(buffer, at)
        self._judge_length(length)
        kind = _known(version, code)
        end = at + LENGTH.size + length
        if end > len(buffer):
            return None
        body = bytes(buffer[at + HEADER.size : end])
        self._pass(end)
        return Frame(kind, number, life, handled, body, flags)

    def messages(self, most: int) -> Messages | None:
        """The next frames, as far as they are messages in a row; None: ask `pull`."""
        found = read_messages(self._bytes, self._at, self.limit, most)
        if found is None:
            return None
        end, number, life, handled, bodies = found
        self._pass(end)
        return Messages(number, life, handled, bodies)

    def _pass(self, end: int) -> None:
        """What stands before `end` was read."""
        self.size = len(self._bytes) - end
        if not self.size:
            self._bytes.clear()
            end = 0
        self._at = end

    def _judge_length(self, length: int) -> None:
        if not AFTER_LENGTH <= length <= self.limit - LENGTH.size:
            raise BadFrame(f"a frame of {length + LENGTH.size:,} bytes, at most {self.limit:,}")


def _known(version: int, code: int) -> Kind:
    if version != PROTOCOL:
        raise BadFrame(f"version {version} of the protocol, not {PROTOCOL}")
    kind = KINDS[code]
    if kind is None:
        raise BadFrame(f"a frame of the unknown kind {code}")
    return kind


def read_datagram(data: bytes) -> Frame:
    """The one frame that a datagram holds; `BadFrame` if it is not exactly one message."""
    if not HEADER.size <= len(data) <= DATAGRAM_MAX:
        raise BadFrame(f"a datagram of {len(data):,} bytes")
    length, version, code, flags, number, life, handled = HEADER.unpack_from(data)
    kind = _known(version, code)
    if length + LENGTH.size != len(data):
        raise BadFrame("a datagram that is longer or shorter than its frame")
    if kind is not Kind.MESSAGE and kind not in (Kind.GATHER, Kind.CHECKPOINT):
        raise BadFrame(f"a datagram of the kind `{kind.name.lower()}`")
    return Frame(kind, number, life, handled, data[HEADER.size :], flags)


def short_digest(digest: str) -> int:
    """The 16 bits of a definition's digest that every datagram carries."""
    return int(digest[:4], 16)
