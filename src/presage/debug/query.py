"""Questions about an execution: where something becomes true, who wrote a value, what matches.

Expressions are Python over `world`, as a property sees it: read-only, on a copy, under the watch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

from presage.debug.session import Session
from presage.errors import BadCommand, PresageError
from presage.model.choice import NOT_THEIRS
from presage.model.world.view import name_of
from presage.records import record
from presage.trace.diff import Path
from presage.trace.trace import TraceStep
from presage.trace.writers import part, writer

SELECTORS = ("node", "kind")
TYPED = "<expression>"  # the file that an expression is said to stand in


@record(frozen=True)
class Found:
    """Where an expression was looked for, and what came of it."""

    step: int | None  # the first step at which it is true; None: at none
    looked: int  # how many states it was asked of
    raised: tuple[int, str] | None = None  # the first step at which it failed, and how


def until(session: Session, text: str, steps: Iterable[int]) -> Found:
    """The first of `steps` after which the expression `text` is true."""
    code = compiled(text)
    raised, looked = None, 0
    for step in steps:
        looked += 1
        try:
            if evaluate(session, code, step):
                return Found(step, looked, raised)
        except NOT_THEIRS:
            raise
        except BaseException as error:
            if session.sandbox.error is not None:
                raise
            raised = raised or (step, error_text(error))
    return Found(None, looked, raised)


def compiled(text: str) -> CodeType:
    """The expression `text`, ready to be asked."""
    try:
        return compile(text.strip(), TYPED, "eval")
    except (SyntaxError, ValueError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise BadCommand(
            f"`{text}` is not a Python expression: {reason}",
            "a statement, or a bracket or quote that is missing",
            'for example `until world["n0"].up`; `==` compares',
        ) from None


def evaluate(session: Session, code: CodeType, step: int) -> Any:
    """What an expression gives in the state after `step`."""
    view = session.here.view(step)
    names = session.here.known(step)
    names |= {name_of(node): node for node in view.nodes if name_of(node).isidentifier()}
    names |= {"world": view, "step": step}
    return session.sandbox.run(eval, code, names)


def error_text(error: BaseException) -> str:
    text = str(error).partition("\n")[0]
    return text if isinstance(error, PresageError) else f"{type(error).__name__}: {text}"


@record(frozen=True)
class Blame:
    """The step that gave a part of the state its value."""

    name: str
    step: int  # 0: it is as it began
    before: Any
    after: Any


def blame(session: Session, name: str) -> Blame:
    """Who last wrote `node.field`, or a part of it, up to where the session is."""
    path = path_of(session, name)
    states = [session.state(step) for step in range(session.step + 1)]
    step = writer(states, session.step, path)
    before = part(states[step - 1], path) if step else None
    return Blame(name, step, before, part(states[step], path))


def path_of(session: Session, name: str) -> Path:
    """The path of `n2.parent` or `n2.table['x']` in a state; refuses what is not there."""
    state = session.state()
    node = max((each for each in state if _begins(name, each)), key=len, default=None)
    if node is None:
        raise _nothing(f"`{name}` names no node", name, state)
    path: list[str | int] = [node]
    for key, field in re.findall(r"\[([^\]]*)\]|([^.\[\]]+)", name[len(node) :]):
        at = part(state, tuple(path))
        wanted = key or field
        if isinstance(at, list | tuple) and wanted.isdigit():
            path.append(int(wanted))
        elif isinstance(at, dict) and wanted in at:
            path.append(wanted)
        elif isinstance(at, dict) and repr(wanted) in at:
            path.append(repr(wanted))
        else:
            raise _nothing(f"`{name}`: there is no `{wanted}`", name, at)
    return tuple(path)


def _begins(name: str, node: str) -> bool:
    return name == node or name.startswith((f"{node}.", f"{node}["))


def _nothing(fact: str, name: str, known: Any) -> BadCommand:
    names = [each for each in known if each] if isinstance(known, dict) else []
    there = ", ".join(names[:12]) or "nothing with a name"
    return BadCommand(fact, "a misspelt name, or one that is not there yet", there)


@record(frozen=True)
class Filter:
    """Which steps are listed: all that match every word, given as `+re -re node:n kind:k`."""

    text: str = ""
    wanted: tuple[re.Pattern[str], ...] = ()
    unwanted: tuple[re.Pattern[str], ...] = ()
    selectors: tuple[tuple[str, str, bool], ...] = ()  # (node or kind, value, wanted)

    @classmethod
    def of(cls, words: Iterable[str]) -> Filter:
        wanted: list[re.Pattern[str]] = []
        unwanted: list[re.Pattern[str]] = []
        selectors: list[tuple[str, str, bool]] = []
        for word in words:
            keep, rest = not word.startswith("-"), word.removeprefix("-").removeprefix("+")
            name, colon, value = rest.partition(":")
            if colon and name in SELECTORS:
                selectors.append((name, value, keep))
            else:
                (wanted if keep else unwanted).append(pattern(rest))
        return cls(" ".join(words), tuple(wanted), tuple(unwanted), tuple(selectors))

    def keeps(self, step: TraceStep) -> bool:
        for name in SELECTORS:
            ones = [value for n, value, keep in self.selectors if n == name and keep]
            others = [value for n, value, keep in self.selectors if n == name and not keep]
            value = getattr(step, name)
            if value in others or (ones and value not in ones):
                return False
        if not (self.wanted or self.unwanted):
            return True
        text = "\n".join(lines_of(step))
        return all(each.search(text) for each in self.wanted) and not any(
            each.search(text) for each in self.unwanted
        )


def pattern(text: str) -> re.Pattern[str]:
    """A regular expression; one that is not is refused with the reason."""
    try:
        return re.compile(text)
    except re.error as error:
        raise BadCommand(
            f"`{text}` is not a regular expression: {error}",
            "a bracket or a star that is meant literally",
            "put a backslash before it",
        ) from None


def lines_of(step: TraceStep) -> Iterator[str]:
    """Everything that is known of a step, a line each."""
    yield f"{step.node} {step.kind} {step.label}".rstrip()
    if step.detail and step.detail not in step.label:
        yield step.detail
    yield from (f"sends {sent.message} -> {sent.to}" for sent in step.sends)
    yield from (f"records {record}" for record in step.records)
    yield from (f"logs {text}" for text in step.logs)
    for node, fields in step.changes.items():
        yield from (f"{node}.{field}  {old} -> {new}" for field, (old, new) in fields.items())
    if step.failure is not None:
        yield f"raises {step.failure}"
