"""A server for one user on this machine, which nobody else can stop, fill or talk into anything.

Anybody on the machine, and any page in the user's browser, can connect to 127.0.0.1. So whoever
does not know the token is refused, and no connection costs the others anything: each is read by a
thread of its own, for a few seconds, up to a few thousand bytes; where there are too many, the
oldest that has not asked for anything yet is closed. One thread (`Desk`) does what is asked of the
explored system, one thing after the other.

Invariant: nothing that a connection sends, and nothing that fails while it is answered, keeps the
next one from being answered.
"""

from __future__ import annotations

import queue
import secrets
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import Any, TypeVar

from presage.errors import NoThread, PresageError

HOST = "127.0.0.1"
BODY_MAX = 1_000  # bytes of a posted form
CONNECTIONS_MAX = 32  # that have not yet said what they want
SECONDS_MAX = 10.0  # to say so

Answer = TypeVar("Answer")


class Desk:
    """Does what others ask for on one thread, since what it works on belongs to that thread."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        try:
            threading.Thread(target=self._work, name="presage-desk", daemon=True).start()
        except RuntimeError as error:
            raise NoThread("the thread that runs the explored system", str(error)) from None

    def do(self, job: Callable[..., Answer], *args: Any) -> Answer:
        """Call `job` there, and give what it gives or raise what it raises."""
        future: Future[Answer] = Future()
        self._jobs.put((future, lambda: job(*args)))
        return future.result()

    def _work(self) -> None:
        while True:
            try:
                future, job = self._jobs.get()
                try:
                    future.set_result(job())
                except BaseException as error:
                    future.set_exception(error)
            except BaseException:  # a watchdog may end a job that has just ended by itself
                continue


class LocalServer(ThreadingMixIn, HTTPServer):
    """Answers on this machine only, under a path with a random token."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 2 * CONNECTIONS_MAX

    def __init__(self, port: int, handler: type[LocalHandler]) -> None:
        self._reading: dict[socket.socket, float] = {}  # connection -> until when it may talk
        self._lock = threading.Lock()
        super().__init__((HOST, port), handler)
        self.token = secrets.token_urlsafe(16)
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Read it on a thread of its own; the oldest that is silent makes room."""
        with self._lock:
            self._reading[request] = time.monotonic() + SECONDS_MAX
            if len(self._reading) > CONNECTIONS_MAX:
                self._hang_up(next(iter(self._reading)))
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no thread can be started
            self.has_asked(request)
            self.shutdown_request(request)

    def service_actions(self) -> None:
        """Called a few times a second: close what has talked for too long."""
        with self._lock:
            now = time.monotonic()
            for connection, until in list(self._reading.items()):
                if until < now:
                    self._hang_up(connection)

    def has_asked(self, request: Any) -> None:
        """All of a request was read; it will be answered."""
        with self._lock:
            self._reading.pop(request, None)

    def _hang_up(self, connection: socket.socket) -> None:
        self._reading.pop(connection, None)
        try:
            connection.shutdown(socket.SHUT_RDWR)  # its thread notices, and closes it
        except OSError:
            pass

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a connection that went away is no news."""


class LocalHandler(BaseHTTPRequestHandler):
    """Reads one request, and refuses it if it is not the user's."""

    server: LocalServer
    timeout = SECONDS_MAX

    def finish(self) -> None:
        """Close; whatever the request was, it makes no others wait."""
        self.server.has_asked(self.connection)
        super().finish()

    def log_message(self, *_: Any) -> None:
        """Say nothing: the page shows what happens."""

    def asked(self) -> str | None:
        """What is asked for behind the token; None, and refused, if this is not our user."""
        _, token, *rest = f"{self.path}//".split("/")
        ours = secrets.compare_digest(
            token.encode("utf-8", "surrogateescape"), self.server.token.encode()
        )
        named = self.headers.get_all("Host", [])
        if ours and len(named) == 1 and named[0] in self.server.hosts:
            return rest[0]
        self.answer(403, b"wrong address: use the one that was printed\n")
        return None

    def body(self) -> bytes | None:
        """What was posted; None if it is not a short form, whole, with one length."""
        lengths = self.headers.get_all("Content-Length", [])
        if len(lengths) != 1 or "Transfer-Encoding" in self.headers:
            return None
        [length] = lengths
        short = length.isascii() and length.isdecimal() and len(length) <= len(str(BODY_MAX))
        if not short or int(length) > BODY_MAX:
            return None
        body = self.rfile.read(int(length))
        return body if len(body) == int(length) else None

    def guarded(self, job: Callable[[], None]) -> None:
        """Do `job`, which answers; where it fails, say why, and go on."""
        try:
            job()
        except (ConnectionError, TimeoutError):
            raise
        except PresageError as error:  # of the explored system; one can still go elsewhere
            self.answer(500, f"{error}\n".encode())
        except Exception as error:
            self.answer(500, f"presage failed: {type(error).__name__}: {error}\n".encode())

    def answer(
        self, status: int, body: bytes, kind: str = "text/plain", saved_as: str = ""
    ) -> None:
        """Send all of it, as a file where it has a name to be saved as; nobody may cache it."""
        self.send_response(status)
        if saved_as:
            self.send_header("Content-Disposition", f'attachment; filename="{saved_as}"')
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)
