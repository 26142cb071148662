"""A breadth-first search over shards: level after level, each whole before the next begins.

Whatever is lost with a shard, nothing partial is trusted: all shards go back to the last level that
was written down, or begin anew, and the table is divided among those that there are then. So the
counts are those of a search in which nothing was lost.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from presage._core import FAULTS, Kernel
from presage._results import Outcome, Shard
from presage.distribute.kept import Kept
from presage.distribute.pool import WorkerLost
from presage.distribute.shard import Decided, Saved, ShardTask, ShardWorker
from presage.execution.budget import Budget
from presage.execution.sandbox import NOW
from presage.limits import Limits, Totals
from presage.model.world.system import System
from presage.search.checkpoint.learned import Learned

LEVEL = "level.divided"
STATES_AT_ONCE = 50_000  # that a shard expands before what it found is handed over
RECOVERIES = 3


class Company(Protocol):
    """Shards, wherever they are. Raises `WorkerLost` if one of them is gone."""

    def every(self, name: str, *args: Any) -> list[Any]:
        """What each says to the same question."""

    def one(self, index: int, name: str, *args: Any) -> Any: ...

    def exchange(self, count: int) -> list[bool]:
        """Let each expand so many states and take what others found; whether some are left."""

    def close(self) -> None: ...


class Together:
    """Shards in this process, one after the other."""

    def __init__(self, tasks: Sequence[ShardTask]) -> None:
        self._workers = [ShardWorker(task) for task in tasks]

    def every(self, name: str, *args: Any) -> list[Any]:
        return [getattr(worker, name)(*args) for worker in self._workers]

    def one(self, index: int, name: str, *args: Any) -> Any:
        return getattr(self._workers[index], name)(*args)

    def exchange(self, count: int) -> list[bool]:
        found = self.every("expand", count)
        for index, worker in enumerate(self._workers):
            for sender, (_, *batches) in enumerate(found):
                if sender != index:
                    worker.receive(sender, batches[index])
        return [left for left, *_ in found]

    def close(self) -> None:
        self.every("end")


Found = Callable[[Sequence[ShardTask]], Company]


class Plan(Struct, frozen=True):
    """How shards are made, and how long they work."""

    tasks: Sequence[ShardTask]
    company: Found
    budget: Budget
    kept: Kept | None = None  # where levels are written down; None: in a folder of its own
    save_seconds: float = 60.0
    heard: Callable[[int, int, float], None] = lambda states, depth, seconds: None


class Level(Struct, frozen=True):
    """A level that was written down."""

    depth: int
    saves: int  # how many were written before, and this one
    decided: list[Decided]
    files: list[Saved]


class Levels:
    """One search."""

    def __init__(self, plan: Plan, system: System, limits: Limits) -> None:
        self._plan = plan
        self._system = system
        self._limits = limits
        self._company: Company | None = None
        self._saved: list[Saved] = []
        self._saves = 0
        self._depth = 0
        self._began = self._saved_at = NOW()
        self._decided: dict[int, Decided] = {}
        self._saved_decided: dict[int, Decided] = {}
        self._saved_depth = 0
        self._ends: dict[str, bool] = {}
        self._notes: list[str] = []

    @property
    def company(self) -> Company:
        assert self._company is not None, "shards are made before they are asked"
        return self._company

    def run(self, kernel: Kernel, learned: Learned) -> Outcome:
        """Search all levels; what was found is followed by `kernel`, on the driver's code."""
        with self._folder() as folder:
            try:
                self._search(folder)
                return self._outcome(kernel, learned)
            finally:
                self._close()

    @contextlib.contextmanager
    def _folder(self) -> Iterator[str]:
        if self._plan.kept is not None:
            self._recall(self._plan.kept)
            yield str(self._plan.kept.folder)
            return
        own = tempfile.mkdtemp(prefix="presage-shards-")
        try:
            yield own
        finally:
            shutil.rmtree(own, ignore_errors=True)

    def _search(self, folder: str) -> None:
        for attempt in range(RECOVERIES + 1):
            try:
                self._start()
                while self._level():
                    self._save_if_due(folder)
                return
            except WorkerLost as error:
                self._close()
                where = f"depth {self._saved_depth}" if self._saved else "the beginning"
                self._notes.append(f"a worker was lost ({error}): went back to {where}")
                if attempt == RECOVERIES:
                    self._ends["lost"] = True

    def _start(self) -> None:
        self._company = self._plan.company(self._plan.tasks)
        self._decided = dict(self._saved_decided)
        self._depth = self._saved_depth
        if self._saved:
            self.company.every("restore", self._saved)
        else:
            self.company.every("begin")
            self._end_level()

    def _level(self) -> bool:
        """Expand a level; false if the search is over."""
        if self._is_over():
            return False
        while any(self.company.exchange(STATES_AT_ONCE)):
            if self._is_late():
                return False
        return self._end_level() > 0 and not self._is_late()

    def _end_level(self) -> int:
        ends: list[tuple[int, list[Decided]]] = self.company.every("end_level")
        self._depth += 1
        level: dict[int, Decided] = {}
        for decided in sorted(each for _, found in ends for each in found):
            level.setdefault(decided[0], decided)  # the shortest, and of these the smallest
        self._decided = level | self._decided
        if level:
            self.company.every("settle", sorted(self._decided))
        return sum(count for count, _ in ends)

    def _is_over(self) -> bool:
        named, keep_going = len(self._system.properties), self._limits.keep_going
        for at in self._decided:
            sealed = at > named
            claim = at == 0 or sealed or self._system.properties[at - 1].kind != "sometimes"
            if claim and (sealed or not keep_going):
                self._ends["violated"] = True
                return True
        if self._limits.depth is not None and self._depth >= self._limits.depth:
            self._ends["cut"] = True
            return True
        return self._is_late()

    def _is_late(self) -> bool:
        """Whether somebody, the clock or the number of states asks to stop."""
        counts = self.company.every("counts")
        states = sum(count[0] for count in counts)
        self._plan.heard(states, self._depth, NOW() - self._began)
        if self._plan.budget.interrupted:
            self._ends["interrupted"] = True
        elif self._plan.budget.remaining() == 0:
            self._ends["late"] = True
        elif self._limits.states is not None and states >= self._limits.states:
            self._ends["crowded"] = True
        else:
            return False
        return True

    def _save_if_due(self, folder: str) -> None:
        if NOW() - self._saved_at < self._plan.save_seconds:
            return
        self._saves += 1
        files = self.company.every("save", folder, self._saves)
        before, self._saved = self._saved, files
        self._saved_depth, self._saved_decided = self._depth, dict(self._decided)
        if self._plan.kept is not None:
            decided = list(self._decided.values())
            level = Level(self._depth, self._saves, decided, files)
            self._plan.kept.write(LEVEL, msgspec.json.encode(level))
        for path, _ in before:
            with contextlib.suppress(OSError):
                os.unlink(path)
        self._saved_at = NOW()

    def _recall(self, kept: Kept) -> None:
        """Go on where an earlier search was stopped."""
        if not (kept.folder / LEVEL).exists():
            return
        level = msgspec.json.decode(kept.read(LEVEL), type=Level)
        self._saved, self._saves, self._saved_depth = level.files, level.saves, level.depth
        self._saved_decided = {each[0]: each for each in level.decided}
        self._notes.append(f"went on from depth {level.depth}, where it was stopped")

    def _outcome(self, kernel: Kernel, learned: Learned) -> Outcome:
        if self._ends.get("lost"):
            return Shard.gathered(
                Totals(faults=[0] * len(FAULTS), notes=self._notes, lost=True), []
            )
        counts = self.company.every("counts")
        for saved in self.company.every("learned"):
            learned.recall(saved)
        found = [
            Shard.retrace(kernel, at, self._chain(key), step)
            for at, _, key, step in sorted(self._decided.values())
        ]
        unique, generated, _, handlers, properties, _ = map(sum, zip(*_plain(counts), strict=True))
        totals = Totals(
            unique=unique,
            generated=generated,
            depth=max(count[2] for count in counts),
            seconds=NOW() - self._began,
            handler_runs=handlers,
            property_runs=properties,
            faults=[sum(each) for each in zip(*(count[5] for count in counts), strict=True)],
            notes=self._notes,
            **self._ends,
        )
        return Shard.gathered(totals, found)

    def _chain(self, key: int) -> list[int]:
        """The states from an initial one to `key`, asked of their owners one by one."""
        chain, shards = [key], len(self._plan.tasks)
        while parent := self.company.one(chain[-1] % shards, "parent", chain[-1]):
            chain.append(parent)
        return chain[::-1]

    def _close(self) -> None:
        if self._company is not None:
            with contextlib.suppress(WorkerLost):
                self._company.close()
            self._company = None


def _plain(counts: Sequence[tuple[Any, ...]]) -> list[tuple[int, ...]]:
    return [(*count[:5], 0) for count in counts]
