"""A run of a program told as a trace: the steps of a path, taken again on live processes.

Every finding of the kernel comes through here before it is reported: its path is followed from the
start on real code, and what was found has to show itself again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from presage.errors import BadTrace, Nondeterminism, explain
from presage.process.ops import (
    NONE,
    Cancel,
    Done,
    Failed,
    Probe,
    Publish,
    Response,
    Send,
    TestAny,
    WaitAny,
)
from presage.process.program import Program
from presage.process.view import ProgramView
from presage.process.world import DIES, Choice, ProcessWorld, Taken
from presage.search.influence import follows
from presage.search.words import Words
from presage.trace.show import show
from presage.trace.trace import Sent, TraceStep

Run = Callable[..., Any]


class Broken(Struct, frozen=True):
    """What is wrong with a world: which property, what kind of violation, and why."""

    prop: str
    kind: str
    message: str


class Told(Struct, frozen=True):
    """A path that was followed on live processes."""

    world: ProcessWorld
    initial: int  # fingerprint
    steps: tuple[TraceStep, ...]
    taken: tuple[Taken, ...]
    path: tuple[Choice, ...]


class Following:
    """A program that is run from the start, a step at a time; what happened can be told."""

    def __init__(self, program: Program, run: Run) -> None:
        self.world: ProcessWorld = run(ProcessWorld, program)
        self.initial = self.world.fingerprint
        self._run = run
        self._happened: list[tuple[Taken, int, int, dict[str, Any]]] = []

    def __len__(self) -> int:
        return len(self._happened)

    def options(self, process: str) -> list[int]:
        """The ways in which a process can go on now; none if there is no such process."""
        member = self.world.members.get(process)
        return [] if member is None else list(self.world.choices(member))

    def take(self, step: Choice) -> Taken:
        """Take a step, which has to be possible."""
        at = self.options(step.process).index(step.choice)
        before = self.world.published(step.process)
        taken: Taken = self._run(self.world.take, step)
        self._happened.append((taken, at, self.world.fingerprint, before))
        return taken

    @property
    def taken(self) -> tuple[Taken, ...]:
        return tuple(each[0] for each in self._happened)

    def steps(self) -> tuple[TraceStep, ...]:
        """What happened, as a trace tells it; a message goes to whom it has met by now."""
        causes = follows(self.taken, order=False)
        words = Words(self.world.program)
        return tuple(
            _step(each, words, index, tuple(sorted(causes[index])))
            for index, each in enumerate(self._happened, 1)
        )

    def close(self) -> None:
        """Let go of the processes."""
        for member in self.world.members.values():
            self._run(member.live.close)


def follow(
    program: Program,
    path: Iterable[Choice],
    run: Run,
    each: Callable[[ProcessWorld], None] = lambda _: None,
) -> Told:
    """Take the steps of `path` from the start; `each` sees the world before and after each."""
    following, path = Following(program, run), tuple(path)
    each(following.world)
    for index, step in enumerate(path, 1):
        if step.choice not in following.options(step.process):
            raise Nondeterminism(
                f"step {index} of a run, of process `{step.process}`, is not possible on the"
                " second run"
            )
        following.take(step)
        each(following.world)
    return Told(following.world, following.initial, following.steps(), following.taken, path)


def retrace(
    program: Program,
    steps: Sequence[TraceStep],
    run: Run,
    each: Callable[[ProcessWorld], None] = lambda _: None,
) -> Told:
    """The steps of a saved trace, taken again on the program as it is now."""
    following, path = Following(program, run), []
    for step in steps:
        path.append(choice_of(following, step))
        following.take(path[-1])
    return follow(program, path, run, each)


def choice_of(following: Following, step: TraceStep) -> Choice:
    """The choice that `step` is of, where a run has come; refuses one that is not there."""
    options = following.options(step.node)
    at = step.choices[0][0] if step.choices else 0
    if at >= len(options):
        raise BadTrace(
            explain(
                f"step {step.index} (`{step.label}` of {step.node}) is not possible any more",
                "the program was changed since the trace was made",
                "make the trace again with `presage check`",
            )
        )
    return Choice(step.node, options[at])


def broken(world: ProcessWorld, run: Run) -> list[Broken]:
    """Everything that is wrong with a world."""
    found = [
        Broken("no_exception", member.failed.kind, member.failed.text)
        for member in world.members.values()
        if member.failed is not None
    ]
    view = ProgramView({name: world.published(name) for name in world.members})
    for prop in world.program.properties:
        verdict = run(prop.judge, view)
        if not verdict:
            found.append(Broken(prop.name, "safety", verdict.why))
    if not world.enabled():
        found += _at_rest(world)
    return found


def _at_rest(world: ProcessWorld) -> list[Broken]:
    words = Words(world.program)
    if not world.is_over:
        return [Broken("no_deadlock", "deadlock", words.who_waits(world))]
    left = world.leftovers() if world.program.leftovers else []
    if not left:
        return []
    return [Broken("no_leftovers", "unmatched", words.unmatched(left))]


def _step(
    each: tuple[Taken, int, int, dict[str, Any]], words: Words, index: int, causes: tuple[int, ...]
) -> TraceStep:
    taken, at, fingerprint, before = each
    kind, label, detail, source = words.step(taken)
    changes = {}
    if isinstance(taken.op, Publish):
        field = taken.op.field
        changes = {taken.process: {field: (show(before.get(field)), show(taken.op.value))}}
    return TraceStep(
        index=index,
        node=taken.process,
        kind=kind,
        label=_text(label),
        detail=_text(detail),
        source=source,
        choices=((at, taken.options),) if taken.options > 1 else (),
        sends=_sent(taken, words),
        follows=causes,
        logs=tuple(map(_text, taken.logs)),
        changes=changes,
        failure=_text(taken.then.text) if isinstance(taken.then, Failed) else None,
        fingerprint=fingerprint,
    )


def _sent(taken: Taken, words: Words) -> tuple[Sent, ...]:
    post = taken.post
    if post is None or not isinstance(post.op, Send):
        return ()
    to = post.partner.owner if post.partner else words.to(post.op).strip("`")
    return (Sent(post.owner, to, words.message(post.op.payload)),)


def expected(world: ProcessWorld, step: Choice) -> Taken:
    """What taking a step will be, as far as it can be told before."""
    member = world.members[step.process]
    op = member.live.at
    if member.killed:
        return Taken(step.process, DIES, Response(), 1)
    assert not isinstance(op, Done | Failed), step
    response = Response(step.choice)
    if isinstance(op, WaitAny | TestAny) and step.choice != NONE:
        post = member.posts[op.slots[step.choice]]
        offer = post.got
        payload = None if offer is None else world.payloads.fresh(offer.payload)
        return Taken(step.process, op, Response(step.choice, payload), 1, got=(post,))
    if isinstance(op, Probe):
        response = Response(int(world.seen(op.mailbox, op.want) is not None))
    if isinstance(op, Cancel):
        post = member.posts[op.slot]
        response = Response(int(any(post is each for each in world.unmatched())))
    return Taken(step.process, op, response, 1)


def _text(text: str) -> str:
    """`text` without lone surrogates, which no file can hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
