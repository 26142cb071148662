"""How the events of one node's history happen to a live process, the first time and again.

An event is plain: its kind, what came with it, and the choices taken. `Driver` boots a process for
a life of its node, lets one event happen, and reads off what the process did. On a replay it
compares that with what was filed.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from signal import SIGTERM
from types import MappingProxyType
from typing import Any

from presage._core import Codec
from presage.errors import BadCall, BadView, ProgramDiffers
from presage.frontends.real.here import exposed
from presage.frontends.real.histories import Entry, effects_digest
from presage.frontends.real.isolate import Isolation
from presage.frontends.real.looks import Look, Shown, arrived
from presage.frontends.real.machine import kernel as kernel  # all of it
from presage.frontends.real.machine.effects import Effects, Options
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.packets import Datagram, Segment
from presage.frontends.real.machine.process import Process
from presage.frontends.real.machine.tls import PLAIN
from presage.frontends.real.native import Native
from presage.frontends.real.node import Node, Script
from presage.frontends.real.service import ACTIONS
from presage.frontends.real.surroundings import PART, Surroundings, around
from presage.model.choice import NOT_THEIRS, Chooser
from presage.model.service.blame import describe_failure
from presage.model.service.calls import Call
from presage.props.history import Invoke, Return

Event = tuple[Any, ...]
Files = Mapping[str, bytes]
LIFE_SECONDS = 3600.0  # between the starting clocks of two lives of a node
OWN = {action: own for own, action in ACTIONS.items()}


class Handle:
    """The live process, for its view and for the calls of the workload."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.name = process.host.name
        self.life = process.life

    def get(self, name: str, default: Any = None) -> Any:
        """An object that the program exposed by `here.expose`."""
        return exposed(self._process).get(name, default)

    def module(self, name: str) -> Any:
        """A module as this process sees it."""
        return around(self._process).copy.module(name)

    @property
    def now(self) -> float:
        """What `time.monotonic()` says in the node."""
        return float(self._process.now)

    @property
    def files(self) -> Mapping[str, bytes]:
        """The files of the node, by path."""
        return MappingProxyType(self._process.files.contents())

    @property
    def ended(self) -> bool:
        """Whether the program has come to its end."""
        return bool(self._process.ended)


class Driver:
    """Runs the code of one node."""

    def __init__(
        self,
        node: Node,
        host: Host,
        names: tuple[str, ...],
        calls: tuple[Call, ...],
        functions: Mapping[str, Callable[..., Any]],
        codec: Codec,
        isolation: Isolation,
    ) -> None:
        self.node = node
        self.host = host
        self._names = names
        self._calls = calls
        self._functions = functions
        self._codec = codec
        self.isolation = isolation
        self._options = Options(
            granularity=node.granularity,
            preemptions=node.preemptions,
            random="branch" if node.random == "branch" else "stream",
            strict=node.strict,
            split=node.split,
            coalesce=node.coalesce,
            disk=node.disk,
            home=node.home,
            folders=node.path,
        )
        self.spun: set[str] = set()  # threads that polled the clock
        self.threaded = False  # some process had more than one thread
        self.crowded = False  # some step had more places for preemptions than are tried
        self.plain_tls = False  # whether the program used TLS
        self.acted = False  # whether it ever sent something, or could do something by itself
        self.shift = 0.0  # of the clock that processes start with; see `RealSystem.vary`
        self.collects = False  # whether garbage is collected before each event
        self.native = Native(host.name)

    # -- events ------------------------------------------------------------------------------

    def start(self, life: int, files: Files) -> Event:
        """The first event of a life."""
        clock = self.node.clock + LIFE_SECONDS * life
        return ("start", self.host.name, life, dict(sorted(files.items())), clock)

    def event(self, stimulus: Event, calls: int) -> Event:
        """What a stimulus is called in a history, but for the choices."""
        return ("call", calls) if stimulus[0] == "call" else stimulus

    def encode(self, event: Event, chooser: Chooser) -> bytes:
        return self._codec.encode((event, [k for k, _ in chooser.taken]))

    def decode(self, event: bytes) -> tuple[Event, list[int]]:
        """An event as it is filed, and the choices taken."""
        event_and_choices: tuple[Event, list[int]] = self._codec.decode(event)
        return event_and_choices

    # -- processes ---------------------------------------------------------------------------

    def boot(self, entry: Entry) -> Process:
        """A process that is about to begin the life that `entry` begins."""
        (_, _, life, files, clock), _ = self._codec.decode(entry.event)
        return self.make(life, files, clock)

    def make(self, life: int, files: Files, clock: float) -> Process:
        surroundings = Surroundings(self.isolation, self.node.argv, (self.host.name, life))
        process = Process(
            self.host,
            partial(self._run, surroundings),
            life=life,
            clock=clock + self.shift,
            files=dict(files),
            options=self._options,
        )
        process.__dict__[PART] = surroundings
        process.notes["environ"] = dict(self.node.environ)
        if self.node.split > 1 or self.node.coalesce:
            process.stack.split, process.stack.coalesce = self.node.split, self.node.coalesce
        return process

    def _run(self, surroundings: Surroundings) -> None:
        """What the main thread of a process runs."""
        self.native.trace()
        main = self.node.main
        if isinstance(main, Script):
            surroundings.run_script(main.code, main.file)
            return
        main = surroundings.function(main)
        if inspect.iscoroutinefunction(main):
            asyncio.run(main(*self.node.args))
        else:
            main(*self.node.args)

    def again(self, process: Process, entries: Iterable[Entry]) -> None:
        """Let events of a history happen once more; what the process does must be the same."""
        with around(process).inside():
            for entry in entries:
                event, choices = self._codec.decode(entry.event)
                chooser = Chooser(choices, extends=True)
                effects = self._happen(process, event, chooser)
                same = self.digest(process, effects) == entry.effects
                if not same or len(chooser.taken) != len(choices):
                    raise self.differs(event, effects)

    def apply(self, process: Process, event: Event, chooser: Chooser) -> Effects:
        """Let an event happen to a process, which runs until all its threads wait."""
        with around(process).inside():
            return self._happen(process, event, chooser)

    def _happen(self, process: Process, event: Event, chooser: Chooser) -> Effects:
        process.chooser = chooser
        if self.collects:
            process._settle(gc.collect, 0)
        self._watched(process, event)
        if chooser.error is not None:
            raise chooser.error
        if process.spins:
            self.spun.update(process.spins)
        self.threaded = self.threaded or process.counters["thread"] > 1
        self.crowded = self.crowded or process.is_crowded
        if PLAIN in process.notes:
            self.plain_tls = True
        return process.collect()

    def _watched(self, process: Process, event: Event) -> None:
        """Give it an event, and look whether compiled code does more than that."""
        if self.native.is_armed():
            with self.native.watching(self.node.place, self.describe(event)):
                self._give(process, event)
        else:
            self._give(process, event)

    def _give(self, process: Process, event: Event) -> None:
        kind = event[0]
        if kind == "start":
            process.begin()
        elif kind == "deliver":
            self._receive(process, self._names[event[1]], event[2])
        elif kind == "timer":
            process.go(("timer", *event[2:]))
        elif kind == "action":
            process.go((OWN[event[1]], *event[2:]))
        elif kind == "call":
            self._call(process, event[1])
        elif kind == "sever":
            process._settle(process.stack.cut, event[1])
        elif kind == "refuse":
            process.notes["refuses"] = process.notes.get("refuses", 0) + 1
        elif kind == "terminate":
            process.go(("signal", SIGTERM))
        else:
            raise AssertionError(f"`{kind}` is no event of a process")

    def _receive(self, process: Process, source: str, packet: Any) -> None:
        if isinstance(packet, Look):
            shown = self._codec.decode(self._codec.encode(dict(self.view(process))))
            process.send(source, Shown(packet.life, packet.number, shown))
        elif isinstance(packet, Shown):
            process._settle(arrived, process, packet)
        elif not isinstance(packet, Datagram | Segment):
            raise BadCall(
                f"{source} sends {self.host.name} {packet!r}, which is no packet",
                "a service that talks to a real node as to another service",
                "send `Datagram(sport, dport, data)`, from `presage.real`",
            )
        else:
            self._take_in(process, source, packet)

    @staticmethod
    def _take_in(process: Process, source: str, packet: Datagram | Segment) -> None:
        refuses = process.notes.get("refuses", 0)
        if refuses and isinstance(packet, Segment) and packet.kind == "syn":
            process.notes["refuses"] = refuses - 1
            process._settle(process.stack.refuse, source, packet)
        else:
            process.receive(source, packet)

    def _call(self, process: Process, number: int) -> None:
        call = self._calls[number]
        args = self._codec.decode(self._codec.encode(call.args))
        record = None
        op = None if self.node.record is None else self.node.record(call.method, *args)
        if op is not None:
            process.record(Invoke(op))

            def record(how: str, value: Any) -> None:
                if how == "return":
                    process.record(Return(value))

        function = around(process).function(self._functions[call.method])
        process.call(function, (Handle(process), *args), record)

    def digest(self, process: Process, effects: Effects) -> bytes:
        """What stands for all that others can see of an event."""
        failures = [(each.where, type(each.error).__name__) for each in effects.failures]
        sends = effects.sends if len(effects.sends) < 2 else self._unordered(effects.sends)
        did = (sends, effects.records, failures, process.ended)
        return effects_digest(self._codec.encode(did))

    def _unordered(self, sends: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Sends in an order that tells no more than the network does: per lane, datagrams apart."""

        def place(send: tuple[str, Any]) -> tuple[str, bytes]:
            to, packet = send
            return to, self._codec.encode(packet if packet.lane is None else packet.lane)

        return sorted(sends, key=place)

    def differs(self, event: Event, effects: Effects) -> ProgramDiffers:
        what = self.describe(event)
        sent = "; ".join(f"{packet} to {to}" for to, packet in effects.sends) or "nothing"
        return ProgramDiffers(
            f"{self.host.name}: {self.node.title}, {what}, replayed on the same history, did"
            f" something else than the first time: now it sends {sent}"
        )

    def describe(self, event: Event) -> str:
        """An event in a few words."""
        kind = event[0]
        if kind == "deliver":
            return f"deliver {event[2]} from {self._names[event[1]]}"
        if kind == "call":
            call = self._calls[event[1]]
            return f"call {call.method}({', '.join(map(repr, call.args))})"
        if kind == "start":
            return "start" if not event[2] else f"restart {event[2]}"
        return " ".join(str(each) for each in event)

    # -- the end of a process -----------------------------------------------------------------

    def last_words(self, process: Process) -> list[tuple[str, Any]]:
        """What its kernel sends for a process that dies."""
        process.stack.shut()
        return process.collect().sends

    def has_plain_end(self, process: Process) -> bool:
        """Whether its kernel has nothing to say to others when it dies."""
        return "stack" not in process.__dict__ or not process.stack.connections

    def connections(self, process: Process) -> list[str]:
        """The connections to other nodes that may break, by the addresses of their ends."""
        return process.stack.open_connections() if "stack" in process.__dict__ else []

    # -- what is read off a live process ------------------------------------------------------

    def files(self, process: Process) -> dict[str, bytes]:
        """The files of the node as they are now; see `machine/disk.py`."""
        return dict(process.files.value() if "files" in process.__dict__ else process.initial_files)

    def view(self, process: Process) -> dict[str, Any]:
        if self.node.view is None:
            return {}
        surroundings = around(process)
        try:
            with surroundings.inside():
                return dict(surroundings.function(self.node.view)(Handle(process)))
        except NOT_THEIRS:
            raise
        except BaseException as error:
            raise BadView(
                f"{self.host.name}: the view of `{self.node.title}` raised"
                f" {describe_failure(error, self.node.view)[1]}",
                "it reads what is not there yet, or not any more",
                "let it answer in every state: `node.get(name)` is None before `here.expose`",
            ) from error
