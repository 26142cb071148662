"""Shows a system that runs as local processes, and does what its page asks for.

Everything goes through the control sockets that commands use, too; so the page can do what a
command can, and nothing else. A node that does not answer is shown as it was known to be.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from presage.errors import NotRunning
from presage.runtime.board import (
    DOWN,
    PREDICTIONS_MAX,
    REFUSALS_MAX,
    SILENT,
    STARTING,
    Board,
    LinkSeen,
    NodeSeen,
    PredictionSeen,
    ProgressSeen,
)
from presage.runtime.cluster import Cluster
from presage.runtime.control import CONTROL, Request, ask, ask_all
from presage.runtime.seen import Seen
from presage.trace import codec
from presage.trace.trace import Trace

IDLE = ("watched", "unpreventable", "unhelpful")  # answers that change nothing
KEYS = 1 << 16  # predictions of one node are numbered below that
PATIENCE = 1.0  # seconds that nodes have to answer; all are asked together


class ClusterOperator:
    """The operator of `presage up`."""

    def __init__(self, cluster: Cluster, system: str) -> None:
        self._cluster = cluster
        self._system = system
        self._names = list(cluster.nodes)
        self._began = time.monotonic()
        self._last: dict[str, Seen] = {}  # what each node said last

    def board(self) -> Board:
        facts: dict[str, Any] = {}
        with contextlib.suppress(NotRunning):
            facts = ask(self._cluster.data / CONTROL, Request("status"))
        up = self._seen()
        self._last.update(up)
        predictions = [
            self._placed(name, seen, each) for name, seen in up.items() for each in seen.predictions
        ]
        refusals = [
            msgspec.structs.replace(each, at=self._at(seen, each.at))
            for seen in up.values()
            for each in seen.refusals
        ]
        return Board(
            system=self._system,
            at=round(time.monotonic() - self._began, 1),
            nodes=tuple(
                self._node(name, up.get(name), facts.get(name, {})) for name in self._names
            ),
            links=tuple(_links(up)),
            predictions=tuple(distinct(_newest(predictions, PREDICTIONS_MAX))),
            filters=tuple(each for seen in up.values() for each in seen.filters),
            refusals=tuple(_newest(refusals, REFUSALS_MAX)),
            progress=tuple(_progress(up)),
            violations=tuple(sorted({prop for seen in up.values() for prop in seen.violations})),
            counters=_counters(up),
        )

    def prediction(self, key: int) -> Trace | None:
        index, own = divmod(key, KEYS)
        if index >= len(self._names):
            return None
        with contextlib.suppress(NotRunning):
            text = ask(self._control(self._names[index]), Request("prediction", args=[own]))
            return codec.decode(text.encode(), f"prediction {own} of {self._names[index]}")
        return None

    def kill(self, node: str) -> None:
        ask(self._cluster.data / CONTROL, Request("kill", node))

    def start(self, node: str) -> None:
        ask(self._cluster.data / CONTROL, Request("start", node))

    def cut(self, node: str, peer: str) -> None:
        ask(self._control(node), Request("cut", peer))

    def call(self, node: str, method: str, args: Sequence[object]) -> str:
        answer = ask(self._control(node), Request("call", method, list(args)))
        return msgspec.json.encode(answer).decode()

    def _control(self, node: str) -> Path:
        return self._cluster.folder_of(node) / CONTROL

    def _seen(self) -> dict[str, Seen]:
        """What the nodes say that answer."""
        paths = {name: self._control(name) for name in self._names}
        answers = ask_all(paths, Request("seen"), PATIENCE)
        return {name: msgspec.convert(each, Seen) for name, each in answers.items()}

    def _node(self, name: str, seen: Seen | None, facts: dict[str, Any]) -> NodeSeen:
        if seen is not None:
            return seen.node
        running = bool(facts.get("running"))
        last = self._last.get(name)
        if running and last is not None and last.node.pid == facts.get("pid"):
            return msgspec.structs.replace(last.node, status=SILENT)
        return NodeSeen(
            name=name,
            status=STARTING if running else DOWN,
            pid=facts.get("pid"),
            life=facts.get("starts", 0),
        )

    def _placed(self, name: str, seen: Seen, each: PredictionSeen) -> PredictionSeen:
        """A prediction with a key, and a time, that are those of the whole board."""
        key = self._names.index(name) * KEYS + each.key % KEYS
        return msgspec.structs.replace(each, key=key, at=self._at(seen, each.at))

    def _at(self, seen: Seen, time_of_node: float) -> float:
        return round(time.monotonic() - self._began - (seen.now - time_of_node), 1)


def _links(up: dict[str, Seen]) -> list[LinkSeen]:
    """Each connection once, by what the end that was asked first says of it."""
    found: dict[frozenset[str], LinkSeen] = {}
    for seen in up.values():
        for link in seen.links:
            found.setdefault(frozenset(link.nodes), link)
    return list(found.values())


def distinct(newest: list[PredictionSeen]) -> list[PredictionSeen]:
    """Each path once: a round sees again what the one before has seen, and neighbours see it too.

    Of those that saw it, the one that has done something about it is shown.
    """
    found: dict[tuple[Any, ...], PredictionSeen] = {}
    for each in newest:
        known = found.setdefault((each.prop, each.events), each)
        if known.answer in IDLE and each.answer not in IDLE:
            found[each.prop, each.events] = each
    return list(found.values())


def _newest(each: list[Any], most: int) -> list[Any]:
    return sorted(each, key=lambda one: -one.at)[:most]


def _progress(up: dict[str, Seen]) -> list[ProgressSeen]:
    """How long ago any node saw each property hold."""
    ages: dict[str, list[float]] = {}
    for seen in up.values():
        for each in seen.progress:
            ages.setdefault(each.prop, []).extend([] if each.ago is None else [each.ago])
    return [ProgressSeen(prop=prop, ago=min(ago, default=None)) for prop, ago in ages.items()]


SHOWN = ("rounds", "predicted", "installed", "handed_over", "refused", "filtered", "unpreventable")


def _counters(up: dict[str, Seen]) -> dict[str, float]:
    """Sums over all nodes of what matters most."""
    return {
        name.replace("_", " "): sum(seen.counts.get(name, 0) for seen in up.values())
        for name in SHOWN
        if any(seen.counts for seen in up.values())
    }
