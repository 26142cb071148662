"""One simulated process: its threads, its clock, its chance, and how it is run, step by step.

A stimulus is given to the simulated kernel; then the threads run, one at a time, until each of them
waits. So a step is a function of the stimuli before it, and a process can be run again, alone.

Invariants. The clock stands still within a step. A thread is a greenlet; it leaves the processor in
`block` only, so reading or changing the kernel needs no lock. Where several threads can run,
the step ends, and each is an own event of the process. Once a process is dead, every call into the
kernel raises `Killed`.

Other parts of the kernel (`stack`, `files`, `aio`, `signals`) are made when first used: see `Part`.
A part may have `own_events()` and `go(event)`, which add to those of the process; `end()`, called
when its main thread ends; `shut()`, at its end; `dispose()`, when it is let go of.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

from presage.frontends.real.machine.effects import Effects, Killed, Options
from presage.frontends.real.machine.entering import Entered, Graveyard
from presage.frontends.real.machine.greenlets import describe_wait, unwind
from presage.frontends.real.machine.scheduler import Scheduler
from presage.model.choice import NOT_THEIRS, BranchingRandom, Chooser
from presage.process.context import MACHINE, running
from presage.process.leaves import TABLE

PARTS: list[str] = []  # names of the parts of the kernel, in the order in which they are asked


class Part:
    """An attribute of a process that is made when it is first asked for."""

    def __init__(self, name: str, make: Callable[[Process], Any]) -> None:
        self._name = name
        self._make = make
        PARTS.append(name)
        setattr(Process, name, self)

    def __get__(self, process: Process, _: Any = None) -> Any:
        if process.dead:
            raise Killed
        made = process.__dict__[self._name] = self._make(process)
        return made


class Process(Scheduler):
    """One life of one node."""

    aio: Any
    files: Any
    lookups: Any
    signals: Any
    stack: Any
    threads_kept: Any

    answerer = MACHINE
    ask = guide = None  # no operations: see `presage.process.context`

    def __init__(
        self,
        host: Any,
        program: Callable[[], Any],
        *,
        life: int = 0,
        clock: float = 0.0,
        files: Any = None,
        chooser: Chooser | None = None,
        options: Options | None = None,
    ) -> None:
        super().__init__(clock, chooser, options or Options())
        self.host = host
        self.name = str(host.name)
        self.life = life
        self.initial_files = files
        self.exit_status = 0
        self.notes: dict[str, Any] = {}  # what a part of the kernel keeps for this process
        self.at_exit: list[Any] = []  # calls, in the order of registration
        self.is_ending = False  # the main thread has come to its end
        self._program = program
        self._chance: Random | None = None

    # What a part of the kernel, or code that runs inside, asks.

    @property
    def log(self) -> list[str]:
        """Lines it said since the effects were collected."""
        return self.effects.logs

    @log.setter
    def log(self, lines: list[str]) -> None:
        self.effects.logs = lines

    @property
    def chance(self) -> Random:
        """One stream of numbers per node and life; seeded by a text, so the same everywhere."""
        if self._chance is None:
            self._chance = Random(f"{self.name}/{self.life}")
        return self._chance

    random = chance

    @property
    def integers(self) -> Random:
        """Who draws integers: the stream, or every one of them as a choice of the step."""
        if self.options.random == "branch" and self.chooser is not None:
            return BranchingRandom(self.chooser)
        return self.chance

    def choose(self, n: int) -> int:
        """One of `n` options: a choice of the step."""
        return 0 if self.chooser is None else self.chooser.pick(n)

    def send(self, to: str, packet: Any) -> None:
        """Give a packet to the network."""
        if self.dead:
            raise Killed
        if len(self.threads) > 1:
            self.preempt()
        self.effects.sends.append((to, packet))

    def record(self, entry: Any) -> None:
        """Keep a record for the observers."""
        self.effects.records.append(entry)

    # What the owner of the process asks; each runs it until every thread waits.

    def begin(self) -> None:
        """Start the program."""
        self.main = self.start(self._main, "MainThread")
        self._settle()

    def receive(self, source: str, packet: Any) -> None:
        """Deliver what node `source` sent."""
        self._settle(self.stack.receive, source, packet)

    def go(self, own: tuple[Any, ...]) -> None:
        """Let one of `own_events` happen."""
        kind = own[0]
        if kind == "timer":
            deadline = self.deadline
            if deadline is not None:
                self.now = max(self.now, deadline)
            self._settle()
        elif kind == "run":
            self._settle(self._resume_named, own[1])
        elif kind == "go on":
            self._settle(self._unpause)
        elif kind == "signal":
            self._settle(self.signals.deliver, own[1])
        else:
            for part in self._parts():
                if own in getattr(part, "own_events", list)():
                    return self._settle(part.go, own)
            raise LookupError(f"{self.name}: nothing like {own} can happen")

    def own_events(self) -> list[tuple[Any, ...]]:
        """What may happen without a packet from outside."""
        if self.ended or self.dead:
            return []
        events: list[tuple[Any, ...]] = [("run", each.name) for each in self.choices]
        if any(each.is_paused for each in self.threads):
            events.append(("go on",))
        waiting = self._next_to_wake()
        if waiting is not None:
            events.append(("timer", describe_wait(waiting)))
        for part in self._parts():
            if hasattr(part, "own_events"):
                events += part.own_events()
        return events

    def collect(self) -> Effects:
        """The effects since the last time."""
        effects, self.effects = self.effects, Effects()
        return effects

    def dispose(self) -> None:
        """Let go of it: its code is unwound, and nothing it does meanwhile is seen."""
        if self.dead:
            return
        self.dead = GRAVEYARD.is_filled = True
        TABLE.up()
        try:
            self._take_apart()
        finally:
            TABLE.down()

    def _take_apart(self) -> None:
        TABLE.spread()
        with Entered(self):
            for thread in self.threads:
                self._readings, self.thread = 0, thread
                unwind(thread)
                thread.process = thread.ready = None
            self.thread = self.main = self.policy = None
            self.threads.clear()
            self.at_exit.clear()
            for part in self._parts():
                if hasattr(part, "dispose"):
                    part.dispose()
            for name in PARTS:
                self.__dict__.pop(name, None)
            self.notes.clear()

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...] = (),
        record: Callable[[str, Any], None] | None = None,
    ) -> None:
        """Call a function of the workload: in the loop of the main thread, or in a thread.

        `record` is called with ("return", value) or ("raise", exception) when it is over.
        """
        self._settle(self.aio.call, function, args, record)

    def _main(self) -> None:
        """What the main thread runs; the interpreter waits for the others at its end."""
        try:
            self._program()
        except SystemExit as exit:
            self.exit_status = exit.code if isinstance(exit.code, int) else int(bool(exit.code))
        except NOT_THEIRS:
            raise
        except BaseException as error:
            self.exit_status = 1
            self.fail("main", error)
        self.is_ending = True
        for part in self._parts():
            if hasattr(part, "end"):
                part.end()
        self.block(self._is_last, None, "the other threads")
        for call in reversed(self.at_exit):
            call()
        self.finish()

    def _is_last(self) -> bool:
        return all(each.daemon or each is self.main for each in self.threads)

    def rest(self) -> None:
        """Look for tasks that failed and that nobody awaits."""
        self.aio.report_unawaited()

    def __del__(self) -> None:
        self.dispose()

    def finish(self) -> None:
        """The process ends; its parts say so to the others."""
        self.ended = True
        for part in self._parts():
            if hasattr(part, "shut"):
                part.shut()

    def _parts(self) -> list[Any]:
        return [self.__dict__[name] for name in PARTS if name in self.__dict__]


def current() -> Process | None:
    """The process whose code runs now on this thread of the operating system."""
    stack = running.stack
    top: Any = stack[-1] if stack else None
    return top if isinstance(top, Process) else None


def _grave() -> Process:
    """A process that is dead: it answers where garbage is collected."""
    process = Process(SimpleNamespace(name="garbage"), lambda: None)
    process.dead = True
    return process


GRAVEYARD = Graveyard(_grave())
gc.callbacks.append(GRAVEYARD)
TABLE.leaving.insert(0, GRAVEYARD.clear)
