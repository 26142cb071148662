"""What the kernel asks a user's scheduler: each question once, some twice, all answers checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, Protocol

from presage._core import Codec
from presage.errors import BadScheduler
from presage.model.service.local_state import Stimulus
from presage.model.world.lane import lane_of
from presage.model.world.system import System
from presage.process.histories import Histories
from presage.search.delay.scheduler import Ran, Scheduler, Task

RANK_MAX = 255
TWICE_FIRST, TWICE_EVERY = 256, 16  # questions that are asked a second time


class TaskNames(Protocol):
    """What tasks are called."""

    codec: Codec

    def place(self, node: str) -> int:
        """Where a node or process stands among all."""

    def task(self, key: int, node: int, stimulus: Stimulus) -> Task:
        """What the kernel asks about."""


class ServiceTasks:
    """What happens to the nodes of a system."""

    def __init__(self, system: System) -> None:
        self._system, self.codec, self.place = system, system.codec, system.index

    def task(self, key: int, node: int, stimulus: Stimulus) -> Task:
        names, (kind, *rest) = self._system.names, stimulus
        if kind == "deliver" and self._system.network == "ordered":
            return Task(key, "channel", names[node], names[rest[0]])
        if kind == "deliver" and self._system.network == "lanes":
            lane = lane_of(rest[1])
            if lane is not None:
                return Task(key, "channel", names[node], names[rest[0]], args=(lane,))
        if kind == "receive":
            return Task(key, "stream", names[node], names[rest[0]])
        if kind == "lost":
            return Task(key, "stream", names[rest[0]], names[node])
        if kind == "deliver":
            source, message = rest
            called = type(message).__name__
            return Task(key, kind, names[node], names[source], called, (), message)
        return Task(key, kind, names[node], "", str(rest[0]) if rest else "", tuple(rest[1:]))


class ProcessTasks:
    """The processes of a program."""

    def __init__(self, histories: Histories) -> None:
        self._names, self.codec = histories.names, histories.program.codec

    def place(self, node: str) -> int:
        return self._names.of(node)

    def task(self, key: int, node: int, stimulus: Stimulus) -> Task:
        return Task(key, stimulus[0], self._names.kept[node])


class Asked:
    """Names tasks, numbers the states of a scheduler, and holds it to its contract."""

    def __init__(self, names: TaskNames, scheduler: Scheduler, run: Callable[..., Any]) -> None:
        self.runs = 0
        self._names, self._scheduler, self._run = names, scheduler, run
        self._tasks: dict[int, Task] = {}
        self._states: dict[int, Any] = {}
        self._numbers: dict[bytes, int] = {}
        self._unused = count()

    @property
    def states(self) -> int:
        return len(self._numbers)

    # -- called by the kernel --------------------------------------------------------------------

    def rank(self, key: int, node: int, stimulus: Stimulus) -> int:
        """The rank of a task that is met for the first time."""
        task = self._names.task(key, node, stimulus)
        self._tasks.setdefault(key, task)
        if self._scheduler.is_whole:
            return 0
        rank = self._answer("rank", task)
        if not isinstance(rank, int) or not 0 <= rank <= RANK_MAX:
            raise self._bad(
                f"`rank` gave {rank!r} for {task}",
                "something else than a whole number, or one that is too large",
                f"give a number from 0 to {RANK_MAX}",
            )
        return rank

    def start(self, keys: Sequence[int]) -> int:
        return self._number(self._answer("start", self._sorted(keys)))

    def step(self, state: int, ran: int | None, before: Sequence[int], after: Sequence[int]) -> int:
        came, went = {*after} - {*before}, {*before} - {*after}
        task = None if ran is None else self._tasks[ran]
        step = Ran(task, self._sorted(came), self._sorted(went))
        return self._number(self._answer("step", self._states[state], step))

    def arrange(self, state: int, keys: Sequence[int]) -> tuple[list[int], list[int]]:
        """The keys in the order that delays bring, and the number of the state before each."""
        tasks, order, states = self._sorted(keys), list[int](), [state]
        for position in range(len(keys)):
            if position:
                states.append(self._number(self._answer("delay", self._states[states[-1]], tasks)))
            task = self._answer("next", self._states[states[-1]], tasks)
            if not isinstance(task, Task) or task not in tasks:
                raise self._bad(
                    f"`next` gave {task} in the state {self._states[states[-1]]!r}",
                    "a task that is not possible there, or none",
                    f"give one of {_listed(tasks)}",
                )
            if task.key in order:
                left = [other for other in tasks if other.key not in order]
                raise self._bad(
                    f"after {position} delays from the state {self._states[state]!r} `next` gave"
                    f" {task} again, and not yet {_listed(left)}",
                    "`delay` does not put a task off behind all others",
                    "let n - 1 delays make each of n tasks next, once",
                )
            order.append(task.key)
        return order, states

    # -- the scheduler ---------------------------------------------------------------------------

    def _answer(self, method: str, *args: Any) -> Any:
        self.runs += 1
        ask = getattr(self._scheduler, method, None)
        if ask is None:
            raise self._bad(
                f"it has `next`, and no `{method}`",
                "a scheduler that decides everything has `start`, `next`, `delay` and `step`",
                f"write `{method}`, or leave out `next` and give `rank`",
            )
        answer = self._run(ask, *args)
        if self.runs < TWICE_FIRST or self.runs % TWICE_EVERY == 0:
            again = self._run(ask, *args)
            if self._encoded(again) != self._encoded(answer):
                shown = ", ".join(map(_shown, args))
                raise self._bad(
                    f"`{method}({shown})` gave {answer!r}, then {again!r}",
                    "a state that is changed in place, or something random",
                    "make it a function of its arguments",
                )
        return answer

    def _encoded(self, value: Any) -> bytes:
        return self._names.codec.encode(value.key if isinstance(value, Task) else value)

    def _number(self, state: Any) -> int:
        form = self._encoded(state)
        if not self._names.codec.immutable(form):
            raise self._bad(
                f"the state {state!r} can be changed",
                "a list, set or dict as the state of a scheduler",
                "use tuples, frozensets and other immutable values",
            )
        # Threads of the search ask at the same time: the first of them decides.
        number = self._numbers.setdefault(form, next(self._unused))
        self._states.setdefault(number, state)
        return number

    def _sorted(self, keys: Iterable[int]) -> tuple[Task, ...]:
        tasks = [self._tasks[key] for key in keys]
        place = self._names.place
        return tuple(sorted(tasks, key=lambda task: (place(task.node), *map(str, _parts(task)))))

    def _bad(self, fact: str, cause: str, remedy: str) -> BadScheduler:
        return BadScheduler(f"scheduler `{type(self._scheduler).__name__}`: {fact}", cause, remedy)


def _parts(task: Task) -> tuple[Any, ...]:
    return (task.kind, task.source, task.name, task.args, task.message, task.key)


def _listed(tasks: Iterable[Task]) -> str:
    return ", ".join(map(str, tasks))


def _shown(value: Any) -> str:
    many = isinstance(value, tuple) and all(isinstance(each, Task) for each in value)
    return f"[{_listed(value)}]" if many else repr(value)
