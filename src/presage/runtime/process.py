"""One node as a process: its folder, its sockets, its commands, and how it ends.

Exit statuses are those of all commands: 0 it was asked to end, 1 its code failed, 2 it could not
begin or go on, 4 a fault of presage. Whatever ends it, peers see their connections reset.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import signal
import sys
import traceback
import typing
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from presage._core import Codec
from presage.errors import CannotListen, CommandRefused, PresageError, explain
from presage.execution.sandbox import NOW, Sandbox
from presage.model.service.down import hears
from presage.model.world.system import System
from presage.runtime.admission import admit
from presage.runtime.ahead import Ahead
from presage.runtime.clock import Clock
from presage.runtime.cluster import Cluster
from presage.runtime.control import CONTROL, Control, Request
from presage.runtime.driver import Driver
from presage.runtime.durable import Durable
from presage.runtime.frame import HEADER
from presage.runtime.host import Host
from presage.runtime.inspection import inspector
from presage.runtime.listening import Sockets
from presage.runtime.log import STEPS, LogFile, StepLog
from presage.runtime.metrics import measure
from presage.runtime.node import LiveNode
from presage.runtime.oracle import Oracle
from presage.runtime.snapshot import as_trace
from presage.runtime.step import Options, Reply
from presage.runtime.store import FileStore
from presage.runtime.vocabulary import teach
from presage.search.checkpoint.code_digest import Definition
from presage.trace import codec

EXIT_FAILED = 1
SNAPSHOTS_MAX = 5  # attempts, as long as checkpoints do not fit together
LOOK_EVERY = 0.01  # seconds, for checkpoints that are under way
EXIT_OURS = 4


def _ignore(text: str) -> None:
    """For nodes that nobody looks at."""


class Task(Struct, frozen=True):
    """What every node of a cluster is given."""

    system: System
    definition: Definition
    cluster: Cluster
    seed: int = 0
    workload: float | None = None  # calls a second, of those that the system declares
    target: str = ""  # where the system comes from, for traces
    parameters: dict[str, Any] = {}
    say: Callable[[str], None] = _ignore  # to people who look after the node


def run(task: Task, name: str, stops: Iterable[int], sockets: Sockets | None = None) -> int:
    """Run one node until it fails or one of the signals `stops` comes; gives the exit status.

    `sockets` are those at its address, if somebody has them already.
    """
    sockets = sockets or Sockets(name, task.cluster.nodes[name])
    steer = task.cluster.steer
    ahead = steer is not None and steer.mode != "off" and steer.predicts
    # Before there is any thread:
    oracle = Oracle(task.system, name, task.target or None, sockets) if ahead else None
    try:
        with Sandbox(task.cluster.live.handler_seconds) as sandbox:
            process = _Process(task, name, sandbox.run, tuple(stops), sockets, oracle)
            return loop_run(process.main())
    finally:
        if oracle is not None:
            oracle.close()


def loop_run(main: Coroutine[Any, Any, int]) -> int:
    """Run to the end on an event loop; on the faster one if it is installed."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with contextlib.suppress(ImportError):
        import uvloop  # type: ignore[import-not-found,unused-ignore]

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


def deafen(stops: Iterable[int]) -> None:
    """Ignore signals that ask for the end: it has come. To be called by the running loop.

    Who signals a whole group reaches a command twice, the second time through its parent; without
    its loop that would kill it.
    """
    loop = asyncio.get_running_loop()
    for number in stops:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)


class _Process:
    def __init__(
        self,
        task: Task,
        name: str,
        runner: Callable[..., Any],
        stops: tuple[int, ...],
        sockets: Sockets,
        oracle: Oracle | None,
    ) -> None:
        self._oracle = oracle
        self._task = task
        self._name = name
        self._runner = runner
        self._stops = stops
        self._sockets = sockets
        self._folder = task.cluster.folder_of(name)
        self._fault: BaseException | None = None

    async def main(self) -> int:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._unexpected)
        loop.time = NOW  # type: ignore[method-assign]  # not the one that handlers may not call
        stop = asyncio.Event()
        for number in self._stops:
            loop.add_signal_handler(number, stop.set)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        control = Control(self._folder / CONTROL, self._handle)
        await control.start()
        driver = self._driver = Driver(self._make, self._task.cluster, self._say)
        worker: asyncio.Task[None] | None = None
        steps = LogFile(self._folder / STEPS) if self._task.cluster.live.steps else None
        if steps is not None:
            StepLog(driver.host, steps.append)
        self._ahead = Ahead(
            driver,
            self._task.cluster,
            self._oracle,
            self._task.parameters,
            self._say,
            inspector(self._task.system, self._task.definition),
        )
        self._neighbours = self._ahead.neighbours
        try:
            self._prepare(driver.node.automaton.codec)
            await driver.start(self._task.definition, self._sockets)
            if self._store.discarded:
                self._say(
                    f"warning: the last {self._store.discarded} bytes of its log mean nothing, and"
                    " are left out: the machine went down while they were written, and nobody was"
                    " promised anything, or the disk is damaged"
                )
            if self._task.workload:
                worker = loop.create_task(self._work(self._task.workload))
            await _first(stop.wait(), driver.ended.wait())
        finally:
            if worker is not None:
                worker.cancel()
            control.close()
            self._ahead.close()
            driver.close()
            self._store.close()
            if steps is not None:
                steps.close()
            await asyncio.sleep(0)  # resets leave
            deafen(self._stops)
        return self._status()

    def _prepare(self, reader: Codec) -> None:
        """Let the node read what peers send, and what an earlier process of it has kept."""
        system = self._task.system
        if system.faults.notices and hears(self._driver.node.automaton):
            self._say(
                "warning: it handles `Down`, which nobody sends live: a lost connection does not"
                " prove that a node is down; `@broken` tells what can be known"
            )
        teach(system, reader, system.codec, definition=self._task.definition)
        admit(system, reader)

    def _make(self, host: Host) -> LiveNode:
        task = self._task
        automata = task.system.live()
        automaton = automata[task.system.index(self._name)]
        self._store = FileStore(self._folder, Durable(automaton).layout)
        options = Options(
            seed=task.seed,
            delays=task.cluster.timers,
            inbox=task.cluster.live.inbox,
            stream_max=task.cluster.live.frame_max - HEADER.size,
        )
        return LiveNode(
            task.system, self._name, self._store, Clock(NOW), host, options, self._runner, automata
        )

    def _status(self) -> int:
        if self._fault is not None:
            self._complain(
                explain(
                    f"presage itself failed: {type(self._fault).__name__}: {self._fault}",
                    "a fault of presage, not of the service",
                    "please report it, with the lines above",
                )
            )
            return EXIT_OURS
        if self._driver.failure is not None:
            self._complain(f"failed: {self._driver.failure}")
            return EXIT_FAILED
        return 0

    def _unexpected(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An exception that nobody handles is our fault: the node ends."""
        error = context.get("exception")
        if error is None or self._fault is not None:
            return
        if isinstance(error, PresageError):
            self._driver.failed(str(error))
            return
        traceback.print_exception(error, file=sys.stderr)
        self._fault = error
        self._driver.ended.set()

    def _say(self, text: str) -> None:
        self._task.say(f"{self._name}: {text}")

    def _complain(self, text: str) -> None:
        self._say(f"error: {text}")

    async def _work(self, rate: float) -> None:
        """Make the calls that the system declares, so many a second."""
        while True:
            await asyncio.sleep(1 / rate)
            self._driver.node.work()
            self._driver.schedule()

    # -- commands ----------------------------------------------------------------------------

    async def _handle(self, request: Request) -> Any:
        if request.do == "call":
            return await self._call(request.name, request.args)
        if request.do == "status":
            facts = {"pid": os.getpid(), **msgspec.to_builtins(measure(self._driver))}
            return facts | {"steering": self._ahead.counts} if self._ahead.counts else facts
        if request.do == "seen":
            return msgspec.to_builtins(self._ahead.seen())
        if request.do == "prediction":
            return self._ahead.prediction(request.args)
        if request.do == "cut":
            return self._ahead.cut(request.name)
        if request.do == "snapshot":
            return await self._snapshot()
        if request.do == "state":
            return self._state()
        raise CommandRefused(
            f"node `{self._name}` does not know the command `{request.do}`",
            "another version of presage",
            "use the same version for the node and for its commands",
        )

    async def _call(self, method: str, args: list[Any]) -> Any:
        node, loop = self._driver.node, asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()
        node.call(method, typed(node.automaton.service, method, args), answer)
        self._driver.schedule()
        reply = await answer
        if reply.error is not None:
            raise CommandRefused(f"`{self._name}.{method}`: {reply.error}")
        return reply.value

    async def _snapshot(self) -> dict[str, Any]:
        """The state of the node and its neighbours, as a trace without steps."""
        neighbours, system = self._neighbours, self._task.system
        for _ in range(SNAPSHOTS_MAX):
            neighbours.gather()
            self._driver.schedule()
            while neighbours.gathered is None:
                await asyncio.sleep(LOOK_EVERY)
            found = neighbours.snapshot()
            if found is not None:
                trace = as_trace(system, found, self._task.target or None, self._task.parameters)
                return {"trace": codec.encode(trace), "outside": found.outside}
        raise CommandRefused(
            f"the checkpoints of `{self._name}` and its neighbours do not fit together",
            "connections that break all the time",
            "take the snapshot again",
        )

    def _state(self) -> dict[str, str]:
        node = self._driver.node
        decode = node.automaton.codec.decode
        fields = zip(node.automaton.fields, node.local[1:], strict=True)
        return {name: repr(decode(value)) for name, value in fields}


def typed(service: type, method: str, args: list[Any]) -> tuple[Any, ...]:
    """Arguments from JSON as the annotations of a method want them, as far as it has any."""
    function = getattr(service, method, None)
    if not inspect.isfunction(function):
        return tuple(args)
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # names that exist for type checkers only
        hints = {}
    names = list(inspect.signature(function).parameters)[1:]
    wanted = [hints.get(name, Any) for name in names] + [Any] * len(args)
    try:
        return tuple(msgspec.convert(arg, kind) for arg, kind in zip(args, wanted, strict=False))
    except (msgspec.ValidationError, TypeError) as error:
        raise CommandRefused(
            f"`{method}`: an argument is not what it takes: {error}",
            "arguments are JSON: texts need quotes of their own",
            f"`presage call NODE {method} ARG...` with a JSON value for each parameter",
        ) from None


async def _first(*waits: Coroutine[Any, Any, Any]) -> None:
    """Wait for the first of several."""
    tasks = [asyncio.ensure_future(each) for each in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in tasks:
            each.cancel()


class Forked:
    """What the nursery does for each node: take its address, then run it in a fork."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def prepare(self, name: str) -> Sockets | None:
        """The sockets of a node, before any node of a batch runs; None if they cannot be had."""
        with contextlib.suppress(CannotListen):  # the node itself will say why
            return Sockets(name, self._task.cluster.nodes[name])
        return None

    def main(self, name: str, sockets: Sockets | None) -> int:
        """Run the node to its end; gives its exit status."""
        try:
            return run(self._task, name, [signal.SIGTERM], sockets)
        except PresageError as error:
            self._task.say(f"{name}: error: {error}")
            return error.exit_status
