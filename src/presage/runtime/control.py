"""Commands to a running node: a Unix socket, one JSON object a line, one answer a line.

Only the owner of the data folder may speak to a node: the socket has mode 0600. It is a place for
people and scripts, not for load: one request at a time per connection, of bounded size.

Invariant: a request that cannot be read is answered with an error, and harms nobody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
import socket
import stat
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from presage.errors import CannotListen, CommandRefused, NotRunning, PresageError

LINE_MAX = 1 << 20  # bytes of a request
PATH_MAX = 100  # of a socket; the system's limit is 104 to 108
CONTROL = "control"
PATIENCE = 10.0  # seconds that a command waits for its answer
AT_ONCE = 100  # sockets that are asked together


class Request(Struct, frozen=True, omit_defaults=True):
    """What is wanted."""

    do: str
    name: str = ""  # of a method, of a node
    args: list[Any] = field(default_factory=list)


class Answer(Struct, frozen=True, omit_defaults=True):
    """What came of it."""

    value: Any = None
    error: str | None = None


Handle = Callable[[Request], Awaitable[Any]]
_REQUEST = msgspec.json.Decoder(Request)
_ANSWER = msgspec.json.Decoder(Answer)


@contextlib.contextmanager
def _short(path: Path) -> Any:
    """A name for `path` that fits into a socket address, however deep its folder is."""
    if len(os.fsencode(path)) <= PATH_MAX:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def listen(path: Path) -> socket.socket:
    """A socket at `path` that only its owner may use; a stale one there is replaced."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if _answers(path):
        raise CannotListen(
            f"`{path}` is in use",
            "the node, or `presage up`, already runs in this data folder",
            "end it first, or take another folder: `data = ...` in [live], or `--data`",
        )
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with _short(path) as name:
            made.bind(name)
    except OSError as error:
        made.close()
        raise CannotListen(
            f"the control socket `{path}` cannot be made: {error.strerror}",
            "a folder that is not yours, or a file system without sockets",
            "take another folder: `data = ...` in [live], or `--data`",
        ) from error
    finally:
        os.umask(before)
    made.listen(16)
    made.setblocking(False)
    return made


def _answers(path: Path) -> bool:
    with contextlib.suppress(OSError), _connected(path):
        return True
    return False


@contextlib.contextmanager
def _connected(path: Path) -> Any:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.settimeout(PATIENCE)
        with _short(path) as name:
            made.connect(name)
        yield made


class Control:
    """The server of one control socket."""

    def __init__(self, path: Path, handle: Handle) -> None:
        self._path = path
        self._handle = handle
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_unix_server(
            self._serve, sock=listen(self._path), limit=LINE_MAX
        )

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in self._open:
            writer.close()
        with contextlib.suppress(OSError):
            self._path.unlink()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while line := await reader.readline():
                answer = await self._answer(line)
                writer.write(_encode(answer) + b"\n")
                await writer.drain()
        except (OSError, ValueError):  # gone, or a line without end
            pass
        except asyncio.CancelledError:
            pass  # the node ends while somebody is connected: asyncio would take that for a fault
        finally:
            self._open.discard(writer)
            writer.close()

    async def _answer(self, line: bytes) -> Answer:
        try:
            request = _REQUEST.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return Answer(error=f"the request cannot be read: {error}")
        try:
            return Answer(await self._handle(request))
        except PresageError as error:
            return Answer(error=str(error))


def _encode(answer: Answer) -> bytes:
    try:
        return msgspec.json.encode(answer, enc_hook=repr)
    except (TypeError, ValueError, msgspec.MsgspecError):  # such as keys that are no text
        return msgspec.json.encode(Answer(repr(answer.value), answer.error))


def ask(path: Path, request: Request, seconds: float = PATIENCE) -> Any:
    """Send one request to a control socket and give what was answered."""
    try:
        with _connected(path) as made:
            made.settimeout(seconds)
            made.sendall(msgspec.json.encode(request) + b"\n")
            answer = _ANSWER.decode(_line(made))
    except TimeoutError:
        raise NotRunning(
            f"no answer at `{path}` within {seconds:g} s",
            "it is busy with something else, or was stopped",
            "`presage status` tells which nodes are silent; ask again",
        ) from None
    except (OSError, msgspec.DecodeError) as error:
        reason = getattr(error, "strerror", None) or "it has ended"
        raise NotRunning(
            f"nobody answers at `{path}`: {reason}",
            "the node does not run, or was started with another data folder",
            "`presage status` lists what runs; `--data` names another folder",
        ) from error
    if answer.error is not None:
        raise CommandRefused(answer.error)
    return answer.value


def ask_all(
    paths: Mapping[str, Path], request: Request, seconds: float = PATIENCE
) -> dict[str, Any]:
    """What the sockets at `paths` answer, by name; those that do not within `seconds` are left out.

    All are asked together: however many are silent, one patience is all that they cost.
    """
    answers: dict[str, Any] = {}
    names = list(paths)
    for at in range(0, len(names), AT_ONCE):
        some = {name: paths[name] for name in names[at : at + AT_ONCE]}
        for name, data in _lines(some, msgspec.json.encode(request) + b"\n", seconds).items():
            with contextlib.suppress(msgspec.DecodeError):  # half an answer: it ended meanwhile
                answer = _ANSWER.decode(data)
                if answer.error is not None:
                    raise CommandRefused(answer.error)
                answers[name] = answer.value
    return answers


def _lines(paths: Mapping[str, Path], line: bytes, seconds: float) -> dict[str, bytearray]:
    """Write a line to each socket, and read one from each that answers in time."""
    lines: dict[str, bytearray] = {}
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for name, path in paths.items():
            made = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            made.setblocking(False)
            with contextlib.suppress(OSError):  # nobody is there, or very many wait already
                with _short(path) as address:
                    made.connect(address)
                made.sendall(line)
                selector.register(made, selectors.EVENT_READ, (name, bytearray()))
        end = time.monotonic() + seconds
        while selector.get_map() and (left := end - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                name, data = key.data
                piece = _piece(key.fd)
                data += piece
                if not piece or piece.endswith(b"\n"):
                    selector.unregister(key.fileobj)
                    lines[name] = data
    return lines


def _piece(descriptor: int) -> bytes:
    """What is there to read; nothing at the end, or where the other end is gone."""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def _line(made: socket.socket) -> bytes:
    pieces = []
    while piece := made.recv(65536):
        pieces.append(piece)
        if piece.endswith(b"\n"):
            break
    return b"".join(pieces)


def process_of(path: Path) -> int:
    """The process that answers at a control socket."""
    try:
        with _connected(path) as made:
            credentials = made.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    except OSError as error:
        raise NotRunning(
            f"nobody answers at `{path}`: {error.strerror}",
            "the node does not run, or was started with another data folder",
            "`presage status` lists what runs; `--data` names another folder",
        ) from error
    return int.from_bytes(credentials[:4], sys.byteorder, signed=True)
