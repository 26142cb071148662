"""One node as a pure function: (local state, stimulus, choices) -> (new local state, effects).

Whatever explores or replays calls this and nothing else to run a user's code. A handler runs on a
service rebuilt from the values it is given, and what it did is read off that service afterwards.

Invariant: equal values and stimulus give equal outcomes, and no object that a handler sees or an
outcome holds is shared with another run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from presage._core import Codec
from presage.errors import Nondeterminism, NotState
from presage.model.blame import (
    describe_failure,
    guard_error,
    too_many_branches,
    wrong_fields,
)
from presage.model.choice import NOT_THEIRS, Beyond, Chooser, Fork, following
from presage.model.local import (
    BORN,
    CRASH,
    DOWN,
    FAILED,
    RESET,
    RESTART,
    SILENT,
    UNARMED,
    UP,
    Control,
    Outcome,
    Stimulus,
    Values,
    unchanged,
    unhandled,
)
from presage.model.prototype import encode_prototype, picker
from presage.model.run import Quiet, Run
from presage.model.service import Service
from presage.model.shape import Action, Handler
from presage.model.stream import Connect, Lost, Streams

BRANCHES_MAX = 100_000  # outcomes of one step
EMPTY: Mapping[int, int] = MappingProxyType({})  # no stream holds anything


class Automaton:
    """A node of a system. Holds nothing that changes, except caches."""

    def __init__(
        self,
        index: int,
        name: str,
        prototype: Service,
        *,
        codec: Codec,
        indices: Mapping[str, int],
        workload: Sequence[tuple[str, tuple[Any, ...]]] = (),
        crashes: bool = False,
        restarts: bool = False,
        resets: bool = False,
        silences: bool = False,
        streams: Streams | None = None,
    ) -> None:
        self.index = index
        self.name = name
        self.service: type[Service] = type(prototype)
        self.shape = self.service._presage_shape
        self.codec = codec
        declared = self.shape.fields
        self.fields: tuple[str, ...] = tuple(field.name for field in declared)
        self.positions = {field: at for at, field in enumerate(self.fields, 1)}  # in values
        self.ghosts = frozenset(at for at, f in enumerate(declared, 1) if f.kind == "ghost")
        self.durables = frozenset(at for at, f in enumerate(declared, 1) if f.kind == "durable")
        self.workload = tuple(workload)
        self._crashes = crashes
        self._restarts = restarts
        self._resets = resets
        self._silences = silences
        self._streams = streams
        self._indices = indices
        self.names = tuple(indices)
        self._pick = picker(self.fields)
        self._start = self.service.start if self.shape.starts else None
        self._calls = [
            (getattr(self.service, method), codec.encode(args)) for method, args in self.workload
        ]
        self._initial = encode_prototype(codec, name, prototype, self.positions)
        self._ghosts = sorted(self.ghosts)
        self._durables = sorted(self.durables)
        self.view: type[Any] | None = None  # the class of this node's views, made on first use

    # -- states ------------------------------------------------------------------------------

    def initial(self) -> Values:
        """Fresh values before `start()`."""
        decode = self.codec.decode
        values: Values = [BORN]
        values += map(decode, self._initial)
        return values

    def place(self, position: int) -> str:
        """What stands at `position` of the values, in words: `n0: Server.peers`."""
        what = "control" if position == 0 else self.fields[position - 1]
        return f"{self.name}: {self.service.__name__}.{what}"

    # -- what can happen ---------------------------------------------------------------------

    def stimuli(self, values: Values) -> list[tuple[Stimulus, int | None]]:
        """The enabled internal stimuli in canonical order, faults marked with their index.

        Timers, actions, the next workload call, then crash, restart and resets as far as the
        system's faults allow them at all; what is left of a budget is not known here.
        Uses `values` up.
        """
        status, calls, timers, _ = values[0]
        if status == DOWN:
            return [(("restart",), RESTART)] if self._restarts else []
        if status == FAILED:
            return []
        found: list[tuple[Stimulus, int | None]] = []
        for timer in self._sorted(timers):
            found.append((("timer", *timer), None))
        if self.shape.actions:
            service = self._revive(values, Quiet(self.name, timers))
            for action in self.shape.actions.values():
                found.extend((stimulus, None) for stimulus in self._actions(service, action))
        if calls < len(self.workload):
            found.append((("call",), None))
        if self._crashes:
            found.append((("crash",), CRASH))
        if self._resets:
            found.append((("reset",), RESET))
        if self._silences:
            found.append((("silent",), SILENT))
        return found

    def deliverable(self, values: Values, source: int, message: Any) -> bool:
        """Whether the guard of the message's handler, if any, lets it in. Uses `values` up."""
        status = values[0][0]
        handler = self.shape.handler(type(message))
        if status != UP or handler is None:
            return True
        return self._admits(handler, values, source, message)

    def _admits(self, handler: Handler, values: Values, source: int, message: Any) -> bool:
        if handler.guard is None:
            return True
        service = self._revive(values, Quiet(self.name, values[0][2]))
        args = (service, message, self.names[source])
        return self._ask(handler.guard, args[: handler.guard_takes])

    def _sorted(self, values: Any) -> list[Any]:
        """Distinct `values` in the order of their canonical forms, which no hash seed changes."""
        members = list(values)
        if len(members) < 2:
            return members
        encode = self.codec.encode
        return [member for _, member in sorted({encode(m): m for m in members}.items())]

    def _actions(self, service: Service, action: Action) -> list[Stimulus]:
        guard, takes = action.guard, action.guard_takes
        if guard is not None and takes == 1 and not self._ask(guard, (service,)):
            return []
        if action.over is None:
            return [("action", action.name)]
        over = action.over
        try:
            members = self._sorted(over(service) if callable(over) else over)
        except NotState as error:
            raise error.at(f"{self.name}: {self.service.__name__}.{action.name}(over)") from None
        except NOT_THEIRS:
            raise
        except BaseException as error:
            raise guard_error(over, error) from error
        if guard is not None and takes == 2:
            members = [member for member in members if self._ask(guard, (service, member))]
        return [("action", action.name, member) for member in members]

    def _ask(self, guard: Callable[..., Any], args: tuple[Any, ...]) -> bool:
        try:
            return bool(guard(*args))
        except NOT_THEIRS:
            raise
        except BaseException as error:
            raise guard_error(guard, error) from error

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
        return self._react(again(), stimulus, Chooser(choices, extends=False, held=held), again)

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
        start = partial(self.haunt, fresh, ghosts) if self._ghosts else fresh
        while choices is not None:
            if outcomes:
                stimulus = codec.decode(frozen)
            chooser = Chooser(choices, extends=True, held=held)
            outcome = self._react(start(), stimulus, chooser, start)
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

    def haunt(self, fresh: Callable[[], Values], ghosts: Sequence[bytes] | None = None) -> Values:
        """Fresh values with these ghosts, or with the ghosts' defaults."""
        values = fresh()
        for at, position in enumerate(self._ghosts):
            encoded = self._initial[position - 1] if ghosts is None else ghosts[at]
            values[position] = self.codec.decode(encoded)
        return values

    def ghosts_of(self, values: Values) -> list[bytes]:
        """The ghosts among `values`, encoded, in the order of their positions."""
        return [self.codec.encode(values[position]) for position in self._ghosts]

    def _react(
        self, values: Values, stimulus: Stimulus, chooser: Chooser, again: Callable[[], Values]
    ) -> Outcome | Fork | None:
        """Run what `stimulus` asks for. `again` gives the values as they were before."""
        kind = stimulus[0]
        status, calls, timers, _ = values[0]
        if kind == "deliver":
            _, source, message = stimulus
            handler = self.shape.handler(type(message))
            if status != UP:
                return unchanged(values)
            if isinstance(message, Lost) or (
                isinstance(message, Connect) and Connect not in self.shape.handlers
            ):
                return self._lose(values, message, source, chooser, again)
            if handler is None:
                return unhandled(values, self.service, message, self.names[source])
            if not self._admits(handler, values, source, message):
                return None
            sent = (message, self.names[source]) if handler.with_source else (message,)
            return self._perform(handler.function, sent, values, values[0], chooser, again)
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
            function, encoded = self._calls[calls]
            control = (UP, calls + 1, timers, None)
            args = self.codec.decode(encoded)
            return self._perform(function, args, values, control, chooser, again)
        if kind == "crash":
            return unchanged(self._reset(values, DOWN))
        assert kind in ("start", "restart", "reset", "silent"), f"`{kind}` is no stimulus"
        if kind != "start":
            values = self._reset(values, UP)
        if self._start is None:
            return unchanged(values)
        return self._perform(self._start, (), values, values[0], chooser, again)

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

    def _reset(self, values: Values, status: int) -> Values:
        """What a crash leaves: the durable fields, and how far the workload is."""
        left = self.initial()
        for position in self._durables:
            left[position] = values[position]
        left[0] = (status, values[0][1], UNARMED, None)
        return left

    def _revive(self, values: Values, run: Run | Quiet) -> Service:
        service = object.__new__(self.service)
        service.__dict__ = dict(zip(self.fields, values[1:], strict=True))
        service._run = run
        return service

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
        failure = None
        try:
            function(service, *args)
        except Beyond:
            pass
        except NOT_THEIRS:
            raise
        except BaseException as error:  # `sys.exit()` and `CancelledError` are the handler's too
            failure = describe_failure(error, function)
        if chooser.beyond is not None:
            return Fork(chooser.beyond)
        if chooser.error is not None:
            raise chooser.error
        if failure is not None:
            brief, full = failure
            # The node stops as it was before; of what it did in this step only logs remain.
            stopped = again()
            stopped[0] = (FAILED, control[1], UNARMED, brief)
            return Outcome(chooser.made, stopped, [], [], full, run.logs, (), run.limits)
        held = service.__dict__
        if len(held) != len(self.fields):
            raise wrong_fields(self.service, function, self.fields, held)
        try:
            after = [(UP, control[1], run.timers, None), *self._pick(held)]
        except KeyError:
            raise wrong_fields(self.service, function, self.fields, held) from None
        return Outcome(
            chooser.made,
            after,
            run.sends,
            run.records,
            None,
            run.logs,
            run.flows,
            run.limits,
        )

    # -- what goes wrong ---------------------------------------------------------------------

    def _check_same(
        self, before: list[tuple[int, int]], after: list[tuple[int, int]], supplied: int
    ) -> None:
        """Two runs that share all but the last supplied choice have met the same choices."""
        if [n for _, n in after[:supplied]] != [n for _, n in before[:supplied]]:
            raise Nondeterminism(
                f"{self.name}: with the same state and choices, a handler of"
                f" `{self.service.__name__}` once asked for other choices than before"
            )
