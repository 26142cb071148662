"""Execution steering: a node keeps out of what was predicted, and out of what it is about to do.

Rounds come one after the other: gather a snapshot, ask what is ahead of it, act on the answer.
Filters that were put in force go after the next round, which begins by trying the paths that are
known. A step is judged before it is committed: first by the filters, then by the immediate check.

What a refusal means is decided by what is refused. A datagram is lost. A timer, or an action, waits
for another of its delays, and a call is answered by an error: that the host does. A message of a
stream waits at the head of its queue; if it is still refused after `hold` seconds, or at once where
a filter says so, the connection is reset, unless hearing of that is dangerous itself. It waits
on, too, where a reset would lose nothing: on a connection on which nothing was handled yet.

Sans I/O. Who carries frames and runs predictions is given as `Aids`, and calls back.

Invariant: every steered execution is one that the checked system could have taken, given faults.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence

from presage.model.service.live import PredictedViolation
from presage.model.service.local_state import Stimulus
from presage.model.service.stream import LOST
from presage.model.world.filters import ACTIONS, Filter
from presage.model.world.snapshot import Local
from presage.runtime.aids import Aids, Refusal, SteerCounts
from presage.runtime.board import (
    PREDICTIONS_MAX,
    REFUSALS_MAX,
    FilterSeen,
    PredictionSeen,
    ProgressSeen,
    RefusalSeen,
)
from presage.runtime.check import DELIVER, ImmediateCheck, can_be_refused
from presage.runtime.foresight import Foreseen, Question, events_seen, path_key
from presage.runtime.node import LiveNode
from presage.runtime.snapshot import Assembled
from presage.runtime.steer_options import SteerOptions
from presage.runtime.step import Record
from presage.runtime.verdicts import Verdicts
from presage.trace.trace import Trace

RECEIVE = "receive"
KNOWN_MAX = 64  # paths that are tried first; the least recently useful go
STARVING = 3  # refusals of one kind of event, within
STARVING_SECONDS = 30.0  # seconds, after which the guard is asked about it
STARVING_MAX = 3  # kinds about which it is asked at once


class Steering:
    """Steers one node. The driver calls `turned` after each turn of the host."""

    def __init__(self, node: LiveNode, aids: Aids, options: SteerOptions) -> None:
        self.node = node
        self.aids = aids
        self.options = options
        self.counts = SteerCounts()
        self.check = ImmediateCheck(
            node.system, node.automaton, node.clock.now, age_max=2 * options.round_trip
        )
        self.filters: dict[Filter, float] = {}  # in force, and until when
        self.predictions: deque[PredictionSeen] = deque(maxlen=PREDICTIONS_MAX)
        self.traces: OrderedDict[int, Trace] = OrderedDict()  # of `predictions`, by key
        self.refusals: deque[RefusalSeen] = deque(maxlen=REFUSALS_MAX)
        self.violations: dict[str, str] = {}  # properties that a snapshot showed broken, and why
        self._progress = Verdicts(node.system, kind="eventually")
        self._held_last: dict[str, float] = {}  # property -> when it last held, in a snapshot
        self._known: OrderedDict[tuple[str, ...], Trace] = OrderedDict()
        self._handed: set[tuple[str, ...]] = set()  # of these, those that a peer handed over
        self._holding: dict[str, float] = {}  # peer -> since when its next message is refused
        self._resets: set[str] = set()  # connections that a filter breaks
        self._waiting: set[str] = set()  # neighbours that were asked for their state
        self._repeated: dict[tuple[object, ...], deque[float]] = {}
        self._starving: dict[Filter, None] = {}  # refused again and again, and not judged yet
        self._busy = False  # a round goes on
        self._asked = False  # and waits for an answer, which comes or is given up by who was asked
        self._again = False  # another is to follow at once
        self._began = 0.0
        self._next = node.clock.now() + options.every * _phase(node.name)
        self._key = 0
        if options.mode == "on":
            node.judge = self.judge
        node.on_commit.append(self.committed)

    # -- every step --------------------------------------------------------------------------

    def judge(self, step: Record) -> Refusal | None:
        """Why a step is not to be committed; None: it may be."""
        refused = self._by_filter(step) or self._by_check(step)
        if refused is not None and not self._is_held(step):
            self.counts.filtered += refused.filter is not None
            self.counts.refused += refused.filter is None
            self._note(step, refused)
        return refused

    def _is_held(self, step: Record) -> bool:
        """Whether a step takes what is held back already, and is judged once more."""
        return _streamed(step) and self.node.system.names[step.stimulus[1]] in self._holding

    def _by_filter(self, step: Record) -> Refusal | None:
        stimulus = step.stimulus
        if not self.filters or not can_be_refused(self.node.automaton.index, stimulus):
            return None
        for each, until in self.filters.items():
            if until > self.node.clock.now() and self._matches(each, step):
                if each.kind == RECEIVE:
                    self._resets.add(self.node.system.names[stimulus[1]])
                return Refusal(str(each), filter=each)
        return None

    def _matches(self, each: Filter, step: Record) -> bool:
        stimulus = step.stimulus
        if stimulus[0] != DELIVER:
            return (each.kind, each.name) == tuple(stimulus[:2])
        _, source, message = stimulus
        sender = each.source in (None, self.node.system.names[source])
        kind = RECEIVE if _streamed(step) else DELIVER
        return each.kind == kind and sender and _name(message) == each.name

    def _by_check(self, step: Record) -> Refusal | None:
        if not self.options.checks:
            return None
        danger = self.check.judge(step.before, step.after, step.stimulus)
        if danger is None:
            return None
        if danger.stale:
            asked = [name for name in danger.stale if name not in self._waiting]
            self._waiting.update(asked)
            if asked:
                self.aids.refresh(asked)
        return Refusal(f"{danger.prop}: {danger.why}" if danger.why else danger.prop, danger)

    def _note(self, step: Record, refused: Refusal) -> None:
        stimulus = step.stimulus
        now, text = self.node.clock.now(), _text(self.node, stimulus)
        if _streamed(step):
            self._holding.setdefault(self.node.system.names[stimulus[1]], now)
        self.refusals.append(RefusalSeen(node=self.node.name, text=text, why=refused.text, at=now))
        times = self._repeated.setdefault((stimulus[0], text), deque(maxlen=STARVING))
        times.append(now)
        if len(times) == STARVING and now - times[0] <= STARVING_SECONDS:
            times.clear()
            self._starves(step, refused)
        if len(self._repeated) > 10 * REFUSALS_MAX:
            self._repeated.clear()

    def _starves(self, step: Record, refused: Refusal) -> None:
        """One kind of event is refused again and again: let the guard judge that as a filter."""
        self.counts.starving += 1
        kind, *rest = step.stimulus  # of a call of the workload there is no more
        if kind == DELIVER:
            rest = [_name(rest[1]), self.node.system.names[rest[0]]]
            kind = RECEIVE if _streamed(step) else DELIVER
        if refused.filter is None and kind in ACTIONS and len(self._starving) < STARVING_MAX:
            source = rest[1] if kind in (DELIVER, RECEIVE) else None
            self._starving[Filter(self.node.name, kind, rest[0], source)] = None
            if self.options.predicts:
                self.hasten()

    def committed(self, record: Record) -> None:
        """A step was: the stream whose head it took, or whose end it heard of, is not held."""
        if record.stimulus[0] == DELIVER and record.sequence is None:
            self._holding.pop(self.node.system.names[record.stimulus[1]], None)

    # -- time --------------------------------------------------------------------------------

    def turned(self) -> float | None:
        """Do what is due; when to be called again at the latest, by the node's clock."""
        now = self.node.clock.now()
        self._break(now)
        if any(until <= now for until in self.filters.values()):
            self.filters = {each: until for each, until in self.filters.items() if until > now}
            self._reconsider()
        if self.options.mode == "off" or not self.options.predicts or not self.node.up:
            return self._due_hold()
        if now >= self._next:
            self._next = now + self.options.every
            self._round(now)
        return min(filter(None, (self._next, self._due_hold())))

    @property
    def holds(self) -> bool:
        """Whether the head of a stream is held back."""
        return bool(self._holding)

    def _due_hold(self) -> float | None:
        return (
            min(self._holding.values(), default=0.0) + self.options.hold if self._holding else None
        )

    def _break(self, now: float) -> None:
        """Reset the connections that a filter breaks, or on which a message was held for long."""
        held = {peer for peer, since in self._holding.items() if now - since >= self.options.hold}
        due = (self._resets | held) - {self.node.name}
        self._resets.clear()
        for peer in sorted(due):
            self._holding.pop(peer, None)
            if self.aids.is_open(peer) and self._can_hear(peer):
                self.counts.resets += 1
                self.aids.reset(peer)
            else:
                self._holding[peer] = now  # to be tried again

    def _can_hear(self, peer: str) -> bool:
        """Whether the news that the connection to `peer` is gone breaks nothing by itself."""
        stimulus = (DELIVER, self.node.system.indices[peer], LOST)
        after = self.node.imagine(stimulus)
        if after is None:
            return True
        return not self.check.breaks(self.node.local, after)

    # -- rounds ------------------------------------------------------------------------------

    def hasten(self) -> None:
        """Let the next round begin at once, or as soon as the one that goes on has ended."""
        self._next = self.node.clock.now()
        self._again = self._busy

    def _round(self, now: float) -> None:
        patience = 2 * (self.options.every + self.options.deadline)
        if self._busy and (self._asked or now - self._began < patience):
            return
        self._busy, self._began = True, now
        self.counts.rounds += 1
        self.aids.gather()

    def _ended(self) -> None:
        """A round is over."""
        self._busy = self._asked = False
        if self._again:
            self.hasten()

    def assembled(self, found: Assembled | None) -> None:
        """The snapshot that was gathered; None if there is none."""
        if found is None:
            self._ended()
            return
        self._look(found)
        acts = self.options.mode == "on"
        known = tuple(reversed(self._known.values()))
        question = Question(
            found.snapshot,
            found.outside,
            known,
            seconds=self.options.deadline,
            acts=acts,
            own=frozenset(self._handed),
            refused=tuple(self._starving),
        )
        self._starving.clear()
        self._asked = True
        self.aids.ask(question)

    def _look(self, found: Assembled) -> None:
        """Take from a snapshot what the immediate check and the board want to know."""
        now, system = self.node.clock.now(), self.node.system
        outside = set(found.outside)
        known: list[Local | None] = []
        for name, local in zip(system.names, found.snapshot.locals, strict=True):
            known.append(None if name in outside else local)
            if name not in outside and name not in found.stale:
                self.check.learn(name, local, now)
        for prop in self._progress.holding(known):
            self._held_last[prop] = now
        self.violations = {each.prop: each.why for each in self.check.verdicts.broken(known)}
        self.check.standing(self.violations)

    def refreshed(self, name: str, local: Local | None) -> None:
        """The present state of a neighbour; None: no answer, so what was known still counts."""
        self._waiting.discard(name)
        if local is not None:
            self.check.learn(name, local, self.node.clock.now())
            self._reconsider()

    def _reconsider(self) -> None:
        """What is held back may pass by now."""
        if self._holding:
            self.aids.reconsider()

    def unanswered(self) -> None:
        """Nobody has looked ahead in this round."""
        self.counts.unanswered += 1
        self._ended()

    def foreseen(self, found: Foreseen) -> None:
        """What is ahead; filters of the round before are out of force."""
        self._ended()
        if self.filters:
            self.filters.clear()
            self._reconsider()
        self.counts.remembered += found.remembered
        self._report(found.hungry)
        if found.trace is None:
            return
        self.counts.predicted += 1
        self._remember(found.trace)
        now = self.node.clock.now()
        if found.decision == "filter" and found.filter is not None:
            self.counts.installed += 1
            self.filters[found.filter] = now + 1.5 * self.options.every + self.options.deadline
        elif found.decision == "handed over" and found.filter is not None:
            self.counts.handed_over += 1
            self.aids.hand_over(found.filter.node, found.trace)
        self.counts.unhelpful += found.decision == "unhelpful"
        self.counts.kills_progress += found.decision == "kills progress"
        self.counts.ahead_unpreventable += found.decision == "unpreventable"
        self._show(found, now)
        if self.options.mode == "on" and found.own:
            events = self.node.system.codec.decode(found.own)
            ahead = PredictedViolation(found.prop, len(found.trace.steps), events)
            self.node.take(("prediction", ahead))

    def _report(self, hungry: Sequence[tuple[Filter, str]]) -> None:
        """Refusals that kill progress go on, for what they prevent is worse; but they are shown."""
        for each, prop in hungry:
            self.counts.starved += 1
            now, why = self.node.clock.now(), f"kills progress: {prop} cannot hold any more"
            self.refusals.append(RefusalSeen(node=self.node.name, text=str(each), why=why, at=now))

    def handed(self, path: Trace) -> None:
        """A peer has seen a path on which this node can do something."""
        self.counts.taken_over += 1
        self._handed.add(self._remember(path))
        self.hasten()

    def _remember(self, path: Trace) -> tuple[str, ...]:
        key = path_key(path)
        self._known[key] = path
        self._known.move_to_end(key)
        if len(self._known) > KNOWN_MAX:
            gone, _ = self._known.popitem(last=False)
            self._handed.discard(gone)
        return key

    def _show(self, found: Foreseen, now: float) -> None:
        assert found.trace is not None
        self._key += 1
        self.traces[self._key] = found.trace
        if len(self.traces) > PREDICTIONS_MAX:
            self.traces.popitem(last=False)
        self.predictions.append(
            PredictionSeen(
                key=self._key,
                node=self.node.name,
                prop=found.prop,
                at=now,
                events=events_seen(found.trace),
                answer=found.decision if not found.filter else f"{found.decision}: {found.filter}",
            )
        )

    # -- what is to see ----------------------------------------------------------------------

    def filters_seen(self) -> list[FilterSeen]:
        """What is kept out now."""
        now = self.node.clock.now()
        return [
            FilterSeen(node=self.node.name, text=str(each), left=until - now)
            for each, until in self.filters.items()
            if until > now
        ]

    def progress_seen(self) -> list[ProgressSeen]:
        """How long ago each `eventually` property was seen to hold."""
        now = self.node.clock.now()
        last = ((name, self._held_last.get(name)) for name in self._progress.names)
        return [
            ProgressSeen(prop=name, ago=None if time is None else now - time) for name, time in last
        ]


def _streamed(step: Record) -> bool:
    """Whether a step takes the head of a stream; the news of its end is not one."""
    return step.stimulus[0] == DELIVER and step.sequence is None and step.body is not None


def _name(message: object) -> str:
    return type(message).__name__


def _text(node: LiveNode, stimulus: Stimulus) -> str:
    if stimulus[0] == DELIVER:
        return f"{_name(stimulus[2])} from {node.system.names[stimulus[1]]}"
    return " ".join(map(str, stimulus[:2]))


def _phase(name: str) -> float:
    """When within a period a node has its rounds, so that not all have them at once."""
    return (sum(name.encode()) * 0x9E3779B1 % (1 << 32)) / (1 << 32)
