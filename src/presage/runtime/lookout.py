"""A companion of a host that looks ahead: gathers, has predictions made, and steers.

Snapshots come from `Neighbours`, decisions from `Steering`, predictions from what is given as
`ask`: another process, or at once on a virtual clock. What a peer pushes is at hand for the
immediate check as soon as it comes; but a peer pushes only to those who have asked. So neighbours
of whom nothing is known are asked at once, and where nothing is predicted all are, now and then.
A predicted path is handed over to a peer in a frame.

Invariant: what peers send is looked at as data; only admitted classes are rebuilt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec

from presage.model.world.snapshot import Local
from presage.model.world.system import System
from presage.runtime.checkpoint import Checkpoint, restored
from presage.runtime.durable import Change
from presage.runtime.foresight import Foreseen, Question
from presage.runtime.frame import BadFrame, Frame, Kind
from presage.runtime.gather import NODES_MAX
from presage.runtime.host import Host
from presage.runtime.neighbours import PUSH_EVERY, Neighbours
from presage.runtime.steer_options import SteerOptions
from presage.runtime.steering import Steering
from presage.runtime.step import Record
from presage.runtime.store import NEIGHBOURS, Stored
from presage.trace.trace import Trace

PATHS_MAX = 8  # that wait for a socket, per peer
PATH_STEPS_MAX = 10_000

Ask = Callable[[Question], None]
Reset = Callable[[str], None]
Inspect = Callable[[Checkpoint], None]


class Lookout(Neighbours):
    """Made before the host boots. `ask` is answered by `foreseen`; `reset` breaks a connection.

    Both must do what they do after the turn of the host that asks for it.
    """

    def __init__(
        self,
        host: Host,
        options: SteerOptions,
        ask: Ask,
        reset: Reset,
        *,
        nodes_max: int = NODES_MAX,
        bytes_per_second: float | None = None,
        inspect: Inspect = lambda checkpoint: None,
    ) -> None:
        """`inspect` looks at every checkpoint that a peer sends; see `inspector`."""
        super().__init__(
            host,
            nodes_max=nodes_max,
            bytes_per_second=bytes_per_second,
            pushed=host.node.automaton.fields if options.checks else (),
            inspect=inspect,
        )
        self.steering = Steering(host.node, self, options)
        self.ask, self.reset = ask, reset
        self._for_round = False
        self._to_refresh: set[str] = set()
        self._wants: float | None = None
        acts = options.checks and options.mode == "on"
        self._moved = acts  # since it was last seen who the neighbours are
        self._surveys_at = 0.0  # when they are looked at next, if it has
        self._renews_at = math.inf  # when all are asked again
        self._kept: dict[str, tuple[float, Local]] = {}  # written down, and when
        self._sought: dict[str, float] = {}  # strangers, and when they were asked
        if acts:
            host.node.on_commit.append(self._step)
            self._renews_at = -math.inf if not options.predicts else math.inf
        self._handed: dict[str, list[bytes]] = {}

    # -- the aids of steering ----------------------------------------------------------------

    def gather(self) -> None:
        """Gather a snapshot for a round."""
        self._for_round = True
        super().gather()

    def refresh(self, names: Sequence[str]) -> None:
        """Ask for the present state of neighbours."""
        self._to_refresh.update(names)
        super().gather()

    def hand_over(self, node: str, path: Trace) -> None:
        """Tell a peer of a path, with the next frames that leave."""
        waiting = self._handed.setdefault(node, [])
        plain = msgspec.structs.replace(path, origin=msgspec.UNSET)  # a peer has its own snapshot
        waiting.append(msgspec.json.encode(plain))
        del waiting[:-PATHS_MAX]

    def is_open(self, peer: str) -> bool:
        """Whether a message was handled on the connection: else it only begins anew."""
        link = self.host.links.get(peer)
        return link is not None and (link.open or link.half)

    def reconsider(self) -> None:
        """Offer heads of streams again."""
        self.host.reconsider()

    def foreseen(self, found: Foreseen) -> None:
        """The answer to the last question."""
        self.steering.foreseen(found)

    # -- the host ----------------------------------------------------------------------------

    def frame(self, peer: str, frame: Frame) -> None:
        """A frame about checkpoints, or a path; `BadFrame` if it cannot be read."""
        if frame.kind is Kind.PATH:
            self.steering.handed(_path(frame.body, self.node.system))
            return
        before = self.latest.get(peer)
        super().frame(peer, frame)
        known = self.latest.get(peer)
        if known is not None and known is not before:
            self._learn(peer, known[0])

    def lost(self, peer: str) -> None:
        """The socket to a peer is gone: what is known of it is old from now on."""
        super().lost(peer)
        self._handed.pop(peer, None)

    def release(self) -> None:
        """Let frames leave, and do what is due."""
        if self.node.up:
            self._look()
            self._wants = self.steering.turned()
            self._survey()
        super().release()
        for peer in list(self._handed):
            link = self.host.links.get(peer)
            if link is not None and link.attached:
                number = self.checkpoints.number
                bodies = self._handed.pop(peer)
                frames = [Frame(Kind.PATH, number, 0, 0, body) for body in bodies]
                self.host.carrier.write(peer, frames)
            else:
                self.host.carrier.open(peer)

    def next(self) -> float | None:
        """When a turn is wanted at the latest."""
        survey = self._surveys_at if self._moved else None
        renewal = self._renews_at if self._renews_at < math.inf else None
        wishes = (super().next(), self._wants, survey, renewal)
        return min((wish for wish in wishes if wish is not None), default=None)

    def _step(self, record: Record) -> None:
        self._moved = self._moved or record.before != record.after

    def _survey(self) -> None:
        """Ask neighbours of whom nothing is known, each once in a period; or all, if it is time."""
        now, every = self._now(), self.steering.options.every
        if now >= self._renews_at:
            self._renews_at = now + every
            super().gather()
        if not self._moved or now < self._surveys_at:
            return
        self._moved, self._surveys_at = False, now + PUSH_EVERY
        strangers = {*self._neighbours(now)} - self.latest.keys() - {self.node.name}
        asked = [each for each in strangers if now >= self._sought.get(each, -math.inf) + every]
        self._sought = {each: self._sought.get(each, now) for each in strangers}
        self._sought.update(dict.fromkeys(asked, now))
        if asked:
            super().gather()

    def _look(self) -> None:
        """What was gathered, if a gathering has ended."""
        if self.gatherer.busy or not (self._for_round or self._to_refresh):
            return
        gathered = self.gathered
        for name in sorted(self._to_refresh):
            if gathered is None or name not in gathered.members or name in gathered.stale:
                self.steering.refreshed(name, None)
            else:
                self._learn(name, gathered.members[name])
        self._to_refresh.clear()
        if self._for_round:
            self._for_round = False
            self.steering.assembled(self.snapshot(self.steering.options.round_trip))

    def _learn(self, peer: str, checkpoint: Checkpoint) -> None:
        """Tell the immediate check of a neighbour's present state."""
        system = self.node.system
        automaton = system.automata[system.index(peer)]
        local = restored(automaton, checkpoint.local, system.codec)
        self.steering.refreshed(peer, local)
        options = self.steering.options
        if options.checks and options.mode == "on":
            self._keep(peer, local)

    def _keep(self, peer: str, local: Local) -> None:
        """Write down what is known of a neighbour, for the next process of this node."""
        now, (time, kept) = self._now(), self._kept.get(peer, (-math.inf, ()))
        if kept != local or now - time >= self.steering.options.every:
            self._kept[peer] = (now, local)
            value = msgspec.msgpack.encode((self.node.clock.wall(), local))
            self.node.store.remark(Change(NEIGHBOURS, value, peer.encode()))

    def _load(self, stored: Stored) -> None:
        """What the last process of this node knew of its neighbours."""
        super()._load(stored)
        system, now, wall = self.node.system, self._now(), self.node.clock.wall()
        for key, value in stored.disks.get(NEIGHBOURS, {}).items():
            time, local = msgspec.msgpack.decode(value, type=tuple[float, tuple[bytes, ...]])
            name = key.decode()
            if name in system.indices:
                self.steering.check.learn(name, local, now - max(0.0, wall - time))


def _path(body: bytes, system: System) -> Trace:
    """A path that a peer hands over: text and numbers, nothing of which is opened."""
    try:
        path = msgspec.json.decode(body, type=Trace)
    except msgspec.DecodeError as error:
        raise BadFrame(f"a path cannot be read: {error}") from None
    known = {*system.names}
    if len(path.steps) > PATH_STEPS_MAX or any(step.node not in known for step in path.steps):
        raise BadFrame("a path is too long, or is of another system")
    return msgspec.structs.replace(path, origin=msgspec.UNSET)
