"""The second process: run steps and ask predicates again, and say what came out differently.

Whatever differs is run once more: a step that then does a third thing depends on more than the
process it runs in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from presage._core import Kernel, Steps
from presage.errors import HandlerStuck, PresageError
from presage.execution.sandbox import CPU, Sandbox
from presage.model.world.system import System
from presage.records import NamedTuple
from presage.search.checkpoint.code_digest import Definition
from presage.search.kernel.bridge import Bridge
from presage.search.kernel.difference import Did, describe, parts
from presage.search.kernel.order import Stored
from presage.search.twin.verdicts import judged
from presage.search.twin.wire import (
    DELIVERY,
    LISTING,
    OBSERVING,
    Answer,
    Apart,
    Judged,
    Request,
    Step,
)
from presage.trace.naming import named
from presage.trace.show import show

APART_MAX = 64  # differences that are told
MOVED_BY = 5  # instances that take the places of those that come

Build = Callable[[System, Bridge], Kernel]
Way = Callable[..., Any]  # to call a function, with sets in one order or another
T = TypeVar("T")


class Rerun:
    """Runs steps of `system` in this process, to be compared with what they did in another."""

    def __init__(
        self,
        system: System,
        bridge: Bridge,
        kernel: Kernel,
        sandbox: Sandbox,
        *,
        ways: Sequence[Way] = (),
    ) -> None:
        self._system = system
        self._bridge = bridge
        self._sandbox = sandbox
        self._steps = Steps(kernel)
        self._ways = ways

    def differs(self, step: Step) -> Apart | None:
        """What a step does here, if that is not what it did elsewhere; `at` is left open."""
        for way in self._ways:
            did = way(self.digest, step)
            if did != step[4]:
                stable = way(self.digest, step) == did
                return Apart(0, stable, way(self.branches, step))
        return None

    def says(self, known: Judged) -> Apart | None:
        """The same of a verdict."""
        for way in self._ways:
            verdict = way(judged, self._system, self._sandbox, known)
            if verdict != known.verdict:
                stable = way(judged, self._system, self._sandbox, known) == verdict
                return Apart(0, stable, [[("its verdict", 0, verdict)]])
        return None

    def digest(self, step: Step) -> int | None:
        """The digest of what a step does here; None if it ends in an error of the checked code."""
        kind, node, values, cause, _ = step
        try:
            return self._steps.digest(kind, node, values, cause)
        except HandlerStuck:
            raise
        except PresageError:
            self._sandbox.error = None  # it was heard
            return None

    def branches(self, step: Step) -> list[Did]:
        """What a step does here, in words."""
        kind, node, values, _, _ = step
        try:
            if kind == OBSERVING:
                return [self._observed(step)]
            automaton = self._system.automata[node]
            fresh = Stored(self._system.codec, values)
            if kind == LISTING:
                return [self._could(node, stimulus) for stimulus in self.listed(step)]
            outcomes = self._sandbox.run(automaton.branches, fresh, self.stimulus(step))
            return parts(automaton, self._system.network, outcomes)
        except HandlerStuck:
            raise
        except PresageError as error:
            self._sandbox.error = None
            return [[("how it ended", 0, str(error).partition("\n")[0])]]

    def stimulus(self, step: Step) -> tuple[Any, ...]:
        decoded: Any = self._system.codec.decode(step[3])
        if step[0] == DELIVERY:
            source, _, message = decoded
            return ("deliver", source, message)
        return decoded  # type: ignore[no-any-return]

    def listed(self, step: Step) -> list[tuple[Any, ...]]:
        automaton = self._system.automata[step[1]]
        values = Stored(self._system.codec, step[2])()
        return [stimulus for stimulus, _ in self._sandbox.run(automaton.stimuli, values)]

    def _could(self, node: int, stimulus: tuple[Any, ...]) -> Did:
        codec = self._system.codec
        text = describe(self._system.automata[node], stimulus, self._system.names)
        return [("what could happen", codec.digest(codec.encode(stimulus)), text)]

    def _observed(self, step: Step) -> Did:
        _, slot, values, nodes, _ = step
        codec = self._system.codec
        state, *records = [codec.decode(value) for value in values]
        senders = [int.from_bytes(nodes[at : at + 4]) for at in range(0, len(nodes), 4)]
        after = self._bridge.observe(slot, state, list(zip(senders, records, strict=True)))
        return [("its state", codec.digest(codec.encode(after)), show(after))]


def as_it_is(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


class _Thing:
    """As large as most instances of classes."""


def moved(way: Way) -> Way:
    """The same, with what the code makes at other addresses: a set of objects goes by them."""

    def call(function: Callable[..., Any], *args: Any) -> Any:
        held = [_Thing() for _ in range(MOVED_BY)]
        try:
            return way(function, *args)
        finally:
            del held

    return call


def rerun(
    system: System,
    request: Request,
    build: Build,
    sandbox: Sandbox,
    goes_on: Callable[[], bool] = lambda: True,
    *,
    ways: Sequence[Way],
) -> Answer:
    """Answer `request` in this process: run everything in each of `ways`."""
    bridge = Bridge(system, sandbox, weighs=False)
    again = Rerun(system, bridge, build(system, bridge), sandbox, ways=ways)
    ends = _Ends(request.seconds, goes_on)
    steps, skipped, apart = _compared(again.differs, request.steps, ends)
    verdicts, unread, judgements = _compared(again.says, request.verdicts, ends)
    return Answer(
        steps=steps,
        verdicts=verdicts,
        skipped=(skipped, unread),
        first=list(_first(system, request)),
        apart=apart,
        judged=judgements,
    )


def learn_names(system: System, request: Request) -> None:
    """Let the codec of another process know what encoded values name; what is not found there
    cannot be read.
    """
    met = Definition(system).classes
    learnings = [(request.references, system.codec.encode), (request.classes, system.codec.learn)]
    for names, learn in learnings:
        for name in names:
            try:
                learn(named(name, met, imports=True))
            except (LookupError, PresageError):
                continue


def _first(system: System, request: Request) -> Iterator[Apart]:
    for node, (automaton, known) in enumerate(zip(system.automata, request.first, strict=True)):
        here = system.codec.encode_fields(automaton.initial())
        fields = ["timers or status", *(f"`{name}`" for name in automaton.fields)]
        for at, (one, other) in enumerate(zip(known, here, strict=True)):
            if one != other and at not in automaton.ghosts:
                text = show(system.codec.decode(other))
                yield Apart(node, True, [[(fields[at], system.codec.digest(other), text)]])
                break


class _Ends(NamedTuple):
    """What ends a comparison before its end."""

    seconds: float  # of processor time
    goes_on: Callable[[], bool]


def _compared(
    compare: Callable[[T], Apart | None], known: Sequence[T], until: _Ends
) -> tuple[int, int, list[Apart]]:
    """How many of `known` were looked at, how many could not be, and what differs."""
    ends = CPU() + until.seconds
    skipped, found = 0, list[Apart]()
    for at, each in enumerate(known):
        if CPU() > ends or len(found) >= APART_MAX or not until.goes_on():
            return at, skipped, found
        try:
            apart = compare(each)
        except ValueError:  # it names what cannot be found here
            skipped += 1
            continue
        if apart is not None:
            found.append(Apart(at, apart.stable, apart.branches))
    return len(known), skipped, found
