"""What a node's process has for looking ahead: a lookout, and the oracle that it asks.

A node that does not steer takes part in the snapshots of others, and that is all. Where it
predicts, questions go to the oracle and answers come back through the event loop. A question that
is not answered in time is given up, by ending the process that works on it. What goes wrong there
is said once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from presage.errors import CommandRefused, did_you_mean
from presage.runtime.checkpoint import Checkpoint
from presage.runtime.cluster import Cluster
from presage.runtime.delta import BadCheckpoint
from presage.runtime.driver import Driver
from presage.runtime.foresight import CANDIDATES_MAX, HIDDEN_MAX, Question
from presage.runtime.guard import SECONDS as GUARD_SECONDS
from presage.runtime.lookout import Inspect, Lookout
from presage.runtime.neighbours import Neighbours
from presage.runtime.oracle import Oracle, Unable
from presage.runtime.predicted import FOLDER, PredictedPaths
from presage.runtime.seen import Seen, seen, steering_counts
from presage.trace import codec

TEXTS_MAX = 32  # different ones that a process says; more are noise
SLACK = 2.0  # times the time that an answer may take, for a machine that is busy


class Once:
    """Says everything once."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()

    def __call__(self, text: str) -> None:
        if text not in self._said and len(self._said) < TEXTS_MAX:
            self._said.add(text)
            self._say(text)


class Ahead:
    """Made before the node of `driver` boots."""

    def __init__(
        self,
        driver: Driver,
        cluster: Cluster,
        oracle: Oracle | None,
        parameters: Mapping[str, Any],
        say: Callable[[str], None],
        inspect: Inspect,
    ) -> None:
        """`parameters` are those of the system; `say` tells people who look after the node.

        `inspect` looks at every checkpoint that a peer sends; see `inspector`.
        """
        self._driver = driver
        folder = cluster.folder_of(driver.node.name) / FOLDER
        self._paths = PredictedPaths(folder, parameters, say)
        self._say_once = Once(say)
        self._oracle = oracle
        self._loop = asyncio.get_running_loop()
        self._patience: asyncio.TimerHandle | None = None
        self._listens = False  # to the oracle
        self.lookout: Lookout | None = None
        steer = cluster.steer
        if steer is None or steer.mode == "off":
            self.neighbours = Neighbours(driver.host, inspect=inspect)
            return
        round_trip = 0.0 if cluster.shape is None else cluster.shape.rtt_ms / 1000
        options = steer.options(round_trip)
        searches = 1 + HIDDEN_MAX + CANDIDATES_MAX
        self._seconds = SLACK * searches * (options.deadline + 2 * GUARD_SECONDS)
        self.lookout = self.neighbours = Lookout(
            driver.host,
            options,
            self._ask,
            self._reset,
            nodes_max=steer.nodes_max,
            bytes_per_second=steer.bytes_per_second,
            inspect=partial(self._inspected, inspect),
        )
        if oracle is not None:
            self._listens = True
            self._loop.add_reader(oracle.socket, self._heard)

    def close(self) -> None:
        """Ask nothing more."""
        if self._patience is not None:
            self._patience.cancel()
        self._deaf()

    def _deaf(self) -> None:
        if self._listens and self._oracle is not None:
            self._listens = False
            self._loop.remove_reader(self._oracle.socket)

    # -- questions ---------------------------------------------------------------------------

    def _ask(self, question: Question) -> None:
        assert self._oracle is not None
        self._calm()
        if self._oracle.ask(question):
            self._patience = self._loop.call_later(self._seconds, self._give_up)
        else:
            self._loop.call_soon(self._unanswered)

    def _heard(self) -> None:
        assert self._oracle is not None and self.lookout is not None
        for found in self._oracle.heard():
            self._calm()
            if isinstance(found, Unable):
                self._say_once(f"warning: nothing was predicted: {found.why}")
                self._unanswered()
                continue
            self.lookout.foreseen(found)
            self._paths.note(found)
            self._driver.schedule()
        if self._oracle.ended:
            self._deaf()
            self._say_once(
                "warning: the process that looks ahead has ended: nothing is predicted any more,"
                " until the node is started again"
            )

    def _calm(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        assert self._oracle is not None
        self._patience = None
        self._oracle.end_question()
        self._unanswered()

    def _unanswered(self) -> None:
        assert self.lookout is not None
        self.lookout.steering.unanswered()
        self._driver.schedule()

    def _inspected(self, inspect: Inspect, checkpoint: Checkpoint) -> None:
        """Inspect a checkpoint; whose is refused is named, once."""
        try:
            inspect(checkpoint)
        except BadCheckpoint as error:
            self._say_once(
                f"warning: the state of `{checkpoint.node}` cannot be taken from a socket"
                f" ({error}): it stays outside of what is predicted"
            )
            raise

    def _reset(self, peer: str) -> None:
        self._loop.call_soon(self._break, peer)

    def _break(self, peer: str) -> None:
        self._driver.wire.reset(peer)
        self._driver.lost(peer)

    # -- commands ----------------------------------------------------------------------------

    @property
    def counts(self) -> dict[str, int]:
        """What `presage status` says of it; nothing where nobody looks ahead."""
        if self.lookout is None:
            return {}
        found = steering_counts(self.lookout)
        if self._oracle is not None:
            found["oracle_killed"] = self._oracle.killed
            found["questions_dropped"] = self._oracle.dropped
        return found

    def seen(self) -> Seen:
        """What is to see of the node."""
        return seen(self._driver.host, self.neighbours.checkpoints.number, self.lookout)

    def prediction(self, args: list[Any]) -> str:
        """The trace of a prediction, by its key, as text."""
        traces = {} if self.lookout is None else self.lookout.steering.traces
        key = args[0] if args else None
        if key not in traces:
            raise CommandRefused(f"there is no prediction {key} any more")
        return codec.encode(self._paths.named(traces[key])).decode()

    def cut(self, peer: str) -> None:
        """Break the connection to a peer."""
        peers = [name for name in self._driver.host.links if name != self._driver.node.name]
        if peer not in peers:
            raise CommandRefused(
                f"there is no connection to `{peer}`{did_you_mean(peer, peers)}",
                f"its peers are {', '.join(peers) or 'none'}",
                "name one of these",
            )
        self._break(peer)
