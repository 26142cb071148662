"""One node as a pure function: (local state, stimulus, choices) -> (new local state, effects).

Whatever explores or replays calls this and nothing else to run a user's code. A handler runs on a
service rebuilt from the values it is given, and what it did is read off that service afterwards.

Invariant: equal values and stimulus give equal outcomes, and no object that a handler sees or an
outcome holds is shared with another run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from presage._core import DOWN, FAILED, SLOW, UP
from presage.errors import NotState, Sharing
from presage.model.choice import NOT_THEIRS, Beyond, Chooser, Fork, following
from presage.model.service.blame import (
    describe_failure,
    other_choices,
    too_many_branches,
    wrong_fields,
)
from presage.model.service.clocks import ticked, ticks
from presage.model.service.down import notices
from presage.model.service.local_state import (
    UNARMED,
    Control,
    Outcome,
    Stimulus,
    Values,
    kept_inside,
    unchanged,
    unhandled,
)
from presage.model.service.moment import ACTIVE
from presage.model.service.node import Node
from presage.model.service.run import Run
from presage.model.service.service import Service
from presage.model.service.stream import Connect, Lost, Streams

BRANCHES_MAX = 100_000  # outcomes of one step
_new = tuple.__new__  # several times as fast as the constructor of a named tuple
EMPTY: Mapping[int, int] = MappingProxyType({})  # no stream holds anything


class Automaton(Node):
    """A node of a system, and every way in which it can go on."""

    def __init__(
        self,
        *node: Any,
        streams: Streams | None = None,
        timed: bool = False,
        noticed: bool = False,
        outside: frozenset[int] = frozenset(),
        **more: Any,
    ) -> None:
        """As for a node; with the streams of the system, and whether its timers have deadlines.

        `noticed`: its peers hear of its crash. `outside`: nodes that swallow what it sends them.
        """
        super().__init__(*node, **more)
        self._streams = streams
        self._noticed = noticed
        self.outside = outside
        self._answer = self._clocked if timed else self._react
        if outside:
            self._answer = partial(kept_inside, outside, self._answer)
        self._pick = _picker(self.fields)
        self._start = self.service.start if self.shape.starts else None
        self._calls = [
            (getattr(self.service, call.method), self.codec.encode(call.args))
            for call in self.workload
        ]
        self._ghosts = sorted(self.ghosts)
        self._durables = sorted(self.durables)
        self.siblings: tuple[Automaton, ...] = ()  # all nodes of the system, set by it

    # -- steps -------------------------------------------------------------------------------

    def step(
        self,
        values: Values,
        stimulus: Stimulus,
        choices: Sequence[int] = (),
        held: Mapping[int, int] = EMPTY,
    ) -> Outcome | Fork | None:
        """One run, on a copy of `values`; None if a guard does not let the message in.

        `Fork(n)`: the run wants a choice among n beyond `choices`; it is as if it never was.
        `held` says how many messages the node's streams hold, by the index of the peer.
        """
        codec = self.codec
        frozen = codec.encode(values)
        stimulus = codec.decode(codec.encode(stimulus))
        again = partial(codec.decode, frozen)
        chooser = Chooser(choices, extends=False, held=held)
        outcome = self._answer(again(), stimulus, chooser, again)
        if isinstance(outcome, Outcome):
            try:
                codec.encode_fields(outcome.values)
            except Sharing as error:
                raise self.shared_by(stimulus, values, error) from None
            except NotState as error:
                raise error.at(self.place(error.position)) from None
        return outcome

    def run(
        self, fresh: Callable[[], Values], stimulus: Stimulus, chooser: Chooser
    ) -> Outcome | Fork | None:
        """One run whose choices the caller's `chooser` makes; `stimulus` is used up.

        `fresh` returns the same values on each call, as new objects.
        """
        return self._answer(fresh(), stimulus, chooser, fresh)

    def branches(
        self,
        fresh: Callable[[], Values],
        stimulus: Stimulus,
        ghosts: Sequence[bytes] | None = None,
        held: Mapping[int, int] | None = None,
    ) -> list[Outcome] | None:
        """Every run, one per list of choices, depth first; None if a guard does not let it in.

        Without `held`, there are runs for queues with and without room (see `Outcome.limits`).

        `fresh` returns the same values on each call, as new objects. Ghosts start from their
        defaults here, or from `ghosts` (encoded, in the order of their positions): a search does
        not know the ones a particular execution would have.
        """
        codec = self.codec
        frozen = codec.encode(stimulus)
        outcomes: list[Outcome] = []
        taken: list[tuple[int, int]] = []
        choices: list[int] | None = []
        start = partial(self.with_ghosts, fresh, ghosts) if self._ghosts else fresh
        while choices is not None:
            if outcomes:
                stimulus = codec.decode(frozen)
            chooser = Chooser(choices, extends=True, held=held)
            outcome = self._answer(start(), stimulus, chooser, start)
            if outcome is None:
                return None
            assert not isinstance(outcome, Fork), "an extending chooser never runs out"
            if outcomes:
                self._check_same(taken, chooser.taken, len(choices))
            outcomes.append(outcome)
            if len(outcomes) > BRANCHES_MAX:
                raise too_many_branches(self.name, stimulus[0], BRANCHES_MAX)
            taken = chooser.taken
            choices = following(taken)
        return outcomes

    def with_ghosts(
        self, fresh: Callable[[], Values], ghosts: Sequence[bytes] | None = None
    ) -> Values:
        """Fresh values with these ghosts, or with the ghosts' defaults."""
        values = fresh()
        for at, position in enumerate(self._ghosts):
            encoded = self._initial[position - 1] if ghosts is None else ghosts[at]
            values[position] = self.codec.decode(encoded)
        return values

    def ghosts_of(self, values: Values) -> list[bytes]:
        """The ghosts among `values`, encoded, in the order of their positions."""
        return [self.codec.encode(values[position]) for position in self._ghosts]

    def _clocked(
        self, values: Values, stimulus: Stimulus, chooser: Chooser, again: Callable[[], Values]
    ) -> Outcome | Fork | None:
        """As `_react`, in timed mode: the outcome says what the clocks must know."""
        before = values[0]
        outcome = self._react(values, stimulus, chooser, again)
        if not isinstance(outcome, Outcome):
            return outcome
        if outcome.delays:
            delays = {timer: self.delay(timer, given) for timer, given in outcome.delays.items()}
            outcome = outcome._replace(delays=delays)
        return ticked(before, stimulus, outcome)

    def delay(self, timer: tuple[Any, ...], given: int | None) -> int | None:
        """The delay of an armed timer in thousandths: as given, else as declared for it."""
        return ticks(self.shape.timers[timer[0]].after) if given is None else given

    def _react(
        self, values: Values, stimulus: Stimulus, chooser: Chooser, again: Callable[[], Values]
    ) -> Outcome | Fork | None:
        """Run what `stimulus` asks for. `again` gives the values as they were before."""
        kind = stimulus[0]
        _, calls, timers, _ = values[0]
        if kind == "deliver":
            return self._receive(values, stimulus, chooser, again)
        if kind == "timer":
            timer = self.shape.timers[stimulus[1]]
            if not timer.periodic:
                timers = timers - {stimulus[1:]}
            control = (UP, calls, timers, None)
            return self._perform(timer.function, stimulus[2:], values, control, chooser, again)
        if kind == "action":
            function = self.shape.actions[stimulus[1]].function
            return self._perform(function, stimulus[2:], values, values[0], chooser, again)
        if kind == "call":
            if len(stimulus) > 1:  # by somebody outside, not by the workload
                function = getattr(self.service, stimulus[1])
                return self._perform(function, stimulus[2:], values, values[0], chooser, again)
            function, encoded = self._calls[calls]
            control = (UP, calls + 1, timers, None)
            args = self.codec.decode(encoded)
            return self._perform(function, args, values, control, chooser, again)
        if kind == "write":
            return self._write(values, stimulus, chooser, again)
        if kind == "prediction":
            return self._foresee(values, stimulus, chooser, again)
        if kind in ("slow", "wake"):
            values[0] = (SLOW if kind == "slow" else UP, calls, timers, None)
            return unchanged(values)
        return self._begin(values, kind, chooser, again)

    def _begin(
        self, values: Values, kind: str, chooser: Chooser, again: Callable[[], Values]
    ) -> Outcome | Fork:
        """The end of a process, the beginning of one, or both at once."""
        assert kind in ("start", "crash", "restart", "reset", "silent"), f"`{kind}` is no stimulus"
        if kind != "start":
            try:
                values = self._reset(values, DOWN if kind == "crash" else UP, chooser)
            except Beyond:
                assert chooser.beyond is not None, "a chooser says why it stopped"
                return Fork(chooser.beyond)
        if kind == "crash" or self._start is None:
            sends = self._notices() if kind == "crash" else []
            return unchanged(values)._replace(
                choices=chooser.made, sends=sends, share=chooser.share
            )
        return self._perform(self._start, (), values, values[0], chooser, again)

    def _notices(self) -> list[tuple[int, Any]]:
        """What its crash sends."""
        return notices(self.name, self.index, self.siblings) if self._noticed else []

    def _receive(
        self, values: Values, stimulus: Stimulus, chooser: Chooser, again: Callable[[], Values]
    ) -> Outcome | Fork | None:
        """Take in a message: a slow node leaves it where it is, one that is down loses it."""
        _, source, message = stimulus
        status = values[0][0]
        if status != UP:
            return None if status == SLOW else unchanged(values)
        handler = self.shape.handler(type(message))
        if isinstance(message, (Lost, Connect)) and (
            isinstance(message, Lost) or Connect not in self.shape.handlers
        ):
            return self._lose(values, message, source, chooser, again)
        if handler is None:
            return unhandled(values, self.service, message, self.names[source])
        if handler.guard is not None and not self._admits(handler, values, source, message):
            return None
        sent = (message, self.names[source]) if handler.with_source else (message,)
        return self._perform(handler.function, sent, values, values[0], chooser, again)

    def _lose(
        self,
        values: Values,
        message: Connect | Lost,
        source: int,
        chooser: Chooser,
        again: Callable[[], Values],
    ) -> Outcome | Fork:
        """React to what streams say of themselves; a service that does not care need not."""
        if self.shape.broken is None or isinstance(message, Connect):
            return unchanged(values)
        args = (self.names[source],)
        return self._perform(self.shape.broken[1], args, values, values[0], chooser, again)

    def _write(
        self, values: Values, stimulus: Stimulus, chooser: Chooser, again: Callable[[], Values]
    ) -> Outcome | Fork:
        """The oldest write of a disk reaches it; who asked to be told is told."""
        write = self.disk(values, self.positions[stimulus[1]]).settle()
        told = self.shape.written
        if told is None:
            return unchanged(values)
        return self._perform(told.function, write[: told.takes], values, values[0], chooser, again)

    def _foresee(
        self, values: Values, stimulus: Stimulus, chooser: Chooser, again: Callable[[], Values]
    ) -> Outcome | Fork | None:
        """React to a prediction; None while the node takes no step, or if it does not care."""
        handler = self.shape.prediction
        if handler is None or values[0][0] != UP:
            return None
        return self._perform(handler[1], stimulus[1:], values, values[0], chooser, again)

    def _reset(self, values: Values, status: int, chooser: Chooser) -> Values:
        """What a crash leaves: the durable fields, the disks, and how far the workload is."""
        left = self.initial()
        for position in self._durables:
            left[position] = values[position]
        for position in self.disks:
            disk = left[position] = self.disk(values, position)
            disk.crash(chooser.pick(len(disk.pending) + 1) if disk.prefix else 0)
        left[0] = (status, values[0][1], UNARMED, None)
        return left

    def _perform(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        values: Values,
        control: Control,
        chooser: Chooser,
        again: Callable[[], Values],
    ) -> Outcome | Fork:
        """Call a handler on a service made of `values` and gather what it did."""
        run = Run(
            self.name, self.shape, self._indices, control[2], chooser, self.codec, self._streams
        )
        service = self._revive(values, run)
        failure = _call(function, service, args, chooser)
        flows, limits = run.end()
        if chooser.beyond is not None:
            return Fork(chooser.beyond)
        if chooser.error is not None:
            raise chooser.error
        if failure is not None:
            brief, full = failure
            # The node stops as it was before; of what it did in this step only logs remain.
            stopped = again()
            stopped[0] = (FAILED, control[1], UNARMED, brief)
            return Outcome(chooser.made, stopped, [], [], full, run.logs, (), limits, chooser.share)
        held = service.__dict__
        if len(held) != len(self.fields):
            raise wrong_fields(self.service, function, self.fields, held)
        try:
            after = [(UP, control[1], run.timers, None), *self._pick(held)]
        except KeyError:
            raise wrong_fields(self.service, function, self.fields, held) from None
        made = chooser.made if chooser.taken else ()
        sends, records, logs = run.sends, run.records, run.logs
        done = (made, after, sends, records, None, logs, flows, limits, chooser.share, run.delays)
        return _new(Outcome, done)

    def _check_same(
        self, before: list[tuple[int, int]], after: list[tuple[int, int]], supplied: int
    ) -> None:
        """Two runs that share all but the last supplied choice have met the same choices."""
        if [n for _, n in after[:supplied]] != [n for _, n in before[:supplied]]:
            raise other_choices(self.name, self.service)


def _call(
    function: Callable[..., Any], service: Service, args: tuple[Any, ...], chooser: Chooser
) -> tuple[str, str] | None:
    """Run user code; how it failed, briefly and in full, or None."""
    token = ACTIVE.set(chooser)
    try:
        chooser.returned = function(service, *args)
    except Beyond:
        pass
    except NOT_THEIRS:
        raise
    except BaseException as error:  # `sys.exit()` and `CancelledError` are the handler's too
        return describe_failure(error, function)
    finally:
        ACTIVE.reset(token)
    return None


def _picker(fields: tuple[str, ...]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """A function from a service's `__dict__` to its field values in declared order."""
    if not fields:
        return lambda held: ()
    if len(fields) == 1:
        (only,) = fields
        return lambda held: (held[only],)
    return itemgetter(*fields)
