"""A node of a system: what its values are, what it can start by itself, and what it lets in.

What a step then makes of the values is the business of `automaton`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from presage._core import CRASH, DOWN, FAILED, RESET, RESTART, SILENT, SLOW, SLOWED, UP, Codec
from presage.errors import DeletedField, NotState, PresageError, Sharing, UndeclaredField
from presage.model.choice import NOT_THEIRS
from presage.model.service.blame import ask, forgiven, guard_error, guard_writes
from presage.model.service.calls import Call
from presage.model.service.disk import Disk, disk_at
from presage.model.service.live import OwnEvent, checked_neighbours
from presage.model.service.local_state import BORN, Stimulus, Values
from presage.model.service.run import Quiet, Run
from presage.model.service.service import Service
from presage.model.service.shape import Action, Handler
from presage.model.service.stream import Lost
from presage.model.source import place_of
from presage.records import NamedTuple


class Exposed(NamedTuple):
    """Which faults of its own may happen to a node at all."""

    crash: bool = False
    restart: bool = False
    reset: bool = False
    silent: bool = False
    slow: bool = False
    sever: bool = False  # this and the others below: of nodes that run a program
    refuse: bool = False
    terminate: bool = False


UNHARMED = Exposed()
SAMPLED_FIRST, SAMPLED_EVERY = 64, 16  # guards that are watched, as they may only read
GENERIC = "__orig_class__"  # what `typing` leaves in an instance of `Store[int]`


class Node:
    """One addressable process. Holds nothing that changes, except caches and a count."""

    opaque = False  # whether it runs a program instead of handlers: there is no more to see

    def __init__(
        self,
        index: int,
        name: str,
        prototype: Service,
        *,
        codec: Codec,
        indices: Mapping[str, int],
        workload: Sequence[Call] = (),
        exposed: Exposed = UNHARMED,
    ) -> None:
        self.index = index
        self.name = name
        self.service: type[Service] = type(prototype)
        self.shape = self.service._presage_shape
        self.codec = codec
        kinds = [field.kind for field in self.shape.fields]
        self.fields: tuple[str, ...] = tuple(field.name for field in self.shape.fields)
        self.positions = {field: at for at, field in enumerate(self.fields, 1)}  # in values
        self._places = tuple(enumerate(self.fields, 1))
        self.ghosts = frozenset(at for at, kind in enumerate(kinds, 1) if kind == "ghost")
        self.durables = frozenset(at for at, kind in enumerate(kinds, 1) if kind == "durable")
        self.disks = tuple(at for at, kind in enumerate(kinds, 1) if kind == "disk")
        self.shown = {  # as `positions`, of what people see
            field.name: at for at, field in enumerate(self.shape.fields, 1) if not field.hidden
        }
        self.omitted = frozenset(  # what checkpoints leave out
            at for at, field in enumerate(self.shape.fields, 1) if not field.checkpoint
        )
        self.workload = tuple(workload)
        self.names = tuple(indices)
        self.exposed = exposed
        self._indices = indices
        self._initial = _encode_prototype(codec, name, prototype, self.positions)
        self._asked = 0  # how often a guard
        self.view: type[Any] | None = None  # the class of this node's views, made on first use

    # -- values ------------------------------------------------------------------------------

    def initial(self) -> Values:
        """Fresh values before `start()`."""
        decode = self.codec.decode
        values: Values = [BORN]
        values += map(decode, self._initial)
        return values

    def aspect(self, word: str) -> str:
        """The name under which `up`, `timers` or `slow` of a node is shown beside its fields."""
        return f"({word})" if word in self.positions else word

    def place(self, position: int) -> str:
        """What stands at `position` of the values, in words: `n0: Server.peers`."""
        what = "control" if position == 0 else self.fields[position - 1]
        return f"{self.name}: {self.service.__name__}.{what}"

    def function(self, stimulus: Stimulus, values: Values) -> Callable[..., Any] | None:
        """What `stimulus` runs in a node with these values; None if nothing."""
        kind, shape = stimulus[0], self.shape
        if kind == "deliver":
            handler = shape.handler(type(stimulus[2]))
            if handler is None and isinstance(stimulus[2], Lost) and shape.broken:
                return shape.broken[1]
            return handler.function if handler else None
        if kind == "timer":
            return shape.timers[stimulus[1]].function
        if kind == "action":
            return shape.actions[stimulus[1]].function
        if kind == "call":
            method = stimulus[1] if len(stimulus) > 1 else self.workload[values[0][1]].method
            return getattr(self.service, method, None)
        if kind == "write":
            return shape.written.function if shape.written else None
        if kind == "prediction":
            return shape.prediction[1] if shape.prediction else None
        begins = kind in ("start", "restart", "reset", "silent") and shape.starts
        return self.service.start if begins else None

    def where(self, stimulus: Stimulus, values: Values) -> str:
        """Which code `stimulus` runs, in words: `a.py:3: `Server.voted``."""
        function = self.function(stimulus, values)
        if function is None:
            return f"{self.name}: {self.service.__name__}"
        return f"{place_of(function)}: `{self.service.__name__}.{function.__name__}`"

    def shared_by(self, stimulus: Stimulus, values: Values, error: Sharing) -> Sharing:
        """A step from `values` left one mutable object in two places of the state."""
        return error.at(self.where(stimulus, values), self.fields)

    def disk(self, values: Values, position: int) -> Disk:
        return disk_at(values, position, self.place)

    def _revive(self, values: Values, run: Run | Quiet) -> Service:
        service = object.__new__(self.service)
        held = service.__dict__
        for position, field in self._places:
            held[field] = values[position]
        service._run = run
        return service

    def ask(self, method: Callable[..., Any], values: Values) -> Any:
        """What a method that only reads says of these values. Uses `values` up."""
        return method(self._revive(values, Quiet(self.name, values[0][2])))

    # -- running live ------------------------------------------------------------------------

    def neighbours(self, values: Values) -> tuple[str, ...] | None:
        """Whom the node says it deals with; None if it does not say. Uses `values` up."""
        method = self.shape.neighbours
        if method is None:
            return None
        place = f"{self.name}: {self.service.__name__}"
        return checked_neighbours(self.ask(method, values), self.name, self.names, place)

    def own_event(self, stimulus: Stimulus, values: Values) -> OwnEvent:
        """A stimulus of a node with these values, as a `PredictedViolation` tells it."""
        kind = stimulus[0]
        if kind == "deliver":
            source = self.names[stimulus[1]]
            lost = isinstance(stimulus[2], Lost)
            return ("broken", source) if lost else ("message", source, stimulus[2])
        if kind == "call":
            method = stimulus[1] if len(stimulus) > 1 else self.workload[values[0][1]].method
            return ("call", method)
        return ("silent_reset",) if kind == "silent" else stimulus

    # -- what can happen ---------------------------------------------------------------------

    def stimuli(self, values: Values) -> list[tuple[Stimulus, int | None]]:
        """The enabled internal stimuli in canonical order, faults marked with their index.

        What the node does by itself, then faults as far as the system allows them at all; what is
        left of a budget is not known here. Uses `values` up.
        """
        status = values[0][0]
        exposed = self.exposed
        if status == DOWN:
            return [(("restart",), RESTART)] if exposed.restart else []
        if status == FAILED:
            return []
        found: list[tuple[Stimulus, int | None]] = (
            [(("wake",), None)] if status == SLOW else self._own(values)
        )
        if exposed.crash:
            found.append((("crash",), CRASH))
        if exposed.reset:
            found.append((("reset",), RESET))
        if exposed.silent:
            found.append((("silent",), SILENT))
        if exposed.slow and status == UP:
            found.append((("slow",), SLOWED))
        return found

    def _own(self, values: Values) -> list[tuple[Stimulus, int | None]]:
        """Timers, actions, the next workload call, and the next write of each disk."""
        _, calls, timers, _ = values[0]
        found: list[tuple[Stimulus, int | None]] = []
        for timer in self._sorted(timers):
            found.append((("timer", *timer), None))
        if self.shape.actions:
            for stimuli in self.actions(values):
                found.extend((stimulus, None) for stimulus in stimuli)
        if calls < len(self.workload) and self.wants(self.workload[calls], values):
            found.append((("call",), None))
        for position in self.disks:
            pending = self.disk(values, position).pending
            if pending:
                found.append((("write", self.fields[position - 1], pending[0][0]), None))
        return found

    def actions(self, values: Values) -> Iterator[list[Stimulus]]:
        """Per action, in declared order, what its guard lets happen now. Uses `values` up."""
        service = self._revive(values, Quiet(self.name, values[0][2]))
        for action in self.shape.actions.values():
            yield self._actions(service, action, values)

    def wants(self, call: Call, values: Values) -> bool:
        """Whether the guard of a call of the workload lets it be made. Uses `values` up."""
        if call.when is None:
            return True
        service = self._revive(values, Quiet(self.name, values[0][2]))
        return self._allows(call.when, (service,), values)

    def deliverable(self, values: Values, source: int, message: Any) -> bool:
        """Whether the guard of the message's handler, if any, lets it in. Uses `values` up."""
        status = values[0][0]
        handler = self.shape.handler(type(message))
        if status != UP or handler is None:
            return bool(status != SLOW)
        return self._admits(handler, values, source, message)

    def _admits(self, handler: Handler, values: Values, source: int, message: Any) -> bool:
        """Whether the guard of a message's handler, if any, lets it in."""
        if handler.guard is None:
            return True
        service = self._revive(values, Quiet(self.name, values[0][2]))
        args = (service, message, self.names[source])
        return self._allows(handler.guard, args[: handler.guard_takes], values)

    def _allows(self, guard: Callable[..., Any], args: tuple[Any, ...], values: Values) -> bool:
        """What a guard says, given a service made of `values`, and more; it may only read."""
        before = self._sampled(values)
        answer = ask(guard, args)
        if before is not None:
            self._check_only_read(guard, args[0], values, before)
        return answer

    def _sampled(self, values: Values) -> bytes | None:
        """What the values hold, for a share of all guards that are asked."""
        self._asked += 1
        if self._asked > SAMPLED_FIRST and self._asked % SAMPLED_EVERY:
            return None
        return self.codec.encode(values)

    def _check_only_read(self, guard: Any, service: Service, values: Values, before: bytes) -> None:
        """Refuse a guard, or `over`, that changed the service made of `values`."""
        held = service.__dict__
        for position, field in self._places:
            if field not in held or held[field] is not values[position]:
                raise guard_writes(guard, f"sets `self.{field}`")
        for field in held:
            if field not in self.positions:
                raise guard_writes(guard, f"sets `self.{field}`")
        if self.codec.encode(values) != before:
            raise guard_writes(guard, "changes what a field holds")

    def _sorted(self, values: Any) -> list[Any]:
        """Distinct `values` in the order of their canonical forms, which no hash seed changes."""
        members = list(values)
        if len(members) < 2:
            return members
        encode = self.codec.encode
        return [member for _, member in sorted({encode(m): m for m in members}.items())]

    def _members(self, service: Service, action: Action) -> list[Any]:
        """The values of an action's `over`, in canonical order."""
        over = action.over
        try:
            return self._sorted(over(service) if callable(over) else over)
        except NotState as error:
            raise error.at(f"{self.name}: {self.service.__name__}.{action.name}(over)") from None
        except NOT_THEIRS:
            raise
        except BaseException as error:
            raise guard_error(over, error) from error

    def _actions(self, service: Service, action: Action, values: Values) -> list[Stimulus]:
        guard, takes = action.guard, action.guard_takes
        if guard is not None and takes == 1 and not self._allows(guard, (service,), values):
            return []
        if action.over is None:
            return [("action", action.name)]
        try:
            before = self._sampled(values)
            members = self._members(service, action)
            if before is not None:
                self._check_only_read(action.over, service, values, before)
        except PresageError as error:
            refused = forgiven((action.over, (service,)), error)
            return [("action", action.name)] if refused else []
        if guard is not None and takes == 2:
            members = [m for m in members if self._allows(guard, (service, m), values)]
        return [("action", action.name, member) for member in members]


def _encode_prototype(
    codec: Codec, node: str, prototype: Any, positions: Mapping[str, int]
) -> list[bytes]:
    """The values of the declared fields, encoded; refuse a prototype that holds other ones."""
    held, service = prototype.__dict__, type(prototype).__name__
    for field in held:
        if field not in positions and field != GENERIC:
            raise UndeclaredField(service, field, f"node `{node}`: the prototype", "has")
    for field in positions:
        if field not in held:
            raise DeletedField(service, field, f"node `{node}`: something")
    fields = tuple(positions)
    try:
        return codec.encode_fields([None, *(held[field] for field in fields)])[1:]
    except NotState as error:
        raise error.at(f"{node}: {service}.{fields[error.position - 1]}") from None
    except Sharing as error:
        raise error.at(f"node `{node}`: the prototype", fields) from None
