"""A world at one moment, in canonical form, and a plain reader of it.

Made of bytes and tuples only, so it can be kept, compared and come back to, whatever happens to
the world it was taken from.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any, TypeAlias

from presage.model.local import Control
from presage.model.network import NETWORKS
from presage.model.system import System

Local: TypeAlias = tuple[bytes, ...]  # the values of one node, each encoded


@dataclass(frozen=True)
class Saved:
    """All that `World.restore` needs."""

    steps: int
    locals: tuple[Local, ...]
    observers: tuple[bytes, ...]
    budgets: tuple[float, ...]
    network: Any  # as `Network.frozen` gives it


def without_ghosts(ghosts: Set[int], local: Local) -> Local:
    """The part of a node's values that makes its state."""
    if not ghosts:
        return local
    return tuple(value for position, value in enumerate(local) if position not in ghosts)


class SavedReader:
    """A `Reader` that notes nothing down. Every answer is a fresh object."""

    def __init__(self, system: System, saved: Saved) -> None:
        self._system = system
        self._saved = saved
        self._decode = system.codec.decode

    def control(self, node: int, /) -> Control:
        control: Control = self._decode(self._saved.locals[node][0])
        return control

    def value(self, node: int, position: int, /) -> Any:
        return self._decode(self._saved.locals[node][position])

    def messages(self, types: tuple[type, ...] | None, /) -> list[tuple[int, int, Any]]:
        network = NETWORKS[self._system.network]()
        network.restore(self._saved.network)
        every = [self._decode(envelope.encoded) for envelope in network.flying()]
        return [each for each in every if types is None or isinstance(each[2], types)]

    def observer(self, index: int, /) -> Any:
        return self._decode(self._saved.observers[index])
