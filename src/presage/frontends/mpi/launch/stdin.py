"""Standard input of ranks: the first gets it, as under `mpiexec`; the others see its end.

It is read once, line by line as the rank asks, and kept: whenever the rank is run again, it reads
the same.
"""

from __future__ import annotations

import io
import sys
from typing import Any


class Input:
    """The lines of the real standard input, as far as anybody has asked for them."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._source: Any = None

    def line(self, at: int) -> bytes:
        """A line with its end; nothing behind the last."""
        if self._source is None:
            stdin = sys.__stdin__
            self._source = io.BytesIO() if stdin is None else stdin.buffer
        while len(self._lines) <= at:
            self._lines.append(self._source.readline())
        return self._lines[at]

    def opened(self, *, is_first: bool) -> io.TextIOWrapper:
        """A fresh `sys.stdin`."""
        raw: Any = _Lines(self) if is_first else io.BytesIO()
        reader = raw if not is_first else io.BufferedReader(raw)
        return io.TextIOWrapper(reader, encoding="utf-8", errors="surrogateescape")


STANDARD = Input()  # what one exploration has read, the next one reads again


class _Lines(io.RawIOBase):
    """What was read, from its beginning."""

    def __init__(self, lines: Input) -> None:
        self._input = lines
        self._next = 0
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        if not self._rest:
            self._rest = self._input.line(self._next)
            self._next += 1
        size = min(len(into), len(self._rest))
        into[:size], self._rest = self._rest[:size], self._rest[size:]
        return size
