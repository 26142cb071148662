"""What a service may say about running live: whom it deals with, and what it does about the future.

`neighbours` and `@on_prediction` mean nothing to a search. A live node asks the first to know whose
checkpoints it needs, and runs the second as a step when a violation was predicted from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from types import FunctionType
from typing import Any, TypeAlias

from presage.errors import BadCall, BadHandler, UnknownNode
from presage.model.functions import is_coroutine, static_attribute
from presage.model.service.fields import Definition
from presage.model.service.signature import arity
from presage.records import record

OwnEvent: TypeAlias = tuple[Any, ...]


@record(frozen=True)
class PredictedViolation:
    """A violation that lies ahead, as a node on the way to it hears of it.

    `events` are what happens at this node on that way, in order, as plain data: ("message", source,
    message), ("broken", peer), ("timer", name, *args), ("action", name) or ("action", name, value),
    ("call", method), ("write", field, key), or a fault: ("crash",), ("restart",), ("reset",),
    ("silent_reset",), ("slow",), ("wake",).
    """

    property: str  # the name of what would be violated
    steps: int  # how many events of all nodes away
    events: tuple[OwnEvent, ...] = ()


def neighbours_of(definition: Definition) -> Callable[..., Any] | None:
    """The method `neighbours` of a service; None if there is none, or a field of that name."""
    method = static_attribute(definition.cls, "neighbours", None)
    if not isinstance(method, FunctionType):
        return None
    if arity(definition, "neighbours", method)[0] > 0 or is_coroutine(method):
        raise definition.wrong(
            BadHandler,
            "neighbours",
            "cannot be called without arguments",
            "a live node asks `neighbours(self)` whose checkpoints it needs",
            "write `def neighbours(self) -> Iterable[str]`, or call a helper of yours otherwise",
        )
    return method


def checked_neighbours(named: Any, node: str, known: Iterable[str], place: str) -> tuple[str, ...]:
    """The names that a `neighbours` returned, without the node itself, each once.

    In the order in which they were given, which is that of importance; those of a set, sorted.
    """
    if isinstance(named, str) or not isinstance(named, Iterable):
        raise BadCall(
            f"{place}: `neighbours` returned {named!r}",
            "one name, or none, in the place of several",
            "return the names of other nodes: `return [self.parent]`, or `return ()`",
        )
    names = tuple(known)
    found = list(dict.fromkeys(named))
    for each in found:
        if each not in names:
            raise UnknownNode(each, names, f"{place}: `neighbours`")
    ordered = sorted(found) if isinstance(named, Set) else found
    return tuple(each for each in ordered if each != node)
