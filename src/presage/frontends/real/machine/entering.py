"""Around all code of a process: the leaves answer for it, its output is kept, nothing is collected.

A finalizer that the garbage collector runs could send or print at any moment. So the collector is
off while a process runs. Whenever it runs elsewhere, a dead process answers for the leaves: what
finalizers ask of it raises `Killed`, what they print is dropped. A program that asks for a
collection gets none: it would find the garbage of others.
"""

from __future__ import annotations

import gc
import io
import sys
from types import TracebackType
from typing import Any

from presage.frontends.real.machine.imports import INSIDE
from presage.process.context import MACHINE, running
from presage.process.fence import Output
from presage.process.leaves import TABLE, extend, machine_leaf

COLLECT, ENABLE, DISABLE, IS_ENABLED = gc.collect, gc.enable, gc.disable, gc.isenabled


class _Bytes(io.RawIOBase):
    """`sys.stdout.buffer`."""

    def __init__(self, text: ProcessOutput) -> None:
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._text.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


class ProcessOutput(Output):
    """Standard output or error: a process that runs has its lines, one that is dead has none."""

    @property
    def buffer(self) -> Any:
        return _Bytes(self) if running.stack else self._out.buffer

    def write(self, text: str) -> int:
        stack: list[Any] = running.stack
        if stack and stack[-1].answerer == MACHINE and stack[-1].dead:
            return len(text)
        return super().write(text)

    def flush(self) -> None:
        if not running.stack:
            super().flush()


class Entered:
    """A context manager: code of `process` runs inside."""

    __slots__ = ("_collects", "_err", "_out", "_outside", "_process")

    # The streams that were wrapped last, by which thread or test capture they belong to.
    _wrapped: tuple[Any, Any, Any, Any] = (None, None, None, None)

    def __init__(self, process: Any) -> None:
        self._process = process

    def __enter__(self) -> None:
        if not TABLE.depth:
            raise RuntimeError("a process runs, and the leaves are not in place: `TABLE.up()`")
        self._collects = IS_ENABLED()
        if self._collects:
            DISABLE()
        out, err = self._out, self._err = sys.stdout, sys.stderr
        known_out, known_err, own_out, own_err = Entered._wrapped
        if known_out is not out or known_err is not err:
            own_out, own_err = _wrap(out), _wrap(err)
            Entered._wrapped = (out, err, own_out, own_err)
        sys.stdout, sys.stderr = own_out, own_err
        modules = sys.modules
        self._outside = [modules[name] for name in INSIDE]
        modules.update(INSIDE)
        running.stack.append(self._process)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        running.stack.pop()
        sys.modules.update(zip(INSIDE, self._outside, strict=True))
        sys.stdout, sys.stderr = self._out, self._err
        if self._collects:
            ENABLE()


def _wrap(stream: Any) -> Any:
    return stream if isinstance(stream, ProcessOutput) else ProcessOutput(stream)


class Graveyard:
    """Lets `grave`, a dead process, answer for the leaves while the collector runs."""

    def __init__(self, grave: Any) -> None:
        self.is_filled = False  # processes died since all garbage was collected
        self._grave = grave
        self._open: list[Entered] = []

    def __call__(self, phase: str, _: dict[str, int]) -> None:
        """Of `gc.callbacks`."""
        stack = running.stack
        if phase == "start" and not stack and TABLE.depth:
            entered = Entered(self._grave)
            entered.__enter__()
            self._open.append(entered)
        elif phase == "stop" and self._open and stack and stack[-1] is self._grave:
            self._open.pop().__exit__(None, None, None)

    def clear(self) -> None:
        """Collect the garbage of dead processes, while the leaves still answer for it."""
        if self.is_filled:
            self.is_filled = False
            COLLECT()


ANSWERS: dict[tuple[Any, str], Any] = {
    (gc, "collect"): lambda *_, **__: 0,
    (gc, "enable"): lambda: None,
    (gc, "disable"): lambda: None,
    (gc, "isenabled"): lambda: True,
}
extend((machine_leaf(*key) for key in ANSWERS), ANSWERS)
