"""An execution of processes: the steps of a path, taken on live code from the start.

Every finding of the kernel comes through here before it is reported: its path is followed from the
start on real code, and what was found has to show itself again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from presage.errors import BadTrace, Nondeterminism
from presage.execution.describe import Words
from presage.execution.influence import follows
from presage.execution.process_state import state_of
from presage.execution.protocol import NO_EXCEPTION, PropertyStatus
from presage.execution.sandbox import Sandbox
from presage.execution.state import State
from presage.model.choice import NOT_THEIRS
from presage.process import ops
from presage.process.ops import Response
from presage.process.program import Program
from presage.process.view import ProgramView
from presage.process.world import DIES, Choice, ProcessWorld, Taken
from presage.trace.plain import shortened
from presage.trace.show import show
from presage.trace.trace import Sent, Trace, TraceStep, storable

Run = Callable[..., Any]


class PropertyFailure(Struct, frozen=True):
    """What is wrong with a world: which property, what kind of violation, and why."""

    prop: str
    kind: str
    message: str


class ProcessExecution:
    """A program that is run from the start, a step at a time."""

    def __init__(self, program: Program, sandbox: Sandbox, prop: str | None = None) -> None:
        self.world: ProcessWorld = sandbox.run(ProcessWorld, program)
        self.initial = self.world.fingerprint
        self.sandbox = sandbox
        self.path: list[Choice] = []
        self._prop = prop
        self._place = ""
        self._happened: list[tuple[Taken, int, int, dict[str, Any]]] = []

    def __len__(self) -> int:
        return len(self._happened)

    @property
    def fingerprint(self) -> int:
        return self.world.fingerprint

    def options(self) -> list[Choice]:
        return self.world.enabled()

    def choices(self, process: str) -> list[int]:
        """The ways in which a process can go on now; none if there is no such process."""
        member = self.world.members.get(process)
        return [] if member is None else list(self.world.choices(member))

    def resolve(self, step: TraceStep) -> Choice:
        choices = self.choices(step.node)
        at = step.choices[0][0] if step.choices else 0
        if at >= len(choices):
            raise BadTrace(
                f"step {step.index} (`{step.label}` of {step.node}) is not possible any more",
                "the program was changed since the trace was made",
                "make the trace again with `presage check`",
            )
        return Choice(step.node, choices[at])

    def take(self, move: Choice) -> Taken:
        at = self.choices(move.process).index(move.choice)
        before = self.world.published(move.process)
        place = self.world.members[move.process].live.place
        taken: Taken = self.sandbox.run(self.world.take, move)
        self._place = place
        self._happened.append((taken, at, self.world.fingerprint, before))
        self.path.append(move)
        return taken

    @property
    def taken(self) -> tuple[Taken, ...]:
        return tuple(each[0] for each in self._happened)

    @property
    def steps(self) -> tuple[TraceStep, ...]:
        return self.trace_steps()

    def trace_steps(self) -> tuple[TraceStep, ...]:
        """A message goes to the process that it has met by now."""
        causes = follows(self.taken, order=False)
        words = Words(self.world.program)
        return tuple(
            _step(each, words, index, tuple(sorted(causes[index])))
            for index, each in enumerate(self._happened, 1)
        )

    def state(self) -> State:
        return state_of(self.world)

    def place(self) -> str:
        return self._place

    def opening(self) -> tuple[tuple[str, ...], tuple[Sent, ...]]:
        """What processes printed at their start; what they send is a step of its own."""
        opening = self.world.opening.items()
        return tuple(f"{name}: {line}" for name, lines in opening for line in lines), ()

    def failures(self) -> list[PropertyFailure]:
        return failures_in(self.world, self.sandbox.run)

    def statuses(self, *, at_end: bool = False) -> dict[str, PropertyStatus]:
        claims = {prop.name: prop.source for prop in self.world.program.properties}
        found = dict.fromkeys([NO_EXCEPTION, "no_deadlock"], PropertyStatus(True))
        found |= {name: PropertyStatus(True, source=source) for name, source in claims.items()}
        if self.world.program.leftovers:
            found["no_leftovers"] = PropertyStatus(True)
        try:
            failures = self.failures()
        except NOT_THEIRS:
            raise
        except BaseException as error:  # a predicate that cannot say: that is no violation
            if self.sandbox.error is not None:
                raise
            why = shortened(f"{type(error).__name__}: {error}")
            return found | {name: PropertyStatus(None, why, source=claims[name]) for name in claims}
        return found | {
            each.prop: PropertyStatus(
                False, shortened(each.message), source=claims.get(each.prop, "")
            )
            for each in failures
        }

    def is_broken(self) -> bool:
        return any(each.prop == self._prop for each in self.failures())

    def outcome(self, trace: Trace) -> str | None:
        if trace.kind == "live":
            return None
        return next((each.message for each in self.failures() if each.prop == trace.prop), None)

    def close(self) -> None:
        for member in self.world.members.values():
            self.sandbox.run(member.live.close)


def follow(program: Program, path: Iterable[Choice], sandbox: Sandbox) -> ProcessExecution:
    execution = ProcessExecution(program, sandbox)
    for index, step in enumerate(path, 1):
        if step.choice not in execution.choices(step.process):
            raise Nondeterminism(
                f"step {index} of a run, of process `{step.process}`, is not possible on the"
                " second run"
            )
        execution.take(step)
    return execution


def failures_in(world: ProcessWorld, run: Run) -> list[PropertyFailure]:
    found = [
        PropertyFailure("no_exception", member.failed.kind, member.failed.text)
        for member in world.members.values()
        if member.failed is not None
    ]
    view = ProgramView({name: world.published(name) for name in world.members})
    for prop in world.program.properties:
        verdict = run(prop.judge, view)
        if not verdict:
            found.append(PropertyFailure(prop.name, "safety", verdict.why))
    if world.is_at_rest:
        found += _at_rest(world)
    return found


def _at_rest(world: ProcessWorld) -> list[PropertyFailure]:
    words = Words(world.program)
    if not world.is_over:
        return [PropertyFailure("no_deadlock", "deadlock", words.who_waits(world))]
    left = world.leftovers() if world.program.leftovers else []
    if not left:
        return []
    return [PropertyFailure("no_leftovers", "unmatched", words.unmatched(left))]


def _step(
    each: tuple[Taken, int, int, dict[str, Any]], words: Words, index: int, causes: tuple[int, ...]
) -> TraceStep:
    taken, at, fingerprint, before = each
    kind, label, detail, source = words.step(taken)
    changes = {}
    if isinstance(taken.op, ops.Publish):
        field = taken.op.field
        changes = {taken.process: {field: (show(before.get(field)), show(taken.op.value))}}
    return TraceStep(
        index=index,
        node=taken.process,
        kind=kind,
        label=storable(label),
        detail=storable(detail),
        source=source,
        choices=((at, taken.options),) if taken.options > 1 else (),
        sends=_sent(taken, words),
        follows=causes,
        logs=tuple(map(storable, taken.logs)),
        changes=changes,
        failure=storable(taken.then.text) if isinstance(taken.then, ops.Failed) else None,
        fingerprint=fingerprint,
    )


def _sent(taken: Taken, words: Words) -> tuple[Sent, ...]:
    post = taken.post
    if post is None or not isinstance(post.op, ops.Send):
        return ()
    to = post.partner.owner if post.partner else words.to(post.op).strip("`")
    return (Sent(post.owner, to, words.message(post.op.payload)),)


def expected(world: ProcessWorld, step: Choice) -> Taken:
    """What taking a step will be, as far as it is known before."""
    member = world.members[step.process]
    op = member.live.at
    if member.killed:
        return Taken(step.process, DIES, Response(), 1)
    assert not isinstance(op, ops.Done | ops.Failed), step
    response = Response(step.choice)
    if isinstance(op, ops.WaitAny | ops.TestAny) and step.choice != ops.NONE:
        post = member.posts[op.slots[step.choice]]
        offer = post.got
        payload = None if offer is None else world.payloads.fresh(offer.payload)
        return Taken(step.process, op, Response(step.choice, payload), 1, got=(post,))
    if isinstance(op, ops.Probe):
        response = Response(int(world.seen(op) is not None))
    if isinstance(op, ops.Cancel):
        post = member.posts[op.slot]
        response = Response(int(any(post is each for each in world.unmatched())))
    return Taken(step.process, op, response, 1)
