"""What a host knows of its neighbours: it takes checkpoints, gives them, and gathers theirs.

The companion of a `Host`. Its checkpoints number all frames of the host. What is gathered becomes
a state of the checker. Besides, the node pushes a checkpoint when a step has changed a field that
a property reads, at most ten times a second: checks that look at several nodes need fresh fields,
not frequent ones.

Invariant: what leaves is of steps that are durable, as all that a host lets go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from presage.runtime.budget import Bucket
from presage.runtime.checkpoint import Checkpoint, Checkpoints, checkpointed, kept_ends
from presage.runtime.durable import Change
from presage.runtime.frame import Frame
from presage.runtime.gather import NODES_MAX, Gathered, Gatherer, neighbourhood
from presage.runtime.host import Host
from presage.runtime.pairing import Inconsistent
from presage.runtime.snapshot import ROUND_TRIP, Assembled, assemble
from presage.runtime.step import Record
from presage.runtime.store import BOUND, Stored

PUSH_EVERY = 0.1  # seconds, at least
PENDING_MAX = 16  # frames that wait for a socket, per peer


class Neighbours:
    """Made before the host boots."""

    def __init__(
        self,
        host: Host,
        *,
        nodes_max: int = NODES_MAX,
        bytes_per_second: float | None = None,
        pushed: Collection[str] = (),
        inspect: Callable[[Checkpoint], None] = lambda checkpoint: None,
    ) -> None:
        """`pushed` names fields of the node that properties read; `inspect`: see `inspector`."""
        self.host = host
        self.node = host.node
        self.inconsistent = 0  # snapshots that were no cut
        self.checkpoints = Checkpoints(self._take, reserve=self._reserve)
        bucket = Bucket() if bytes_per_second is None else Bucket(bytes_per_second)
        names = self.node.system.names
        self.gatherer = Gatherer(
            self.node.name,
            names,
            self.checkpoints,
            self._neighbours,
            bucket=bucket,
            inspect=inspect,
        )
        self._nodes_max = nodes_max
        self._heard: dict[str, float] = {}
        self._pending: dict[str, list[Frame]] = {}
        self._pushed = {self.node.automaton.positions[field] for field in pushed}
        self._changed = False
        self._pushes_at = 0.0
        self._now = self.node.clock.now
        host.numbers = self.checkpoints
        host.companion = self
        self.node.on_load.append(self._load)
        if self._pushed:
            self.node.on_commit.append(self._committed)

    # -- snapshots ---------------------------------------------------------------------------

    def gather(self) -> None:
        """Ask the neighbours; the frames leave at the end of the host's turn."""
        self.gatherer.begin(self._now())

    @property
    def gathered(self) -> Gathered | None:
        """The last gathering that has ended; None while one is under way."""
        return self.gatherer.result

    def snapshot(self, round_trip: float = ROUND_TRIP) -> Assembled | None:
        """The state that was gathered last; None if there is none, or it is no cut."""
        found = self.gatherer.result
        if found is None:
            return None
        try:
            return assemble(
                self.node.system,
                found.members,
                stale=found.stale,
                round_trip=round_trip,
                codec=self.node.automaton.codec,
            )
        except Inconsistent:
            self.inconsistent += 1
            return None

    @property
    def latest(self) -> Mapping[str, tuple[Checkpoint, float]]:
        """The last checkpoint of each peer, and when it came."""
        return self.gatherer.latest

    # -- the node ----------------------------------------------------------------------------

    def _take(self, number: int) -> Checkpoint:
        host, node = self.host, self.node
        ends = {peer: link.end() for peer, link in host.links.items()}
        return Checkpoint(
            node.name,
            number,
            node.life,
            checkpointed(node.automaton, node.local, node.system.codec),
            kept_ends(ends, node.life),
            host.datagrams.held(self._now()),
        )

    def _load(self, stored: Stored) -> None:
        self.checkpoints.resume(stored.bound)

    def _reserve(self, bound: int) -> None:
        self.node.store.append([Change(BOUND, bound.to_bytes(8, "big"))])

    def _committed(self, record: Record) -> None:
        self._changed = self._changed or any(
            record.before[at] != record.after[at] for at in self._pushed
        )

    def _neighbours(self, now: float) -> Sequence[str]:
        automaton, decode = self.node.automaton, self.node.automaton.codec.decode
        declared = automaton.neighbours([decode(value) for value in self.node.local])
        connected = [peer for peer, link in self.host.links.items() if link.attached]
        return neighbourhood(declared, connected, self._heard, now, self._nodes_max)

    # -- the host ----------------------------------------------------------------------------

    def frame(self, peer: str, frame: Frame) -> None:
        """A frame about checkpoints came; `BadFrame` if it cannot be read."""
        if frame.kind.name == "GATHER":
            self.gatherer.request(peer, frame.body, self._now())
        else:
            self.gatherer.answered(peer, frame.body, self._now())

    def heard(self, peer: str) -> None:
        self._heard[peer] = self._now()

    def lost(self, peer: str) -> None:
        self._pending.pop(peer, None)
        self.gatherer.lost(peer, self._now())

    def release(self) -> None:
        if not self._changed and not self._pending and self.gatherer.idle:
            return
        now = self._now()
        if self._changed and now >= self._pushes_at and self.node.up:
            self._changed = False
            self._pushes_at = now + PUSH_EVERY
            self.gatherer.push(now)
        self.gatherer.poll(now)
        for peer, kind, body in self.gatherer.drain(now):
            waiting = self._pending.setdefault(peer, [])
            waiting.append(Frame(kind, self.checkpoints.number, 0, 0, body))
            del waiting[:-PENDING_MAX]
        for peer in list(self._pending) if self._pending else ():
            link = self.host.links.get(peer)
            if link is not None and link.attached:
                self.host.carrier.write(peer, self._pending.pop(peer))
            else:
                self.host.carrier.open(peer)

    def next(self) -> float | None:
        if not self._changed and self.gatherer.idle:
            return None
        wish = self.gatherer.poll(self._now())
        if self._changed and (wish is None or self._pushes_at < wish):
            return self._pushes_at
        return wish
