"""Is a system fit to be checked? Run its steps twice, in two orders, and under another hash seed.

`transcribe` walks a part of the state space in an order that depends on nothing but canonical
forms, runs every local step twice, and in a second order of sets and dicts, and writes down what it
did. Two processes with different
hash seeds write the same transcript, unless handlers depend on set order, `hash()` or `id()`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import field
from typing import Any

import msgspec

from presage.errors import HandlerStuck, Impure, Nondeterminism
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.limits import Limits
from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Outcome
from presage.model.world.event import MISHAPS, Event
from presage.model.world.snapshot import Snapshot
from presage.model.world.stimulus import stimulus_of
from presage.model.world.system import System
from presage.model.world.world import World
from presage.records import record
from presage.search.check import build
from presage.search.kernel.bridge import Bridge
from presage.search.kernel.difference import between, describe, did, first_difference
from presage.search.kernel.order import Orders, Stored

STEPS_DEFAULT = 2_000  # local steps examined
WORLDS_MAX = 2_000  # worlds visited to meet them: live ones are slow, and late ones bring little


class Entry(msgspec.Struct, frozen=True):
    """One local step: what it was, and each thing it did as (name, canonical digest, text)."""

    step: str
    did: tuple[tuple[str, int, str], ...]


class Transcript(msgspec.Struct, frozen=True):
    """All steps examined, and what was found while looking."""

    entries: tuple[Entry, ...] = ()
    findings: tuple[str, ...] = ()
    exhausted: bool = False  # every reachable local step was among them
    assumes: tuple[str, ...] = ()  # the seals of the system
    idle: tuple[str, ...] = ()  # nodes whose programs did nothing that others could see


@record(frozen=True)
class Examined:
    """The doctor's answer. No findings: nothing was found in the `steps` that were looked at."""

    steps: int
    exhausted: bool
    seeds: tuple[int, ...] = ()
    findings: tuple[str, ...] = field(default=())
    assumes: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "exhausted": self.exhausted,
            "hash_seeds": list(self.seeds),
            "findings": list(self.findings),
            "assumes": list(self.assumes),
            "idle": list(self.idle),
        }


def transcribe(
    system: System,
    *,
    steps: int = STEPS_DEFAULT,
    handler_seconds: float = SECONDS_DEFAULT,
    give_up: Callable[[HandlerStuck], None] | None = None,
) -> Transcript:
    """Run up to `steps` distinct local steps, each twice; breadth first, canonical order.

    A rule of the system that a search of as many states refutes is raised: `WrongRule`.
    """
    with Sandbox(handler_seconds, give_up) as sandbox:
        try:
            if system.rules:
                _compare_rules(system, sandbox)
            return _Walk(system, sandbox, steps).transcript()
        except (Impure, Nondeterminism) as error:
            return Transcript(findings=(str(error),))


def _compare_rules(system: System, sandbox: Sandbox) -> None:
    """Meet messages that arrive together, and ask the rules of the system about them."""
    kernel = build(system, Bridge(system, sandbox, weighs=False))
    kernel.search("bfs", Limits(states=WORLDS_MAX, keep_going=True))


def compare(transcripts: dict[int, Transcript]) -> Examined:
    """What transcripts of one system, by hash seed, say together."""
    (seed, first), *others = transcripts.items()
    findings = list(dict.fromkeys(f for each in transcripts.values() for f in each.findings))
    for other_seed, other in others:
        if not findings:
            difference = _difference(first, other)
            if difference is not None:
                findings.append(f"under hash seeds {seed} and {other_seed}, {difference}")
    exhausted = all(each.exhausted for each in transcripts.values())
    seeds, assumes = tuple(transcripts), first.assumes
    found = tuple(findings)
    return Examined(len(first.entries), exhausted, seeds, found, assumes, first.idle)


def _difference(first: Transcript, other: Transcript) -> str | None:
    for one, two in zip(first.entries, other.entries, strict=False):
        if one.step != two.step:
            return f"different things could happen: `{one.step}` and `{two.step}`"
        if difference := between(one.did, two.did):
            return f"{one.step}: {difference}"
    if len(first.entries) != len(other.entries):
        return f"{len(first.entries)} and {len(other.entries)} steps were possible"
    return None


class _Walk:
    """A breadth-first walk over live worlds that runs each distinct local step twice."""

    def __init__(self, system: System, sandbox: Sandbox, limit: int) -> None:
        self.system = system
        self.sandbox = sandbox
        self.limit = limit
        self.entries: list[Entry] = []
        self.findings: list[str] = []
        self.orders = Orders(system, sandbox)
        self.done: set[bytes] = set()  # local steps, encoded

    def transcript(self) -> Transcript:
        world = self._first()
        queue = deque([world.save()])
        seen = {world.fingerprint}
        visited = 0
        while queue and visited < WORLDS_MAX and self._wants_more():
            visited += 1
            saved = queue.popleft()
            world.restore(saved)
            self._examine_guards(saved)
            for event in self.sandbox.run(world.enabled):
                world.restore(saved)
                for choices in self._examine(world, event):
                    world.restore(saved)
                    self.sandbox.run(world.apply, event, choices)
                    if world.fingerprint not in seen:
                        seen.add(world.fingerprint)
                        queue.append(world.save())
        findings = (*self.findings, *map(str, self.orders.found))
        assumes = tuple(map(str, self.system.seals))
        return Transcript(
            tuple(self.entries),
            findings,
            exhausted=not queue,
            assumes=assumes,
            idle=tuple(self.system.idle()),
        )

    def _wants_more(self) -> bool:
        return len(self.entries) < self.limit and not self.findings and not self.orders.found

    def _first(self) -> World:
        """The initial world in which every `start` makes its first choices."""
        choices: tuple[int, ...] = ()
        for automaton in self.system.automata:
            codec = self.system.codec
            initial = Stored(codec, codec.encode_fields(automaton.initial()))
            outcomes = self._twice(automaton, initial, ("start",))
            choices += tuple(k for k, _ in outcomes[0].choices) if outcomes else ()
        world: World = self.sandbox.run(World.initial, self.system, choices)
        return world

    def _examine_guards(self, saved: Snapshot) -> None:
        for automaton, local in zip(self.system.automata, saved.locals, strict=True):
            key = self.system.codec.encode((automaton.index, local))
            if key not in self.done:
                self.done.add(key)
                self.orders.add_guards(automaton, Stored(self.system.codec, local))

    def _examine(self, world: World, event: Event) -> list[tuple[int, ...]]:
        """The choices to go on with, none once enough steps were examined."""
        if not self._wants_more():
            return []
        if event.kind in MISHAPS:
            return [()]
        automaton = self.system.automata[self.system.index(event.node)]
        stimulus = stimulus_of(self.system, event)
        local = world.save().locals[automaton.index]
        key = self.system.codec.encode((automaton.index, local, stimulus))
        if key not in self.done:
            self.done.add(key)
            self._twice(automaton, Stored(self.system.codec, local), stimulus)
        runs: list[tuple[int, ...]] = self.sandbox.run(world.runs, event)
        return runs

    def _twice(
        self, automaton: Automaton, fresh: Stored, stimulus: tuple[Any, ...]
    ) -> list[Outcome]:
        first = self.sandbox.run(automaton.branches, fresh, stimulus)
        second = self.sandbox.run(automaton.branches, fresh, stimulus)
        what = describe(automaton, stimulus, self.system.names)
        difference = first_difference(automaton, first, second)
        if difference is not None:
            self.findings.append(f"{what}, run twice from the same state, {difference}")
        else:
            self.orders.add_step(automaton, fresh, stimulus)
        for outcome in first or []:
            self.entries.append(Entry(what, tuple(did(automaton, outcome))))
        return first or []
