"""What modules ask of their process while they are executed, and what they do to it.

A copy that is used again is not executed again. So a process may have it only if its modules would
be told the same once more (`Terms`): the same numbers of chance, the same moment if they keep it,
the same files if they look at any. What they took from the stream of chance, and what they want
called at the end, is then made up for. A copy whose modules did more serves one process only.
"""

from __future__ import annotations

from typing import Any

from presage.process.context import MACHINE, running
from presage.process.fence import EPOCH
from presage.records import NamedTuple


def _process() -> Any:
    """The process that runs; None if none does."""
    stack: list[Any] = running.stack
    return stack[-1] if stack and stack[-1].answerer == MACHINE else None


def _chance(process: Any) -> Any:
    """Where its stream of chance stands; None: nobody has drawn from it."""
    return process._chance and process._chance.getstate()


def _files(process: Any) -> Any:
    table = process.__dict__.get("files")
    return dict(process.initial_files or {}) if table is None else table.value()


def _looks(process: Any) -> int:
    table = process.__dict__.get("files")
    return 0 if table is None else table.looks


def _done(process: Any) -> list[Any]:
    """Numbers that change with what a process does, and nobody could make up for."""
    effects, chooser = process.effects, process.chooser
    return [
        len(effects.sends) + len(effects.records) + len(effects.failures),
        dict(process.counters),
        process.stack.marks(),
        0 if chooser is None else len(chooser.taken),
    ]


class Terms(NamedTuple):
    """On which a process may have modules without executing them."""

    chance: Any = None  # where its stream of chance has to stand, if they `drew`
    drew: Any = None  # where it stands afterwards
    now: float | None = None
    files: Any = None
    exits: tuple[Any, ...] = ()  # what is to be called when the process ends
    never: bool = False

    def hold(self) -> bool:
        process = _process()
        if process is None or self.never:
            return False
        if self.now is not None and self.now != process.now:
            return False
        if self.files is not None and self.files != _files(process):
            return False
        return self.drew is None or self.chance == _chance(process)

    def make_up(self) -> None:
        """Let the process be as if it had executed them."""
        process = _process()
        process.at_exit.extend(self.exits)
        if self.drew is not None:
            process.chance.setstate(self.drew)


NEVER = Terms(never=True)


class Asked:
    """Begun before modules are executed."""

    def __init__(self) -> None:
        self._process = process = _process()
        if process is not None:
            self._chance, self._readings = _chance(process), process._readings
            self._files, self._looks = _files(process), _looks(process)
            self._done, self._exits = _done(process), len(process.at_exit)

    def moments(self) -> frozenset[Any]:
        """What the clock said meanwhile, in all its forms; empty if nobody asked."""
        if self._process is None or self._process._readings == self._readings:
            return frozenset()
        now = self._process.now
        seconds = (now, EPOCH + now)
        return frozenset((*seconds, *(round(each * 1e9) for each in seconds)))

    def did(self) -> bool:
        """Whether they did something that must be done by each process."""
        process = self._process
        if process is None:
            return False
        return _done(process) != self._done or _files(process) != self._files

    def terms(self, *, kept_moment: bool) -> Terms | None:
        """On which another process may have the same modules; None: any may."""
        process = self._process
        if process is None:
            return None
        drew = _chance(process)
        terms = Terms(
            self._chance,
            drew if drew != self._chance else None,
            process.now if kept_moment else None,
            self._files if _looks(process) != self._looks else None,
            tuple(process.at_exit[self._exits :]),
        )
        return terms if any(each is not None for each in terms[1:4]) or terms.exits else None
