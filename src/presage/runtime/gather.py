"""Gathering: a node asks its neighbours for checkpoints of one number, and answers those who ask.

It takes a checkpoint of the next number n itself, and asks the others for their earliest numbered
at least n. A checkpoint that is not kept any more is gone: all is asked again with a newer number.
Who does not answer in time is unreachable, and whose connection broke is dead; both take part with
the last checkpoint that is known of them, marked with its age, or stay outside if there is none.
If the neighbourhood has changed meanwhile, it gathers once more.

Answers cost bytes, which a budget limits: an answer that cannot be paid for is late, and counted.

Sans I/O: messages and times in, messages out by `drain`. Requests and answers go over streams, in
order; on a lost one the next request says what is at hand.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from math import inf
from typing import TypeVar

import msgspec
from msgspec import Struct

from presage.records import record
from presage.runtime.budget import Bucket
from presage.runtime.checkpoint import Checkpoint, Checkpoints, Gone
from presage.runtime.delta import BadCheckpoint, read, write
from presage.runtime.frame import BadFrame, Kind

NODES_MAX = 8  # of a snapshot, the own node included
RECENT = 30.0  # seconds that a peer counts as a neighbour after it was heard of
PATIENCE = 0.5  # seconds, where the round trip is not known
PATIENCE_MIN = 0.05
BASES_MAX = 8  # checkpoints of a peer that are kept
RESTARTS_MAX = 3  # because a checkpoint was gone

B = TypeVar("B", bound=Struct)


class Request(Struct, frozen=True, array_like=True):
    """Body of a frame of the kind `GATHER`."""

    number: int  # 0: the present state
    process: int = 0  # of the last checkpoint of the peer that is at hand
    have: int = 0  # its number


class Answer(Struct, frozen=True, array_like=True):
    """Body of a frame of the kind `CHECKPOINT`."""

    number: int  # of the request; 0: nobody asked
    gone: int = 0  # the latest number, if the one asked for is not kept any more
    body: bytes = b""


@record(frozen=True)
class Gathered:
    """Checkpoints of one cut, and what is known of members that did not answer."""

    number: int
    members: Mapping[str, Checkpoint]
    stale: Mapping[str, float]  # members whose checkpoint is older, by its age
    missing: tuple[str, ...]  # asked, and nothing is known of them
    rounds: int  # how often all were asked


def neighbourhood(
    declared: Sequence[str] | None,
    connected: Iterable[str],
    heard: Mapping[str, float],
    now: float,
    nodes_max: int = NODES_MAX,
) -> tuple[str, ...]:
    """Whom to ask: as the service declares, else who was heard of last; `heard` holds times."""
    if declared is None:
        recent = {peer: time for peer, time in heard.items() if now - time <= RECENT}
        recent |= {peer: heard.get(peer, 0.0) for peer in connected}
        declared = sorted(recent, key=lambda peer: (-recent[peer], peer))
    return tuple(declared[: nodes_max - 1])


@record
class _Round:
    """One number, and who has yet to answer."""

    number: int
    waiting: dict[str, float]  # peer -> when it counts as unreachable
    found: dict[str, Checkpoint]
    again: bool = False  # the neighbourhood had changed once
    count: int = 1
    restarts: int = 0
    failed: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)  # asked for all, as a difference was no use


class Gatherer:
    """Asks and answers for the node `name` of a system with `names`."""

    def __init__(
        self,
        name: str,
        names: tuple[str, ...],
        checkpoints: Checkpoints,
        neighbours: Callable[[float], Sequence[str]],
        round_trip: Callable[[str], float | None] = lambda peer: None,
        bucket: Bucket | None = None,
        inspect: Callable[[Checkpoint], None] = lambda checkpoint: None,
    ) -> None:
        """`inspect` raises `BadCheckpoint` if a peer's is not to be trusted."""
        self.name = name
        self.checkpoints = checkpoints
        self.bucket = bucket or Bucket()
        self.latest: dict[str, tuple[Checkpoint, float]] = {}  # of each peer, and when it came
        self.asked: dict[str, float] = {}  # who asked for checkpoints, and when
        self.answers = 0  # checkpoints that were given
        self.late = 0  # answers that had to wait for the budget
        self.bad = 0  # answers that could not be read
        self.result: Gathered | None = None  # of the last gathering that has ended
        self._names = names
        self._inspect = inspect
        self._neighbours = neighbours
        self._round_trip = round_trip
        self._round: _Round | None = None
        self._has: dict[str, Checkpoint] = {}  # our own, as each peer has it
        # The last ones of each peer: it may write a difference to any that it knows to be here.
        self._bases: dict[str, deque[Checkpoint]] = {}
        self._mended: dict[str, float] = {}  # when a peer was last asked for all of one, unread
        self._out: list[tuple[str, Kind, bytes]] = []
        self._answers: deque[tuple[str, Request, bool]] = deque()  # and whether it is late already

    # -- asking ------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        return self._round is not None

    @property
    def idle(self) -> bool:
        """Whether nothing is asked, and nothing waits to be said."""
        return self._round is None and not self._answers and not self._out

    def begin(self, now: float) -> None:
        """Ask the neighbourhood, unless it is being asked."""
        if self._round is None:
            self.result = None
            self._ask(_Round(0, {}, {}), 0, now)

    def _ask(self, round_: _Round, number: int, now: float) -> None:
        own = self.checkpoints.advance(number)
        round_.number = own.number
        round_.found = {self.name: own}
        round_.failed = set()
        peers = self._neighbours(now)
        round_.waiting = {peer: now + self._patience(peer) for peer in peers}
        self._round = round_
        for peer in peers:
            self._request(peer)
        self._end(now)

    def _request(self, peer: str, *, whole: bool = False) -> None:
        assert self._round is not None
        known = self.latest.get(peer)
        request = Request(self._round.number)
        if known is not None and not whole:
            request = Request(self._round.number, known[0].process, known[0].number)
        self._out.append((peer, Kind.GATHER, msgspec.msgpack.encode(request)))

    def _patience(self, peer: str) -> float:
        round_trip = self._round_trip(peer)
        return PATIENCE if round_trip is None else max(2 * round_trip, PATIENCE_MIN)

    def answered(self, peer: str, body: bytes, now: float) -> None:
        """A frame of the kind `CHECKPOINT` came; raises `BadFrame` if it is none."""
        answer = _decode(body, Answer)
        round_ = self._round
        current = round_ is not None and answer.number == round_.number and peer in round_.waiting
        if answer.gone:
            if current:
                self._restart(peer, answer.gone, now)
            return
        known = self.latest.get(peer)
        try:
            checkpoint = read(answer.body, peer, self._bases.get(peer, ()), self._names)
            self._inspect(checkpoint)
        except BadCheckpoint:
            self.bad += 1
            if round_ is not None and current and peer not in round_.repeated:
                round_.repeated.add(peer)
                self._request(peer, whole=True)
            elif now >= self._mended.get(peer, -inf) + PATIENCE:
                self._mended[peer] = now
                self._out.append((peer, Kind.GATHER, msgspec.msgpack.encode(Request(0))))
            return
        if known is None or (checkpoint.process, checkpoint.number) >= (
            known[0].process,
            known[0].number,
        ):
            self.latest[peer] = (checkpoint, now)
        self._bases.setdefault(peer, deque(maxlen=BASES_MAX)).append(checkpoint)
        if round_ is not None and current and checkpoint.number >= round_.number:
            del round_.waiting[peer]
            round_.found[peer] = checkpoint
            self._end(now)

    def _restart(self, peer: str, number: int, now: float) -> None:
        round_ = self._round
        assert round_ is not None
        if round_.restarts < RESTARTS_MAX:
            round_.restarts += 1
            round_.count += 1
            self._ask(round_, number + 1, now)
        else:
            self._fail(peer, now)

    def lost(self, peer: str, now: float) -> None:
        """The connection to a peer broke: it does not answer, and has nothing of ours."""
        self._has.pop(peer, None)
        self._fail(peer, now)

    def _fail(self, peer: str, now: float) -> None:
        round_ = self._round
        if round_ is not None and round_.waiting.pop(peer, None) is not None:
            round_.failed.add(peer)
            self._end(now)

    def _end(self, now: float) -> None:
        """End the round, if everybody has answered or failed."""
        round_ = self._round
        if round_ is None or round_.waiting:
            return
        asked = {self.name, *round_.found, *round_.failed}
        if not round_.again and not asked >= set(self._neighbours(now)):
            round_.again = True
            round_.count += 1
            self._ask(round_, 0, now)
            return
        stale = {peer: self.latest[peer] for peer in sorted(round_.failed & self.latest.keys())}
        self.result = Gathered(
            round_.number,
            round_.found | {peer: checkpoint for peer, (checkpoint, _) in stale.items()},
            {peer: now - time for peer, (_, time) in stale.items()},
            tuple(sorted(round_.failed - stale.keys())),
            round_.count,
        )
        self._round = None

    # -- answering ---------------------------------------------------------------------------

    def request(self, peer: str, body: bytes, now: float) -> None:
        """A frame of the kind `GATHER` came; raises `BadFrame` if it is none."""
        request = _decode(body, Request)
        self.asked[peer] = now
        self.checkpoints.at_least(request.number)  # taken now, even if the answer is late
        held = self.checkpoints.numbered(request.have)
        if held is not None and held.process == request.process:
            self._has[peer] = held
        else:
            self._has.pop(peer, None)
        self._answers.append((peer, request, False))

    def push(self, now: float) -> None:
        """Give the state of right now to all who asked of late."""
        peers = [peer for peer, time in self.asked.items() if now - time <= RECENT]
        if peers:
            self.checkpoints.advance()
            self._answers.extend((peer, Request(0), False) for peer in peers)

    def _answer(self, peer: str, request: Request, now: float) -> bool:
        """Answer a request, if the budget allows it."""
        if not self.bucket.ready(now):
            return False
        number = request.number or self.checkpoints.number
        answer = self.checkpoints.at_least(number)
        if isinstance(answer, Gone):
            body = msgspec.msgpack.encode(Answer(request.number, max(answer.number, 1)))
        else:
            written = write(answer, self._has.get(peer), self._names.index)
            body = msgspec.msgpack.encode(Answer(request.number, 0, written))
            self._has[peer] = answer
            self.answers += 1
        self.bucket.take(len(body), now)
        self._out.append((peer, Kind.CHECKPOINT, body))
        return True

    # -- the driver --------------------------------------------------------------------------

    def drain(self, now: float) -> list[tuple[str, Kind, bytes]]:
        """The frames to write now, each with its peer; to be called after every input."""
        while self._answers:
            peer, request, late = self._answers[0]
            if not self._answer(peer, request, now):
                self.late += not late
                self._answers[0] = (peer, request, True)
                break
            self._answers.popleft()
        if not self._out:
            return []
        out, self._out = self._out, []
        return out

    def poll(self, now: float) -> float | None:
        """Let time pass; when to be called next, None: not before something happens."""
        if self._round is not None:
            for peer, deadline in list(self._round.waiting.items()):
                if deadline <= now:
                    self._fail(peer, now)
        times = list(self._round.waiting.values()) if self._round is not None else []
        if self._answers:
            times.append(self.bucket.ready_at(now))
        return min(times, default=None)


def _decode(body: bytes, kind: type[B]) -> B:
    try:
        return msgspec.msgpack.decode(body, type=kind)
    except msgspec.DecodeError as error:
        raise BadFrame(f"the {kind.__name__.lower()} cannot be read: {error}") from None
