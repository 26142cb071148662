"""What `@pytest.mark.presage(...)` may say: faults, settings of the search, options of nodes."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from presage.errors import BadSystem, did_you_mean
from presage.frontends.real.node import Node
from presage.model.world.faults import Faults
from presage.search.settings import Settings

SECONDS_DEFAULT = 60.0
OWN = ("properties", "exhaustive", "network", "timed")  # of the system, and of the plugin itself
OF_NODES = ("nodes", "crash", "restart", "reset", "silent_reset", "slow", "terminate", "notices")
NOT_OURS = ("target", "parameters", "progress", "give_up", "budget", "second", "trust")


def _names(function: Any) -> tuple[str, ...]:
    kinds = (inspect.Parameter.KEYWORD_ONLY,)
    return tuple(n for n, p in inspect.signature(function).parameters.items() if p.kind in kinds)


class Options:
    """The marks of one test, the nearest first, and the command line."""

    def __init__(self, item: pytest.Item, marks: Iterable[pytest.Mark]) -> None:
        given: dict[str, Any] = {}
        for mark in marks:
            if mark.args:
                raise BadSystem(
                    f"`@pytest.mark.presage{mark.args!r}` has values without names",
                    "a number where a fault is meant",
                    "`@pytest.mark.presage(crash=1, seconds=30)`",
                )
            given = {**mark.kwargs, **given}
        faults = [field.name for field in dataclasses.fields(Faults)]
        settings = [f.name for f in dataclasses.fields(Settings) if f.name not in NOT_OURS]
        of_nodes = [name for name in node_options() if name not in ("view", "files")]
        known = [*faults, *settings, *of_nodes, *OWN]
        for name in given:
            if name not in known:
                raise BadSystem(
                    f"`@pytest.mark.presage({name}=...)` is unknown{did_you_mean(name, known)}",
                    "a misspelt name",
                    "a fault of `Faults`, a setting of `check`, or an option of `Node`",
                )
        asked = item.config.getoption("--presage-seconds")
        self._faults = {name: given[name] for name in faults if name in given}
        Faults(**self._faults)  # whatever is wrong with them is wrong for all nodes
        self.settings = {name: given[name] for name in settings if name in given}
        if "seconds" not in self.settings:
            self.settings["seconds"] = SECONDS_DEFAULT if asked is None else asked
        self.nodes = {name: given[name] for name in of_nodes if name in given}
        self.properties = tuple(given.get("properties", ()))
        self.exhaustive = bool(given.get("exhaustive", False))
        self.system = {name: given[name] for name in ("network", "timed") if name in given}

    def faults(self, names: Sequence[str]) -> Faults:
        """The faults of a test with these other nodes: the test itself does not crash."""
        wanted = self._faults.get("nodes")
        named = list(names if wanted is None else [each for each in wanted if each in names])
        if not named:
            plain = {n: v for n, v in self._faults.items() if n not in OF_NODES}
            return Faults(**plain)
        return Faults(**{**self._faults, "nodes": named})


def node_options() -> tuple[str, ...]:
    return _names(Node.__init__)


def options_of(item: pytest.Item) -> Options:
    return Options(item, item.iter_markers("presage"))
