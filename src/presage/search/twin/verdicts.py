"""Worlds that predicates were asked about: kept while a search runs, judged again elsewhere.

A predicate reads a few things of a world. What it read, and the verdict, is all that another
process needs: a pure predicate reads the same there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

from presage._core import Codec
from presage.execution.sandbox import Sandbox
from presage.model.choice import Interrupted
from presage.model.world.system import System
from presage.model.world.view import Reader, WorldView
from presage.search.twin.wire import Judged, Read

KEPT_MAX = 2_048
OTHER_READ = "read something else"


class Kept:
    """Worlds with the property that was asked about them: all, or every second, every fourth..."""

    def __init__(self) -> None:
        self.worlds: list[tuple[int, Reader]] = []
        self.asked = 0
        self._every = 1

    def add(self, prop: int, reader: Reader) -> None:
        if self.asked % self._every == 0:
            self.worlds.append((prop, reader))
            if len(self.worlds) >= KEPT_MAX:
                del self.worlds[1::2]
                self._every *= 2
        self.asked += 1


class _OtherRead(Interrupted):
    """A predicate asks for what it did not read elsewhere."""


class _Unreadable(Interrupted):
    """What was read elsewhere cannot be rebuilt here."""


class _Reader(ABC):
    """A reader that answers every question in one way."""

    @abstractmethod
    def _answer(self, name: str, *args: Any) -> Any: ...

    def __getattr__(self, name: str) -> Any:
        return partial(self._answer, name)


class _Noting(_Reader):
    """Notes what is asked, and the answer."""

    def __init__(self, codec: Codec, reader: Reader) -> None:
        self._codec = codec
        self._reader = reader
        self._met: set[tuple[Any, ...]] = set()
        self.reads: list[Read] = []

    def _answer(self, name: str, *args: Any) -> Any:
        answer, key = getattr(self._reader, name)(*args), _key(name, args)
        if key not in self._met:
            self._met.add(key)
            self.reads.append((name, list(key[1:]), self._codec.encode(answer)))
        return answer


class _Told(_Reader):
    """Knows only what a predicate read elsewhere."""

    def __init__(self, codec: Codec, reads: list[Read]) -> None:
        self._codec = codec
        self._answers = {(name, *args): answer for name, args, answer in reads}

    def _answer(self, name: str, *args: Any) -> Any:
        answer = self._answers.get(_key(name, args))
        if answer is None:
            raise _OtherRead
        try:
            return self._codec.decode(answer)
        except ValueError as error:  # it names what cannot be found here
            raise _Unreadable from error


def _key(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A question as another process asks it, too: with the names of classes."""
    if name not in ("messages", "count") or args == (None,):
        return (name, *args)
    return (name, *(f"{cls.__module__}:{cls.__qualname__}" for cls in args[0]))


def noted(system: System, sandbox: Sandbox, prop: int, reader: Reader) -> Judged:
    """Ask a property once more, and note what it reads."""
    noting = _Noting(system.codec, reader)
    verdict = _verdict(system, sandbox, prop, noting)
    return Judged(prop, noting.reads, verdict)


def judged(system: System, sandbox: Sandbox, known: Judged) -> str:
    """What the same property says here of what it read elsewhere."""
    return _verdict(system, sandbox, known.prop, _Told(system.codec, known.reads))


def _verdict(system: System, sandbox: Sandbox, prop: int, reader: Any) -> str:
    try:
        holds = sandbox.run(system.judged[prop].judge, WorldView(system, reader)).holds
        return "true" if holds else "false"
    except _OtherRead:
        return OTHER_READ
    except _Unreadable:
        raise ValueError("it cannot be read here") from None
    except (KeyboardInterrupt, Interrupted):
        raise
    except BaseException as error:  # `sys.exit()` is the predicate's, too
        sandbox.error = None  # it was heard: a refusal is a verdict, too
        return f"raised {type(error).__name__}"
