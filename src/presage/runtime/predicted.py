"""Paths that a node has seen ahead, as traces in its folder: evidence that outlives the process.

Each path is written once per process, however often it is seen again. `presage replay`, `explain`,
`debug` and `report` open it. The first path to each property is also said.

Invariant: a folder holds at most `FILES_MAX` of them; the oldest go.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from presage.errors import BadTrace
from presage.runtime.foresight import Foreseen, path_key
from presage.trace import codec
from presage.trace.trace import Trace, plain_parameters

FOLDER = "ahead"
FILES_MAX = 64
NOTED_MAX = 1024  # paths that are remembered as written


class PredictedPaths:
    """The traces of one node. `parameters` are those of its system, for who opens a trace."""

    def __init__(
        self, folder: Path, parameters: Mapping[str, Any], say: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._parameters = plain_parameters(parameters)
        self._say = say
        self._noted: set[tuple[str, ...]] = set()
        self._said: set[str] = set()

    def named(self, path: Trace) -> Trace:
        """`path` as one that says where its system comes from."""
        return msgspec.structs.replace(path, parameters=self._parameters)

    def note(self, found: Foreseen) -> None:
        """Write down what was seen ahead, if it is new."""
        if found.trace is None or (key := path_key(found.trace)) in self._noted:
            return
        if len(self._noted) >= NOTED_MAX:
            self._noted.clear()
        self._noted.add(key)
        try:
            where = f"`presage replay {codec.save(self.named(found.trace), self._folder)}`"
        except BadTrace:  # a full disk costs the trace, and nothing else
            where = "its trace cannot be written"
        self._forget()
        if found.prop not in self._said:
            self._said.add(found.prop)
            steps = f"{len(found.trace.steps)} steps ahead"
            self._say(f"`{found.prop}` may break, {steps} ({found.decision}): {where}")

    def _forget(self) -> None:
        """Remove what is too old."""
        with contextlib.suppress(OSError):
            files = sorted(self._folder.glob("*.trace"), key=lambda each: each.stat().st_mtime)
            for each in files[:-FILES_MAX]:
                each.unlink(missing_ok=True)
