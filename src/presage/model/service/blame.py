"""Who is to blame when a run does not end well, in words: texts and errors about checked code.

A failure of checked code is a finding and becomes part of the state; misuse of presage is an error
and ends the search. Both name the line of the user's code that led there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from presage.errors import (
    DeletedField,
    GuardError,
    Nondeterminism,
    NotEnumerable,
    PresageError,
    UndeclaredField,
)
from presage.model.choice import NOT_THEIRS
from presage.model.source import place_of, raised

FORGIVE: ContextVar[Callable[[Any, PresageError], bool] | None] = ContextVar(
    "forgive", default=None
)


def describe_failure(error: BaseException, function: Callable[..., Any]) -> tuple[str, str]:
    """The exception that left a handler: briefly, for the state, and in full, for people.

    The state keeps the kind of exception and the function only: texts may hold addresses and the
    order of sets, lines move, and a state must be the same in the next process.
    """
    kind = type(error).__name__
    where, name = raised(error.__traceback__) or (place_of(function), function.__name__)
    try:
        text = re.sub(r" at 0x[0-9a-fA-F]+", "", str(error))
    except Exception:  # an exception class of the user's that cannot even say what it is
        text = ""
    told = f"{kind}: {text}" if text else kind
    return f"{kind} in {name}", f"{told} at {where} in {name}"


def wrong_fields(
    service: type, function: Callable[..., Any], declared: tuple[str, ...], held: Mapping[str, Any]
) -> UndeclaredField:
    """A handler left other fields than the declared ones."""
    where = f"{place_of(function)}: `{service.__name__}.{function.__name__}`"
    for field in held:
        if field not in declared:
            return UndeclaredField(service.__name__, field, where)
    missing = next(field for field in declared if field not in held)
    return DeletedField(service.__name__, missing, where)


def guard_error(guard: object, error: BaseException) -> GuardError:
    """A guard, or `over`, raised."""
    where = raised(error.__traceback__)
    place = where[0] if where else place_of(guard) if callable(guard) else f"`over={guard!r}`"
    return GuardError(
        f"{place}: a guard raised {type(error).__name__}: {error}",
        "a field or message that the guard expects to be set is not, in some state",
        "let `when` and `over` answer in every state the node can be in",
    )


def guard_writes(guard: Any, what: str) -> GuardError:
    """A guard, or `over`, changed the node that it is asked about."""
    place = place_of(guard) if callable(guard) else f"`over={guard!r}`"
    return GuardError(
        f"{place}: a guard {what}",
        "a guard is asked at any time and as often as need be, so nothing may come of it",
        "let `when` and `over` only read; change fields in the handler, and work on copies",
    )


def too_many_branches(node: str, what: str, most: int) -> NotEnumerable:
    """One step has more results than a search could go through."""
    return NotEnumerable(
        f"{node}: the step `{what}` has more than {most} results",
        "several large choices in one handler, such as the shuffle of a long list",
        "choose less in one step, or among the cases that matter",
    )


def other_choices(node: str, service: type) -> Nondeterminism:
    """Two runs that made the same choices were not offered the same ones."""
    return Nondeterminism(
        f"{node}: with the same state and choices, a handler of"
        f" `{service.__name__}` once asked for other choices than before"
    )


def ask(guard: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """What a guard says; an exception out of it is an error of the system."""
    try:
        return bool(guard(*args))
    except PresageError as error:
        return forgiven((guard, args), error)
    except NOT_THEIRS:
        raise
    except BaseException as error:
        problem = guard_error(guard, error)
        problem.__cause__ = error
        return forgiven((guard, args), problem)


def forgiven(what: Any, error: PresageError) -> bool:
    """What is taken for the answer of `what`, a guard or an arrival, that cannot be asked.

    Raises `error`, unless somebody looks at what can happen and goes on without it.
    """
    forgive = FORGIVE.get()
    if forgive is None:
        raise error
    return forgive(what, error)
