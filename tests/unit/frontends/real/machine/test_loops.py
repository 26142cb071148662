"""asyncio in a simulated process does what it does on a real loop: order, names, results.

Generated programs run twice: in a simulated process, and on a plain loop with real selectors whose
waits are skipped. Every line they log must be the same.
"""

import asyncio
import selectors
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from unit.frontends.real.machine.fair_driver import Table, effects, process_of, table

from presage.frontends.real.machine.effects import Options

QUEUES, LOCKS, EVENTS, TASKS = 2, 2, 2, 5

pytestmark = pytest.mark.usefixtures(table.__name__)


class Skipping(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    """A real selector that does not wait: it moves a clock."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found and timeout is not None and timeout > 0:
            self.now += timeout
        return found


class Numbered(asyncio.Task):  # type: ignore[type-arg]
    """A task with a place in sets: by address, the order of sets would be anyone's guess."""

    number = 0

    def __hash__(self) -> int:
        return self.number


class Plain(asyncio.SelectorEventLoop):
    """CPython's loop, on a clock that jumps."""

    def __init__(self) -> None:
        super().__init__(Skipping())
        self.set_task_factory(self._numbered)  # type: ignore[arg-type]
        self._numbers = 0

    def create_future(self) -> Any:
        self._numbers += 1  # futures count, too
        return super().create_future()

    def _numbered(self, loop: Any, coro: Any, **named: Any) -> Any:
        self._numbers += 1
        task = Numbered.__new__(Numbered)
        task.number = self._numbers
        task.__init__(coro, loop=loop, **named)  # type: ignore[misc]
        return task

    def time(self) -> float:
        return float(self._selector.now)  # type: ignore[attr-defined]


def operation(random: Random, depth: int) -> tuple[Any, ...]:
    kinds = "sleep put get lock set wait cancel yield raise call".split()
    if depth:
        kinds += ["timeout", "gather", "shield", "group", "wait_first"]
    kind = random.choice(kinds)
    number = random.randrange(2)
    seconds = random.choice([0, 0.25, 0.5, 1, 3])
    inner = [operation(random, depth - 1) for _ in range(random.randint(1, 3))] if depth else []
    if kind == "cancel":
        number = random.randrange(TASKS)
    return kind, number, seconds, inner


def program(seed: int) -> list[list[tuple[Any, ...]]]:
    random = Random(seed)
    return [[operation(random, 2) for _ in range(random.randint(1, 5))] for _ in range(TASKS)]


class Interpreter:
    """Runs a generated program, and logs each step."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self.queues = [asyncio.Queue[str](1) for _ in range(QUEUES)]
        self.locks = [asyncio.Lock() for _ in range(LOCKS)]
        self.events = [asyncio.Event() for _ in range(EVENTS)]
        self.tasks: list[asyncio.Task[None]] = []

    async def run(self, name: str, operations: list[tuple[Any, ...]]) -> str:
        for at, (kind, number, seconds, inner) in enumerate(operations):
            here = f"{name}.{at}"
            self._log(f"{asyncio.get_running_loop().time()} {here} {kind}")
            try:
                result = await getattr(self, f"_{kind}")(here, number, seconds, inner)
                self._log(f"{here} {kind} gave {result}")
            except asyncio.CancelledError:
                self._log(f"{here} cancelled")
                raise
            except Exception as error:
                self._log(f"{here} {type(error).__name__} {error}")
        return name

    async def _sleep(self, here: str, number: int, seconds: float, inner: Any) -> None:
        await asyncio.sleep(seconds)

    async def _yield(self, here: str, number: int, seconds: float, inner: Any) -> None:
        await asyncio.sleep(0)

    async def _put(self, here: str, number: int, seconds: float, inner: Any) -> None:
        await self.queues[number].put(here)

    async def _get(self, here: str, number: int, seconds: float, inner: Any) -> Any:
        return await self.queues[number].get()

    async def _lock(self, here: str, number: int, seconds: float, inner: Any) -> None:
        async with self.locks[number]:
            await asyncio.sleep(seconds)

    async def _set(self, here: str, number: int, seconds: float, inner: Any) -> None:
        self.events[number].set()

    async def _wait(self, here: str, number: int, seconds: float, inner: Any) -> Any:
        return await asyncio.wait_for(self.events[number].wait(), 2)

    async def _cancel(self, here: str, number: int, seconds: float, inner: Any) -> Any:
        return self.tasks[number].cancel()

    async def _raise(self, here: str, number: int, seconds: float, inner: Any) -> None:
        raise ValueError(here)

    async def _call(self, here: str, number: int, seconds: float, inner: Any) -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(self._log, f"{here} soon")
        loop.call_later(seconds, self._log, f"{here} later")

    async def _timeout(self, here: str, number: int, seconds: float, inner: Any) -> Any:
        async with asyncio.timeout(seconds):
            return await self.run(here, inner)

    async def _gather(self, here: str, number: int, seconds: float, inner: Any) -> Any:
        parts = [self.run(f"{here}.{at}", [each]) for at, each in enumerate(inner)]
        return await asyncio.gather(*parts, return_exceptions=bool(number))

    async def _shield(self, here: str, number: int, seconds: float, inner: Any) -> Any:
        return await asyncio.shield(asyncio.create_task(self.run(here, inner)))

    async def _group(self, here: str, number: int, seconds: float, inner: Any) -> None:
        async with asyncio.TaskGroup() as group:
            for at, each in enumerate(inner):
                group.create_task(self.run(f"{here}.{at}", [each]))

    async def _wait_first(self, here: str, number: int, seconds: float, inner: Any) -> Any:
        parts = [
            asyncio.create_task(self.run(f"{here}.{at}", [each])) for at, each in enumerate(inner)
        ]
        done, pending = await asyncio.wait(
            parts, timeout=seconds or None, return_when=asyncio.FIRST_COMPLETED
        )
        return len(done), len(pending)

    async def main(self, operations: list[list[tuple[Any, ...]]]) -> None:
        self.tasks = [
            asyncio.create_task(self.run(str(at), each)) for at, each in enumerate(operations)
        ]
        await asyncio.wait(self.tasks, timeout=20)
        for each in self.tasks:
            each.cancel()
        results = await asyncio.gather(*self.tasks, return_exceptions=True)
        self._log(f"{[result if isinstance(result, str) else repr(result) for result in results]}")


async def logged(operations: list[list[tuple[Any, ...]]], kept: list[str]) -> None:
    """Keep what a program logs until its end; closing a loop adds lines, in any order."""
    log: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    await Interpreter(log.append).main(operations)
    kept.extend(log)


def plainly(operations: list[list[tuple[Any, ...]]]) -> list[str]:
    kept: list[str] = []
    with asyncio.Runner(loop_factory=Plain) as runner:
        runner.run(logged(operations, kept))
    return kept


def simulated(operations: list[list[tuple[Any, ...]]]) -> list[str]:
    kept: list[str] = []
    effects(lambda: asyncio.run(logged(operations, kept)))
    return kept


def compare(seeds: range) -> None:
    with Table():
        for seed in seeds:
            operations = program(seed)
            lines = simulated(operations)
            assert lines and lines == plainly(operations), seed


def test_generated_programs_log_the_same_lines_as_on_a_real_loop() -> None:
    compare(range(40))


@pytest.mark.slow
def test_five_hundred_generated_programs_log_the_same_lines_as_on_a_real_loop() -> None:
    compare(range(40, 540))


def test_callbacks_never_change_places() -> None:
    """A program that relies on the order of `call_soon` has no report, whatever comes."""
    found: list[int] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for number in range(100):
            loop.call_soon(found.append, number)
            if number % 10 == 0:
                await asyncio.sleep(0.1 if number % 20 else 0)
        await asyncio.sleep(0)

    effects(lambda: asyncio.run(main()))
    assert found == list(range(100))


def test_sets_of_tasks_iterate_in_the_order_of_creation_and_names_are_counted_per_process() -> None:
    found: list[list[str]] = []

    async def sleeps(seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def main() -> None:
        padding = [bytearray(n * 64) for n in range(len(found) * 7)]
        tasks = {asyncio.create_task(sleeps(n % 3)) for n in range(20)}
        done, pending = await asyncio.wait(tasks, timeout=1.5)
        names = [
            each.get_name() for group in (done, pending, asyncio.all_tasks()) for each in group
        ]
        found.append(names + [str(len(padding) >= 0)])
        futures = {asyncio.get_running_loop().create_future() for _ in range(9)}
        found[-1] += [str(hash(each)) for each in futures]

    for _ in range(3):
        effects(lambda: asyncio.run(main()))
    assert found[0] == found[1] == found[2]
    assert found[0][0] == "Task-2"


def test_a_program_may_make_its_own_loop_and_keep_it_as_the_current_one() -> None:
    def program() -> None:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        print(asyncio.get_event_loop_policy().get_event_loop() is loop)
        print(loop.run_until_complete(asyncio.sleep(1, "slept")), loop.get_task_factory())
        loop.close()

    before = asyncio.get_event_loop_policy()
    assert effects(program).logs == ["True", "slept None"]
    assert asyncio.get_event_loop_policy() is before


def test_every_iteration_may_be_a_step() -> None:
    async def main() -> None:
        for _ in range(3):
            await asyncio.sleep(0)

    process = process_of(lambda: asyncio.run(main()), options=Options(granularity="iteration"))
    steps = 0
    with Table():
        process.begin()
        while not process.ended:
            assert process.own_events() == [("go on",)]
            process.go(("go on",))
            steps += 1
    assert steps >= 4
