"""One TCP connection: both ends say hello, then frames pass in order, as fast as they are taken.

The end that opened the socket speaks first. The other end compares name, definition and version
with its own, and only then says hello, or goodbye with the reason. Until then a peer is a stranger:
small frames, and a few seconds of patience.

A connection ends by a reset, so that both ends lose what is under way, as streams do in the model.
Broken or hostile bytes end it in the same way, and nothing else.

Invariant: nothing is passed on before the hello was accepted, and nothing after the end.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Protocol, cast

from presage.runtime.frame import (
    HELLO_MAX,
    BadFrame,
    Decoder,
    Frame,
    Hello,
    Kind,
    Messages,
    encode,
    hello_frame,
    read_hello,
)

HELLO_PATIENCE = 5.0  # seconds until a stranger must have said hello
ESTABLISHED = 1  # the first byte of `TCP_INFO`
LINGER = struct.pack("ii", 1, 0)  # closing sends RST
REASON_MAX = 500  # bytes of a goodbye
DUPLICATE = "there is a connection already"


class Owner(Protocol):
    """Who hears of what happens on connections."""

    hello: Hello
    frame_max: int
    keep_alive: float
    paused: set[Connection]
    bytes_read: int
    reading: memoryview  # where all connections put what a read brings, until it is taken

    def greeted(self, connection: Connection, said: Hello) -> str | None:
        """The peer has said hello; why it is refused, or None: the owner has accepted it."""

    def passed(self, connection: Connection, frame: Frame) -> None:
        """A frame came in; `BadFrame` ends the connection."""

    def messages(self, peer: str, messages: Messages) -> None:
        """Frames with messages came in, in a row."""

    def settle(self) -> None:
        """All frames that there were have been passed."""

    def room(self, peer: str) -> int:
        """How many more frames of a peer are to be read for now."""

    def faulty(self, connection: Connection, reason: str) -> None:
        """Bytes came in that mean nothing; the connection is reset."""

    def ended(self, connection: Connection, reason: str) -> None:
        """The connection is gone; called once, no matter which end ended it."""


class Connection(asyncio.BufferedProtocol):
    """One end of a TCP connection."""

    def __init__(self, owner: Owner, opener: bool, peer: str | None = None) -> None:
        self.owner = owner
        self.opener = opener  # whether this end opened it
        self.peer = peer  # as dialled; of one that was accepted, known after its hello
        self.said: Hello | None = None  # by the peer, once accepted
        self.heard = True  # something came in since somebody looked
        self.wrote = True  # something was written since somebody looked
        self.missed = 0  # signs of life
        self.paused = False  # reading, because nobody takes frames
        self.stuck = False  # writing, because the peer does not read
        self._decoder = Decoder(HELLO_MAX)
        self._transport: asyncio.Transport | None = None
        self._reason = ""
        self._loop = asyncio.get_running_loop()
        self._patience: asyncio.TimerHandle | None = None

    # -- called by asyncio -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Those of uvloop are no subclass of it.
        self._transport = cast("asyncio.Transport", transport)
        made = transport.get_extra_info("socket")
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
        self._keep_alive(made)
        self._patience = self._loop.call_later(HELLO_PATIENCE, self.reset, "no hello")
        if self.opener:
            self.write(encode(hello_frame(self.owner.hello)))

    def _keep_alive(self, made: socket.socket) -> None:
        """Let the system notice a machine that is gone, also while nothing is read here."""
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if hasattr(socket, "TCP_KEEPIDLE"):
            every = max(1, round(self.owner.keep_alive))
            for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL):
                made.setsockopt(socket.IPPROTO_TCP, option, min(every, 32767))
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.owner.reading  # what a read brings is passed on before the next one

    def buffer_updated(self, nbytes: int) -> None:
        self.heard = True
        if self._transport is None:
            return
        owner = self.owner
        owner.bytes_read += nbytes
        self._decoder.feed(owner.reading[:nbytes])
        self.advance()

    def pause_writing(self) -> None:
        self.stuck = True

    def resume_writing(self) -> None:
        self.stuck = False

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(self._reason or (str(exc) if exc else "closed by the peer"))

    # -- called by the owner -----------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return self._transport is not None

    def advance(self) -> None:
        """Pass on what has come in, as far as the owner takes it."""
        owner, passed = self.owner, False
        try:
            while self._decoder.size:
                peer = self.peer if self.said is not None else None
                if peer is not None:
                    room = owner.room(peer)
                    if room <= 0:
                        self._pause()
                        break
                    messages = self._decoder.messages(room)
                    if messages is not None:
                        passed = True
                        owner.messages(peer, messages)
                        continue
                frame = self._decoder.pull()
                if frame is None:
                    self._unpause()
                    break
                passed = True
                if peer is None:
                    self._greet(frame)
                else:
                    owner.passed(self, frame)
            else:
                self._unpause()
        except BadFrame as error:
            owner.faulty(self, str(error))
            self.reset(str(error))
        if passed:
            owner.settle()

    def write(self, data: bytes) -> int:
        """Send bytes, now or when the peer reads; how many wait for that."""
        if self._transport is None or self._transport.is_closing():  # a write has failed before
            return 0
        self._transport.write(data)
        if not self.stuck:
            self.wrote = True
            return 0
        return self._transport.get_write_buffer_size()

    def is_over(self) -> bool:
        """Whether the other end has given it up, though that was not read yet."""
        if self._transport is None or not hasattr(socket, "TCP_INFO"):
            return False
        made = self._transport.get_extra_info("socket")
        return bool(made.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != ESTABLISHED)

    def look(self) -> int:
        """How often in a row nothing came in, or nothing could be written; called now and then."""
        lively = (self.heard or self.paused) and not self.stuck
        self.missed = 0 if lively else self.missed + 1
        self.heard = False
        return self.missed

    def certificate(self) -> dict[str, object] | None:
        """What the peer's certificate says; None without TLS."""
        assert self._transport is not None
        found: dict[str, object] | None = self._transport.get_extra_info("peercert")
        return found

    def reset(self, reason: str) -> None:
        """End it at once; both ends lose what is under way."""
        if self._transport is not None:
            transport = self._transport
            self._end(reason)
            transport.abort()

    def dismiss(self, reason: str) -> None:
        """End it with a goodbye that says why."""
        if self._transport is not None:
            transport, body = self._transport, reason.encode(errors="replace")[:REASON_MAX]
            made = transport.get_extra_info("socket")
            made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
            transport.write(encode(Frame(Kind.BYE, body=body)))
            self._end(reason)
            transport.close()

    # ----------------------------------------------------------------------------------------

    def _greet(self, frame: Frame) -> None:
        if frame.kind is Kind.BYE:
            self._reason = frame.body[:REASON_MAX].decode(errors="replace")
            self.reset(self._reason)
            return
        refused = self.owner.greeted(self, read_hello(frame))
        if refused is not None:
            self.dismiss(refused)

    def accept(self, said: Hello) -> None:
        """Let the peer be known: what follows are its frames."""
        self.said, self.peer = said, said.name
        self._decoder.limit = self.owner.frame_max
        if self._patience is not None:
            self._patience.cancel()
        if not self.opener:
            self.write(encode(hello_frame(self.owner.hello)))

    def _pause(self) -> None:
        self.owner.paused.add(self)
        if not self.paused and self._transport is not None:
            self.paused = True
            self._transport.pause_reading()

    def _unpause(self) -> None:
        if self.paused and self._transport is not None:
            self.paused = False
            self._transport.resume_reading()

    def _end(self, reason: str) -> None:
        """Let go of the transport, and tell the owner, once."""
        if self._patience is not None:
            self._patience.cancel()
        if self._transport is not None:
            self._transport = None
            self._decoder = Decoder(HELLO_MAX)
            self.owner.paused.discard(self)
            self.owner.ended(self, reason)
