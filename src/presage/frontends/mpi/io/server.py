"""Files of a checked program: each is held by a process, to which all else are messages.

A file begins as the one on the disk of that name, if there is one, as it was when first asked for.
Only a plain run writes it back, when the file is closed or synchronised.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from presage.frontends.mpi.core.comm_state import RankId
from presage.frontends.mpi.rma.access import Runs, read, write
from presage.process.context import Asking, blocking, exchange
from presage.process.ops import Create, Recv, Send

KEEPER = "files"  # the process that makes the others, and its mailbox

CREATE, RDONLY, WRONLY, RDWR = 1, 2, 4, 8
DELETE_ON_CLOSE, UNIQUE_OPEN, EXCL, APPEND, SEQUENTIAL = 16, 32, 64, 128, 256

Step = tuple[Any, ...]  # what to do, and with what

# Of steps and of answers.
OPEN, CLOSE, DELETE, READ, WRITE = "open", "close", "delete", "read", "write"
SIZE, RESIZE, GROW, SYNC, ADVANCE, PLACE = "size", "resize", "grow", "sync", "advance", "place"
STEPS = (OPEN, CLOSE, DELETE, READ, WRITE, SIZE, RESIZE, GROW, SYNC, ADVANCE, PLACE)
ANSWER = "answer"


def mailbox(name: str) -> str:
    return f"file:{name}"


def answers(name: str, who: RankId) -> str:
    return f"file:{name}>{who}"


class Keeper:
    """The process that makes one for each file when it is first used."""

    __name__ = "files"

    def __init__(self, to_disk: bool) -> None:
        self._to_disk = to_disk
        self._found: dict[str, bytes | None] = {}  # what was on the disk: always the same

    def __call__(self) -> None:
        blocking(self._serve())

    def _serve(self) -> Asking[None]:
        made: set[str] = set()
        while True:
            name, _ = yield from exchange(Recv(KEEPER))
            if name not in made:
                made.add(name)
                args = (name, self._content(name), self._to_disk)
                yield Create(f"file {name}", serve, args, daemon=True)

    def _content(self, name: str) -> bytes | None:
        if name not in self._found:
            path = Path(name)
            self._found[name] = path.read_bytes() if path.is_file() else None
        return self._found[name]


def serve(name: str, content: bytes | None, to_disk: bool) -> None:
    blocking(_serve(Content(name, content, to_disk)))


def _serve(held: Content) -> Asking[None]:
    while True:
        ((_, who), steps), _ = yield from exchange(Recv(mailbox(held.name)))
        got = ((ANSWER,), [held.do(*step) for step in steps])
        yield from exchange(Send(answers(held.name, who), got, buffered=True))


class Content:
    """One file: its bytes, if it exists, and the positions that ranks share."""

    def __init__(self, name: str, content: bytes | None, to_disk: bool = False) -> None:
        self.name = name
        self._to_disk = to_disk
        self._data = None if content is None else bytearray(content)
        self._is_changed = False  # since it was last written to the disk
        self._shared: dict[str, int] = {}  # positions, by the name of what was opened

    def do(self, what: str, *given: Any) -> Any:
        return getattr(self, f"_{what}")(*given)

    def _bytes(self) -> bytearray:
        """What is written to a file that was deleted while open is lost with it."""
        return bytearray() if self._data is None else self._data

    def _open(self, key: str, amode: int) -> str | int:
        """Its size, or what is wrong."""
        if self._data is None:
            if not amode & CREATE:
                return "there is no such file"
            self._data, self._is_changed = bytearray(), True
        elif amode & CREATE and amode & EXCL:
            return "the file exists, and MODE_EXCL wants it not to"
        self._shared[key] = 0
        return len(self._data)

    def _close(self, key: str, delete: bool) -> None:
        del self._shared[key]
        if delete:
            self._delete()
        else:
            self._sync()

    def _delete(self) -> bool:
        existed, self._data = self._data is not None, None
        if self._to_disk:
            Path(self.name).unlink(missing_ok=True)
        return existed

    def _sync(self) -> None:
        if self._to_disk and self._is_changed and self._data is not None:
            Path(self.name).write_bytes(self._data)
            self._is_changed = False

    def _read(self, runs: Runs) -> bytes:
        """As far as the file goes."""
        return read(self._bytes(), runs)

    def _write(self, runs: Runs, written: bytes) -> None:
        self._grow(max((at + size for at, size in runs), default=0))
        write(self._bytes(), runs, written)
        self._is_changed = True

    def _size(self) -> int:
        return len(self._bytes())

    def _resize(self, size: int) -> None:
        data = self._bytes()
        del data[size:]
        self._grow(size)

    def _grow(self, size: int) -> None:
        data = self._bytes()
        data.extend(bytes(max(0, size - len(data))))
        self._is_changed = True

    def _advance(self, key: str, count: int) -> int:
        """The shared position, which goes on by `count`."""
        before = self._shared[key]
        self._shared[key] = before + count
        return before

    def _place(self, key: str, position: int) -> None:
        self._shared[key] = position
