"""A live node: the automaton that is checked, fed with what really happens to it.

A step is run on values decoded from canonical bytes, looked at (`judge`), committed, and only then
has effects. So a step can be thrown away, and a checkpoint of the node is at hand at any moment.
Nothing here touches a socket, a file or a clock: the driver feeds stimuli, `store` keeps what is
durable, `clock` keeps timers, and effects go to `Surroundings`.

When a step is committed, its effects are handed over in the same instant: links count and number
what was sent, so that links and local state always fit together. But no byte may leave the process
before `Surroundings.release`, which `flush` calls once what the steps made durable is on disk.

Invariant: `local` is canonical, and is what `Automaton.step` makes of the committed stimuli with
the choices noted in their records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from presage._core import FAILED
from presage.errors import PresageError, StoreError
from presage.model.choice import Chooser
from presage.model.service.automaton import Automaton
from presage.model.service.calls import check_method
from presage.model.service.local_state import UNARMED, Outcome, Stimulus, Values
from presage.model.service.stream import LOST
from presage.model.world.snapshot import Local
from presage.model.world.system import System
from presage.runtime.acting import Actions
from presage.runtime.chance import Chance, LiveChooser, Queues
from presage.runtime.clock import Clock, seconds_until
from presage.runtime.durable import Durable
from presage.runtime.effects import copied, datagrams, encoded, flows, hand_over
from presage.runtime.step import Counts, Kept, Options, Record, Refused, Reply, Result
from presage.runtime.step import Judge as Judge
from presage.runtime.step import Surroundings as Surroundings
from presage.runtime.store import Store, Stored

PAUSE = 0.01  # seconds before an action that chose to do nothing may run again

Runner = Callable[..., Any]  # calls `function(*args)`: user code, watched


class LiveNode:
    """One node of `system`, running. Every input method is one step, or nothing.

    The driver feeds it, then ends each turn of its loop with `turn()` and `flush()`.
    `judge(record)` may refuse a step; functions in `on_commit` are given the
    record of each one that happened, after its effects were handed over.
    """

    def __init__(
        self,
        system: System,
        name: str,
        store: Store,
        clock: Clock,
        surroundings: Surroundings,
        options: Options | None = None,
        runner: Runner | None = None,
        automata: Sequence[Automaton] | None = None,
    ) -> None:
        """`automata`: those of `system.live()`, where nodes share a process."""
        self.system = system
        self.name = name
        self.automaton = (automata or system.live())[system.index(name)]
        self.store = store
        self.clock = clock
        self.surroundings = surroundings
        self.options = options or Options()
        self.counts = Counts()
        self.life = 0  # how often the node was booted, by its store
        self.local: Local = ()
        self.failure: str | None = None
        self.judge: Judge | None = None
        self.on_load: list[Callable[[Stored], None]] = []  # given what the store has kept
        self.on_commit: list[Callable[[Record], None]] = []
        self.on_flush: list[Callable[[], None]] = []  # called before what is durable is synced
        self.recovered = 0  # steps of earlier lives whose changes the store had kept
        self.kept: deque[Kept] = deque()
        self.up = False  # whether it has booted and has not failed
        self._run: Runner = runner or _directly
        self._codec = self.automaton.codec
        self._durable = Durable(self.automaton)
        self._chance = Chance(self.options.seed, name, 0)
        self._queues = Queues(system.names, surroundings.held)
        self._chooser: LiveChooser | None = None  # of the last step
        self._changed = False  # since guards of what is kept were last asked
        self._replies: list[tuple[Any, Reply]] = []
        self._actions = Actions(self.automaton)
        self._reported = False  # of its failure
        self._returned: Any = None  # by the method that was called last

    # -- what happens to it ------------------------------------------------------------------

    def boot(self) -> Result:
        """Begin: `start` the first time, afterwards a restart with what the store has kept."""
        stored = self.store.load()
        self.life, self.recovered = stored.life, stored.entries
        for function in self.on_load:
            function(stored)
        self._chance = Chance(self.options.seed, self.name, self.life)
        self._chooser = None
        self.clock.clear()
        self.local = self._durable.local(stored)
        self.up = True
        return self.take(("start",) if stored.life == 1 else ("restart",))

    def deliver(
        self, source: str, message: Any, sequence: int = 0, body: bytes | None = None
    ) -> Result:
        """A datagram arrives; one that a guard does not let in is kept (see `turn`).

        `message` is used up; `body` is its canonical form, if the caller has it at hand.
        """
        body = body or self._codec.encode(message)
        index = self.system.indices[source]
        result = self.take(("deliver", index, message), body, sequence)
        if result is None and self.up:
            if len(self.kept) >= self.options.inbox:
                self.kept.popleft()
                self.counts.overflowed += 1
            self.kept.append(Kept(source, body, sequence))
        return result

    def receive(self, source: str, message: Any, body: bytes | None = None) -> Result:
        """The head of the stream from `source`; None: it stays there, to be offered again.

        Offer it again after other steps, when `counts.steps` has grown.
        """
        index = self.system.indices[source]
        body = body or self._codec.encode(message)
        if index != self.automaton.index:
            return self.take(("deliver", index, message), body)
        self._queues.taken = index
        try:
            return self.take(("deliver", index, message), body)
        finally:
            self._queues.taken = None

    def broken(self, peer: str) -> Result:
        """The connection to `peer` is gone; links know already."""
        return self.take(("deliver", self.system.indices[peer], LOST))

    def fire(self, timer: tuple[Any, ...]) -> Result:
        """A timer is due, as `clock.pop` gave it."""
        return self.take(("timer", *timer))

    def act(self) -> Result:
        """The next action whose guard is true; None if there is none, or all of them do nothing."""
        if not self.up:
            return None
        now = self.clock.now()
        try:
            stimulus = self._run(self._actions.next, self._fresh, self._chance, now)
        except PresageError as error:
            return self._fail(("action",), str(error))
        if stimulus is None:
            return None
        result = self.take(stimulus)
        self._actions.done(stimulus, result, now + PAUSE)
        return result

    def call(self, method: str, args: tuple[Any, ...] = (), request: Any = None) -> Result:
        """Somebody outside calls a method; `surroundings.replied` gets what it returned."""
        try:
            check_method(type(self.system.nodes[self.name]), method, args)
            self._codec.encode(args)
        except PresageError as error:
            self._replies.append((request, Reply(error=str(error))))
            return None
        self._returned = None
        result = self.take(("call", method, *args))
        if isinstance(result, Record):
            reply = Reply(self._returned, result.failure)
        else:
            reply = Reply(error=f"refused: {result.reason}" if result else "the node is not up")
        self._replies.append((request, reply))
        return result

    def work(self) -> Result:
        """The workload's next call of this node; None if there is none, or its guard is false."""
        if not self.up:
            return None
        values, workload = self._fresh(), self.automaton.workload
        calls = values[0][1]
        if calls >= len(workload):
            return None
        try:
            wanted = self._run(self.automaton.wants, workload[calls], values)
        except PresageError as error:
            return self._fail(("call",), str(error))
        return self.take(("call",)) if wanted else None

    def written(self, disk: str, key: Any) -> Result:
        """The oldest write of a disk reaches it, in one with what `@written` does."""
        return self.take(("write", disk, key))

    def turn(self) -> int:
        """What the node does by itself after what happened to it; how many steps that were.

        Datagrams are taken in whose guards have come true, one write of each disk reaches it, and
        one action is done.
        """
        if not self.up:
            return 0
        before = self.counts.steps
        if self.kept and self._changed:
            self._admit()
        if self.automaton.disks:
            for disk, key in self._durable.pending(self.local):
                self.written(disk, key)
        if self.automaton.shape.actions:
            self.act()
        return self.counts.steps - before

    def rested_at(self) -> float | None:
        """When an action that rests for a while may run again; None if none does."""
        actions = self._actions
        return actions.until(self.clock.now()) if actions.resting else None

    def flush(self) -> None:
        """End a turn: make durable what its steps changed, then let their effects leave."""
        try:
            for function in self.on_flush:
                function()
            self.store.flush()
        except StoreError as error:
            self.up = False
            self.failure = str(error)
            self._replies.clear()  # nothing of this turn may leave
            self.surroundings.failed(self.failure)
            raise
        self.surroundings.release()
        if self._replies:
            replies, self._replies = self._replies, []
            for request, reply in replies:
                self.surroundings.replied(request, reply)
        if self.failure is not None and not self._reported:
            self._reported = True
            self.surroundings.failed(self.failure)

    # -- a step ------------------------------------------------------------------------------

    def take(
        self, stimulus: Stimulus, body: bytes | None = None, sequence: int | None = None
    ) -> Result:
        """Run what `stimulus` asks for; look; commit.

        `body` is the canonical form of the message that it delivers, if it does; `sequence` the
        number of a datagram, None for a message of a stream.
        """
        if not self.up:
            return None
        chooser = self._chooser
        if chooser is None or chooser.taken or chooser.error is not None:  # it was used
            chooser = self._chooser = LiveChooser(self._chance, self._queues, self.clock.wall)
        if self._queues.answers:
            self._queues.answers = {}
        copy = stimulus
        if body is None and len(stimulus) > 2 and stimulus[0] in ("action", "call"):
            copy = copied(stimulus, self._codec)  # the handler may change its arguments
        try:
            outcome = self._run(self.automaton.run, self._fresh, copy, chooser)
            if outcome is None:
                return None
            record = self._record(stimulus, body, sequence, outcome)
        except PresageError as error:
            return self._fail(stimulus, str(error), chooser)
        if self.judge is not None:
            reason = self.judge(record)
            if reason is not None:
                self.counts.refused += 1
                return Refused(stimulus, reason)
        if stimulus[0] == "call":
            self._returned = copied(chooser.returned, self._codec)
        self._commit(record, outcome)
        return record

    def _record(
        self, stimulus: Stimulus, body: bytes | None, sequence: int | None, outcome: Outcome
    ) -> Record:
        """A step as it will have been. Raises what is wrong with its outcome."""
        before, codec, names = self.local, self._codec, self.system.names
        after = encoded(self.automaton, stimulus, outcome, self._fresh)
        choices, _, sent, records, failure, logs, flowed, *_ = outcome
        return Record(
            self.counts.steps + 1,
            self.clock.now(),
            stimulus,
            body,
            before,
            after,
            choices,
            datagrams(outcome, codec, names, self.options.body_max) if sent else (),
            flows(outcome, codec, names, self.options.stream_max) if flowed else (),
            records,
            logs,
            failure,
            sequence,
            self._durable.changes(before, after, stimulus),
            self._queues.answers,
        )

    def imagine(self, stimulus: Stimulus) -> Local | None:
        """What a step would make of the node, if it happened now; None if it could not."""
        if not self.up:
            return None
        chooser = Chooser((), extends=True, held=self._queues)
        try:
            outcome = self._run(self.automaton.run, self._fresh, stimulus, chooser)
            return outcome and encoded(self.automaton, stimulus, outcome, self._fresh)
        except PresageError:
            return None

    def _commit(self, record: Record, outcome: Outcome) -> None:
        """Let a step be one that has happened: everything in memory changes in this instant."""
        self.counts.steps += 1
        before, after = record.before, record.after
        self.local = after
        if before != after:
            self._changed = True
            if self._actions.resting:
                self._actions.wake()
        if record.changes:
            self.store.append(record.changes)
        hand_over(record, self.surroundings, self.system.names)
        if outcome.delays or before[0] != after[0] or record.stimulus[0] == "timer":
            self._set_timers(record, outcome)
        if record.failure is not None:
            self.up = False
            self.failure = record.failure
        for function in self.on_commit:
            function(record)

    def _set_timers(self, record: Record, outcome: Outcome) -> None:
        """Tell the clock which timers were armed, armed again or disarmed."""
        declared, configured = self.automaton.shape.timers, self.options.delays
        delays = {
            timer: seconds_until(declared[timer[0]], timer[0], delay, configured)
            for timer, delay in (outcome.delays or {}).items()
        }
        fired = record.stimulus[1:] if record.stimulus[0] == "timer" else None
        self.clock.follow(outcome.values[0][2], delays, fired)

    def _fail(self, stimulus: Stimulus, text: str, chooser: Chooser | None = None) -> Record:
        """What was asked for did not happen; the node stops as it was before."""
        values = self._fresh()
        values[0] = (FAILED, values[0][1], UNARMED, text.partition("\n")[0])
        record = Record(
            self.counts.steps + 1,
            self.clock.now(),
            stimulus,
            None,
            self.local,
            tuple(map(self._codec.encode, values)),
            chooser.made if chooser else (),
            (),
            (),
            (),
            (),
            text,
        )
        self._commit(record, Outcome((), values, [], [], text, []))
        return record

    def _admit(self) -> None:
        """Take in what is kept, in the order it came, as far as guards let it."""
        self._changed = False
        for _ in range(len(self.kept)):
            source, body, sequence = self.kept.popleft()
            stimulus = ("deliver", self.system.indices[source], self._codec.decode(body))
            if self.take(stimulus, body, sequence) is None and self.up:
                self.kept.append(Kept(source, body, sequence))

    def _fresh(self) -> Values:
        return self._codec.decode_fields(self.local)


def _directly(function: Callable[..., Any], *args: Any) -> Any:
    """A `Runner` that watches nothing."""
    return function(*args)
