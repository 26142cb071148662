"""One share of a breadth-first search, in whatever process it is: what a driver asks of it."""

from __future__ import annotations

import hashlib
import os
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from presage._results import Shard
from presage.distribute.task import Identity, Load, same_system
from presage.errors import BadCheckpoint, BadSystem
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.model.world.system import System
from presage.search.check import build
from presage.search.checkpoint.code_digest import Definition
from presage.search.checkpoint.learned import Learned
from presage.search.kernel.bridge import Bridge
from presage.trace.naming import named

Saved = tuple[str, str]  # a file, and the digest of what is in it
SIZE = 8  # bytes that say how long what was learned is
Decided = tuple[int, int, int, bool]  # property, steps, fingerprint, whether by a step from there


class ShardTask(Struct, frozen=True):
    """Which share: `index` of `shards`."""

    load: Load
    identity: Identity  # of what the driver has loaded
    folder: str  # the driver's current one
    limits: Limits
    handler_seconds: float
    index: int
    shards: int


class Names:
    """Makes the codec know the classes and functions that values of other processes name."""

    def __init__(self, system: System) -> None:
        self._system = system

    def restore(self, classes: list[str], references: list[str]) -> None:
        for name in references:
            self._system.codec.encode(self._find(name))
        for name in classes:
            self._system.codec.learn(self._find(name))

    @cached_property
    def _classes(self) -> dict[str, list[type]]:
        """Those that the system reaches; most values of others name what is known already."""
        return Definition(self._system).classes

    def _find(self, name: str) -> Any:
        try:
            return named(name, self._classes, imports=True)
        except LookupError:
            raise BadSystem(
                f"values of `{name}` came from another worker, and it cannot be found here",
                "a class that is made while the system runs, inside a function",
                "define it at the level of its module",
            ) from None


class ShardWorker:
    """A share of the states, and what expands them. Every call is quick, save `expand`."""

    def __init__(self, task: ShardTask) -> None:
        self._sandbox = Sandbox(task.handler_seconds, None)
        self._sandbox.__enter__()  # before the checked code takes names from `time` and the like
        try:
            system = same_system(task.load, task.identity, task.folder)
        except BaseException:
            self._sandbox.__exit__()
            raise
        self._bridge = bridge = Bridge(system, self._sandbox)
        self._learned = Learned(bridge.errors, bridge.vacuity, bridge.orders, system)
        kernel = build(system, bridge)
        self._index = task.index
        self._shard = Shard(kernel, task.limits, task.index, task.shards, Names(system))

    def ready(self) -> int:
        """Its process; what was wrong with loading has been raised by now."""
        return os.getpid()

    def begin(self) -> None:
        self._shard.begin()

    def expand(self, count: int) -> tuple[Any, ...]:
        """Whether states of this level are left, then the bytes for each shard."""
        batches = self._shard.expand(count)
        return (self._shard.waiting() > 0, *batches)

    def receive(self, sender: int, batch: bytes) -> None:
        self._shard.receive(sender, batch)

    def end_level(self) -> tuple[int, list[Decided]]:
        return self._shard.end_level()

    def settle(self, properties: list[int]) -> None:
        self._shard.settle(properties)

    def parent(self, key: int) -> int | None:
        return self._shard.parent(key)

    def counts(self) -> tuple[int, int, int, int, int, list[int]]:
        return self._shard.counts()

    def learned(self) -> bytes:
        return self._learned.saved()

    def save(self, folder: str, number: int) -> Saved:
        """Write this share down, and what was learned; the file is whole or not there."""
        path = Path(folder) / f"{number}-{self._index}.shard"
        unfinished = path.with_suffix(".unfinished")
        learned = self._learned.saved()
        whole = b"".join((len(learned).to_bytes(SIZE, "little"), learned, self._shard.save()))
        with open(unfinished, "wb") as file:
            file.write(whole)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)
        return str(path), hashlib.sha256(whole).hexdigest()

    def restore(self, files: list[Saved]) -> None:
        """Take what is this share's own of all that was saved."""
        for path, digest in files:  # one of the shares takes over what all had counted
            try:
                whole = Path(path).read_bytes()
            except OSError:
                whole = b""
            if hashlib.sha256(whole).hexdigest() != digest:
                raise BadCheckpoint(
                    f"`{path}` is not what a worker wrote there",
                    "it was removed or changed, or this machine does not share the folder",
                    "search from the beginning, with a folder that all machines share",
                )
            end = SIZE + int.from_bytes(whole[:SIZE], "little")
            if self._index == 0:
                self._learned.recall(whole[SIZE:end])
            self._shard.restore(whole[end:], counts=self._index == 0)

    def end(self) -> None:
        self._sandbox.__exit__(None, None, None)
