"""Steering on a virtual clock: every node looks ahead, and answers come a moment later.

One `Foresight` answers for all nodes, at once by the real clock. By the virtual one an answer takes
`LATENCY`, so that a node goes on meanwhile as it would beside another process.
"""

from __future__ import annotations

from functools import partial

from presage.runtime.foresight import Foresight, Question
from presage.runtime.lookout import Lookout
from presage.runtime.station import Station
from presage.runtime.steer_options import SteerOptions
from presage.runtime.virtual import VirtualCluster

LATENCY = 0.2  # seconds that a prediction takes by the virtual clock


class SteeredCluster:
    """Steers all nodes of `cluster`; to be made before it runs."""

    def __init__(
        self, cluster: VirtualCluster, foresight: Foresight | None, options: SteerOptions
    ) -> None:
        """`foresight`: None if nothing is to be predicted."""
        self.cluster = cluster
        self.foresight = foresight
        self.options = options
        self.lookouts: dict[str, Lookout] = {}  # of the nodes that are up
        self.ended: list[Lookout] = []  # of processes that have ended
        cluster.on_boot.append(self._boot)

    def _boot(self, station: Station) -> None:
        assert station.host is not None
        name = station.name
        before = self.lookouts.get(name)
        if before is not None:
            self.ended.append(before)
        self.lookouts[name] = Lookout(
            station.host,
            self.options,
            partial(self._ask, name),
            partial(self._reset, name),
        )

    def _ask(self, name: str, question: Question) -> None:
        lookout = self.lookouts[name]
        assert self.foresight is not None, "who predicts has a foresight"
        answer = self.foresight.answer(question, name)

        def tell() -> None:
            if self.lookouts.get(name) is lookout and lookout.node.up:
                lookout.foreseen(answer)
                self.cluster.wake(name)

        self.cluster.at(self.cluster.now + LATENCY, tell)

    def _reset(self, name: str, peer: str) -> None:
        self.cluster.at(self.cluster.now, partial(self.cluster.reset, name, peer))

    @property
    def every(self) -> list[Lookout]:
        """Of all processes that there were."""
        return [*self.ended, *self.lookouts.values()]
