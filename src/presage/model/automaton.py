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
from typing import Any

from presage._core import Codec
from presage.errors import (
    DeletedField,
    Nondeterminism,
    NotState,
    UndeclaredField,
)
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
    RESTART,
    UNARMED,
    UP,
    Control,
    Outcome,
    Stimulus,
    Values,
    unchanged,
)
from presage.model.run import Quiet, Run
from presage.model.service import Service
from presage.model.shape import Action, Handler

BRANCHES_MAX = 100_000  # outcomes of one step


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
        self._indices = indices
        self.names = tuple(indices)
        self._pick = _picker(self.fields)
        self._start = self.service.start if self.shape.starts else None
        self._calls = [
            (getattr(self.service, method), codec.encode(args)) for method, args in self.workload
        ]
        self._initial = self._encode_prototype(prototype)
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

    def _encode_prototype(self, prototype: Service) -> list[bytes]:
        held = prototype.__dict__
        for field in held:
            if field not in self.positions:
                raise UndeclaredField(
                    self.service.__name__, field, f"node `{self.name}`: the prototype", "has"
                )
        encoded = []
        for field, position in self.positions.items():
            if field not in held:
                raise DeletedField(self.service.__name__, field, f"node `{self.name}`: something")
            try:
                encoded.append(self.codec.encode(held[field]))
            except NotState as error:
                raise error.at(self.place(position)) from None
        return encoded

    # -- what can happen ---------------------------------------------------------------------

    def stimuli(self, values: Values) -> list[tuple[Stimulus, int | None]]:
        """The enabled internal stimuli in canonical order, faults marked with their index.

        Timers, actions, the next workload call, then crash and restart as far as the system's
        faults allow them at all; what is left of a budget is not known here. Uses `values` up.
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
        self, values: Values, stimulus: Stimulus, choices: Sequence[int] = ()
    ) -> Outcome | Fork | None:
        """One run, on a copy of `values`; None if a guard does not let the message in.

        `Fork(n)`: the run wants a choice among n beyond `choices`; it is as if it never was.
        """
        codec = self.codec
        frozen = codec.encode(values)
        stimulus = codec.decode(codec.encode(stimulus))
        again = partial(codec.decode, frozen)
        return self._react(again(), stimulus, Chooser(choices, extends=False), again)

    def branches(
        self,
        fresh: Callable[[], Values],
        stimulus: Stimulus,
        ghosts: Sequence[bytes] | None = None,
    ) -> list[Outcome] | None:
        """Every run, one per list of choices, depth first; None if a guard does not let it in.

        `fresh` returns the same values on each call, as new objects. Ghosts start from their
        defaults here, or from `ghosts` (encoded, in the order of their positions): a search does
        not know the ones a particular execution would have.
        """
        codec = self.codec
        frozen = codec.encode(stimulus)
        outcomes: list[Outcome] = []
        choices: list[int] | None = []
        start = partial(self.haunt, fresh, ghosts) if self._ghosts else fresh
        while choices is not None:
            if outcomes:
                stimulus = codec.decode(frozen)
            chooser = Chooser(choices, extends=True)
            outcome = self._react(start(), stimulus, chooser, start)
            if outcome is None:
                return None
            assert not isinstance(outcome, Fork), "an extending chooser never runs out"
            if outcomes:
                self._check_same(outcomes[-1], outcome, len(choices))
            outcomes.append(outcome)
            if len(outcomes) > BRANCHES_MAX:
                raise too_many_branches(self.name, stimulus[0], BRANCHES_MAX)
            choices = following(outcome.choices)
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
            if handler is None:
                return self._unhandled(values, message, source)
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
        assert kind in ("start", "restart"), f"`{kind}` is no stimulus"
        if kind == "restart":
            values = self._reset(values, UP)
        if self._start is None:
            return unchanged(values)
        return self._perform(self._start, (), values, values[0], chooser, again)

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
        run = Run(self.name, self.shape, self._indices, control[2], chooser, self.codec)
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
            return Outcome(tuple(chooser.taken), stopped, [], [], full, run.logs)
        held = service.__dict__
        if len(held) != len(self.fields):
            raise wrong_fields(self.service, function, self.fields, held)
        try:
            after = [(UP, control[1], run.timers, None), *self._pick(held)]
        except KeyError:
            raise wrong_fields(self.service, function, self.fields, held) from None
        return Outcome(tuple(chooser.taken), after, run.sends, run.records, None, run.logs)

    # -- what goes wrong ---------------------------------------------------------------------

    def _unhandled(self, values: Values, message: Any, source: int) -> Outcome:
        kind = type(message).__name__
        values[0] = (FAILED, values[0][1], UNARMED, f"Unhandled {kind}")
        text = (
            f"Unhandled: `{self.service.__name__}` has no handler for `{kind}`,"
            f" sent by {self.names[source]}"
        )
        return Outcome((), values, [], [], text, [])

    def _check_same(self, before: Outcome, after: Outcome, supplied: int) -> None:
        """Two runs that share all but the last supplied choice have met the same choices."""
        counts = [n for _, n in after.choices[:supplied]]
        if counts != [n for _, n in before.choices[:supplied]]:
            raise Nondeterminism(
                f"{self.name}: with the same state and choices, a handler of"
                f" `{self.service.__name__}` once asked for other choices than before"
            )


def _picker(fields: tuple[str, ...]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """A function from a service's `__dict__` to its field values in declared order."""
    if not fields:
        return lambda held: ()
    if len(fields) == 1:
        (only,) = fields
        return lambda held: (held[only],)
    return itemgetter(*fields)
