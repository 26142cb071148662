"""TLS in a simulated process: the messages of a handshake, and nothing secret.

OpenSSL draws its own random numbers, so its bytes would differ in every run. Below CPython's own
`SSLSocket` and `SSLObject` stands therefore a plain session. It sends records with the headers of
TLS: a hello, its answer, a finish, data in the clear, and a notice at the end. So everything
happens in the order and the number of steps of the real thing. Keys and certificates are neither
read nor checked, and every report of a search that met TLS says so.

Invariant: a session never waits by itself; its transport does, or raises `SSLWantReadError`.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.sockets import Simulated
from presage.process.leaves import Leaf, extend

ALERT, HANDSHAKE, DATA = 21, 22, 23
VERSION = b"\x03\x03"
RECORD_MAX = 16_384
CLOSE = b"\x01\x00"  # the notice that no more data will come
CIPHER = ("TLS_AES_256_GCM_SHA384", "TLSv1.3", 256)
PLAIN = "plain TLS"  # a note of a process: it used TLS

PROTOCOLS: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()  # what contexts offer by ALPN


class Transport(Protocol):
    """Carries records."""

    def read(self) -> bytes:
        """Some bytes, none at the end; `SSLWantReadError` if there are none yet."""

    def write(self, data: bytes) -> None:
        """Take a record; `SSLWantWriteError` if some of it is left, for `flush`."""

    def flush(self) -> None: ...


class Buffers:
    """Records go through a pair of `MemoryBIO`."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    def read(self) -> bytes:
        data: bytes = self._incoming.read()
        if not data and not self._incoming.eof:
            raise ssl.SSLWantReadError(ssl.SSL_ERROR_WANT_READ, "The operation did not complete")
        return data

    def write(self, data: bytes) -> None:
        self._outgoing.write(data)

    def flush(self) -> None:
        """Nothing is ever left."""


class Wire:
    """Records go through a simulated socket."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self.left = bytearray()  # of records that the socket has not taken

    def read(self) -> bytes:
        try:
            return Simulated.recv(self._sock, RECORD_MAX)
        except BlockingIOError:
            raise ssl.SSLWantReadError(
                ssl.SSL_ERROR_WANT_READ, "The operation did not complete (read)"
            ) from None

    def write(self, data: bytes) -> None:
        self.left += data
        self.flush()

    def flush(self) -> None:
        try:
            while self.left:
                del self.left[: Simulated.send(self._sock, bytes(self.left))]
        except BlockingIOError:
            raise ssl.SSLWantWriteError(
                ssl.SSL_ERROR_WANT_WRITE, "The operation did not complete (write)"
            ) from None


class Session:
    """One end of a connection: what `_ssl._SSLSocket` is to `SSLSocket` and `SSLObject`."""

    session_reused = False

    def __init__(
        self,
        context: Any,
        transport: Transport,
        server_side: bool,
        server_hostname: Any,
        owner: Any,
    ) -> None:
        self.context = context
        self.server_side = server_side
        name = server_hostname
        self.server_hostname = name.decode() if isinstance(name, bytes) else name
        self.owner = owner
        self.session: Any = None
        self._transport = transport
        self._bytes = bytearray()  # of records that are not complete
        self._data = bytearray()
        self._ended = False  # the other end has said that it sends no more
        self._protocol: str | None = None
        self._closing = False
        self._sending = False  # a record that is not wholly sent yet
        self._steps = self._serve() if server_side else self._connect()
        self._done = False

    # The handshake.

    def do_handshake(self) -> None:
        """Go on with it; raises `SSLWantReadError` where it has to wait."""
        while not self._done:
            self._steps = self._steps()

    def _connect(self) -> Callable[[], Any]:
        def hello() -> Any:
            offered = ",".join(PROTOCOLS.get(self.context, ()))
            self._send(HANDSHAKE, f"hello {self.server_hostname or ''} {offered}".encode())
            return answer

        def answer() -> Any:
            _, _, self._protocol = self._handshake_record("answer")
            return finish

        def finish() -> Any:
            self._send(HANDSHAKE, b"finish  ")
            self._done = True

        return hello

    def _serve(self) -> Callable[[], Any]:
        def hello() -> Any:
            _, name, offered = self._handshake_record("hello")
            mine = PROTOCOLS.get(self.context, ())
            self._protocol = next((each for each in mine if each in offered.split(",")), None)
            return lambda: answer(name)

        def answer(name: str) -> Any:
            self._send(HANDSHAKE, f"answer {name} {self._protocol or ''}".encode())
            return finish

        def finish() -> Any:
            self._handshake_record("finish")
            self._done = True

        return hello

    def _handshake_record(self, expected: str) -> tuple[str, str, str]:
        kind, body = self._record()
        parts = body.decode(errors="replace").split(" ")
        if kind != HANDSHAKE or parts[0] != expected or len(parts) != 3:
            raise ssl.SSLError(ssl.SSL_ERROR_SSL, f"[SSL] expected `{expected}`")
        return parts[0], parts[1], parts[2]

    # Records.

    def _send(self, kind: int, body: bytes) -> None:
        """Send a record; if some of it is left, the caller is to call again, and it is not new."""
        self._transport.flush()
        if self._sending:
            self._sending = False
            return
        self._sending = True
        self._transport.write(bytes([kind]) + VERSION + len(body).to_bytes(2, "big") + body)
        self._sending = False

    def _record(self) -> tuple[int, bytes]:
        while True:
            if len(self._bytes) >= 5:
                if self._bytes[1:3] != VERSION:
                    raise ssl.SSLError(ssl.SSL_ERROR_SSL, "[SSL: WRONG_VERSION_NUMBER]")
                size = int.from_bytes(self._bytes[3:5], "big")
                if len(self._bytes) >= 5 + size:
                    kind, body = self._bytes[0], bytes(self._bytes[5 : 5 + size])
                    del self._bytes[: 5 + size]
                    return kind, body
            piece = self._transport.read()
            if not piece:
                raise ssl.SSLEOFError(
                    ssl.SSL_ERROR_EOF, "EOF occurred in violation of protocol (_ssl.c:1006)"
                )
            self._bytes += piece

    # Data.

    def read(self, size: int = 1024, buffer: Any = None) -> Any:
        self.do_handshake()
        while not self._data and not self._ended and size:
            kind, body = self._record()
            if kind == DATA:
                self._data += body
            elif kind == ALERT:
                self._ended = True
        data = bytes(self._data[:size])
        if not data and size and self._closing:
            raise ssl.SSLZeroReturnError(
                ssl.SSL_ERROR_ZERO_RETURN, "TLS/SSL connection has been closed (EOF)"
            )
        del self._data[:size]
        if buffer is None:
            return data
        memoryview(buffer).cast("B")[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        self.do_handshake()
        if self._closing:
            raise ssl.SSLError(ssl.SSL_ERROR_SSL, "[SSL: PROTOCOL_IS_SHUTDOWN]")
        left = bytes(memoryview(data).cast("B"))[:RECORD_MAX]
        self._send(DATA, left)
        return len(left)

    def pending(self) -> int:
        return len(self._data)

    def shutdown(self) -> Any:
        """Say that no more data comes, and wait until the other end has said so."""
        if not self._closing:
            self._send(ALERT, CLOSE)
            self._closing = True
        while not self._ended:
            if self._record()[0] == DATA:
                raise ssl.SSLError(ssl.SSL_ERROR_SSL, "[SSL: APPLICATION_DATA_AFTER_CLOSE_NOTIFY]")
            self._ended = True
        return self.owner if isinstance(self._transport, Wire) else None

    # What it says of itself.

    def version(self) -> str | None:
        return CIPHER[1] if self._done else None

    def cipher(self) -> tuple[str, str, int] | None:
        return CIPHER if self._done else None

    def shared_ciphers(self) -> list[tuple[str, str, int]] | None:
        return [CIPHER] if self.server_side else None

    def compression(self) -> None:
        return None

    def selected_alpn_protocol(self) -> str | None:
        return self._protocol or None

    def get_channel_binding(self, kind: str = "tls-unique") -> None:
        return None

    def verify_client_post_handshake(self) -> None:
        """Nothing is verified."""

    def getpeercert(self, binary: bool = False) -> Any:
        """A certificate for the name that was asked for; servers see none."""
        if not self._done:
            raise ValueError("handshake not done yet")
        if self.server_side or binary:
            return None
        if self.context.verify_mode == ssl.CERT_NONE:
            return {}
        name = self.server_hostname or ""
        return {"subject": ((("commonName", name),),), "subjectAltName": (("DNS", name),)}


def _wrap_bio(
    context: Any,
    incoming: Any,
    outgoing: Any,
    server_side: bool = False,
    server_hostname: Any = None,
    owner: Any = None,
    session: Any = None,
) -> Session:
    here().notes[PLAIN] = True
    return Session(context, Buffers(incoming, outgoing), server_side, server_hostname, owner)


def _wrap_socket(
    context: Any,
    sock: Any,
    server_side: bool = False,
    server_hostname: Any = None,
    owner: Any = None,
    session: Any = None,
) -> Session:
    here().notes[PLAIN] = True
    return Session(context, Wire(sock), server_side, server_hostname, sock)


def _offer(context: Any, protocols: Any) -> None:
    PROTOCOLS[context] = list(protocols)


def _nothing(*_: Any, **__: Any) -> None:
    """Keys and certificates are not read."""


ANSWERS: dict[tuple[Any, str], Callable[..., Any]] = {
    (ssl.SSLContext, "_wrap_bio"): _wrap_bio,
    (ssl.SSLContext, "_wrap_socket"): _wrap_socket,
    (ssl.SSLContext, "set_alpn_protocols"): _offer,
    (ssl.SSLContext, "load_cert_chain"): _nothing,
    (ssl.SSLContext, "load_verify_locations"): _nothing,
    (ssl.SSLContext, "load_default_certs"): _nothing,
    (ssl.SSLContext, "set_default_verify_paths"): _nothing,
    (ssl, "RAND_bytes"): lambda size: here().chance.randbytes(size),
}
extend([Leaf(owner, name, "network", f"ssl.{name}") for owner, name in ANSWERS], ANSWERS)
