"""The whole state after one step: every field of every node, what is in flight, any expression.

Values are written in Python's own spelling. An expression is what a person types in a session of
their own; nothing out of a trace is ever evaluated.
"""

from __future__ import annotations

from typing import Any

from presage.debug.branch import Written
from presage.debug.query import TYPED, compiled, error_text, evaluate
from presage.debug.session import Session
from presage.errors import BadCommand, GhostRead, did_you_mean
from presage.model.choice import Interrupted
from presage.model.world.view import name_of
from presage.records import NamedTuple
from presage.trace.plain import TYPE, Plain, text_of
from presage.trace.show import show


class Channel(NamedTuple):
    """Messages on their way from one node to another, or what waits at a mailbox."""

    name: str
    messages: tuple[str, ...]
    kind: str  # of "queue", "lane", "stream" messages are in order, the next one first


def node_state(session: Session, node: str) -> dict[str, str]:
    """All there is to say of one node here: first its fields, then what presage knows of it."""
    state = session.state()
    if node not in session.names:
        names = ", ".join(session.names)
        raise BadCommand(
            f"there is no node `{node}`; the nodes are {names}{did_you_mean(node, session.names)}"
        )
    parts = state.get(node)
    if not isinstance(parts, dict):  # a process that has not begun
        return {}
    values = session.here.values(session.step).get(node, {})
    written: dict[str, str] = session.sandbox.run(_written, values)
    return written | {name: _text(part) for name, part in parts.items() if name not in values}


def _written(values: dict[str, Any]) -> dict[str, str]:
    return {name: show(value) for name, value in values.items()}


def _text(part: Plain) -> str:
    if isinstance(part, dict) and part.get(TYPE) in ("timers", "posted"):
        named = [name for name in part if name != TYPE]
        if part[TYPE] == "posted":
            named = [text_of(part[name]) for name in named]
        return ", ".join(named) or "none"
    return text_of(part)


def around(session: Session) -> dict[str, str]:
    """What is between the nodes besides messages: observers, streams, what is left of faults."""
    state = session.state()
    (between,) = (state[name] for name in list(state)[-1:])
    assert isinstance(between, dict)
    skipped = ("messages", "mailboxes")
    return {name: _between(part) for name, part in between.items() if name not in skipped}


def _between(part: Plain) -> str:
    if not isinstance(part, dict):
        return text_of(part)
    named = {name: each for name, each in part.items() if name != TYPE}
    return ", ".join(f"{name}: {text_of(each)}" for name, each in named.items()) or "none"


def channels(session: Session) -> list[Channel]:
    found = session.here.channels(session.step)
    written: list[Channel] = session.sandbox.run(_channels, found)
    return written


def _channels(found: list[tuple[str, str, list[Any]]]) -> list[Channel]:
    return [Channel(name, tuple(map(_message, sent)), kind) for name, kind, sent in found]


def _message(message: Any) -> str:
    return message if isinstance(message, Written) else show(message)


def value_of(session: Session, text: str) -> tuple[str | None, str]:
    """What the expression `text` gives here: the node that it is, if it is one, and its text."""
    try:
        code = compiled(text)
    except BadCommand as error:
        raise BadCommand(str(error).partition("\n")[0]) from None
    try:
        value = evaluate(session, code, session.step)
        if hasattr(type(value), "_presage_automaton"):
            return name_of(value), ""
        written: str = session.sandbox.run(show, value)
        return None, written
    except (Interrupted, KeyboardInterrupt):
        raise
    except BaseException as error:
        session.sandbox.error = None  # it is said here, and the session goes on
        raise BadCommand(f"`{text}`: {_failure(session, error)}") from None


def _failure(session: Session, error: BaseException) -> str:
    """Why an expression gives nothing, in one line."""
    if isinstance(error, GhostRead):
        return "it reads a ghost, which `state` shows and no expression sees"
    if isinstance(error, NameError) and error.name:
        names = ", ".join(session.names)
        hint = did_you_mean(error.name, session.names)
        return f"there is no `{error.name}` here; the nodes are {names}{hint}"
    return error_text(error).removeprefix(f"{TYPED}:1: ")
