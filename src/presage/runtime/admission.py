"""Which classes may come from a socket: those that annotations lead to, from handled messages on.

The codec decodes instances of admitted classes only (`Codec.decode_plain`). A message class is
admitted with its subclasses, since a handler takes those too, and with every class that the
annotations of its fields name. A field annotated `Any` may hold plain values only.

A class whose instances run code when they are rebuilt, such as `UUID`, cannot be admitted. That is
said when a node starts, not when the first such message is lost.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

from presage._core import Codec
from presage.errors import BadCluster, NotState
from presage.model.service.stream import Connect
from presage.model.world.system import System

PLAIN = (
    type(None), bool, int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset,
    object,
)  # fmt: skip


def admit(system: System, codec: Codec) -> None:
    """Let `codec` decode the messages of the system from anybody."""
    handled = {cls for automaton in system.automata for cls in automaton.shape.handlers}
    for cls, path in reachable([Connect, *sorted(handled, key=_name)]):
        try:
            codec.admit(cls)
        except NotState as error:
            raise BadCluster(
                f"{path} cannot be sent to another process: `{_name(cls)}` is no plain data",
                str(error).partition("\n")[0],
                "send texts, numbers, tuples, enums or frozen dataclasses of these instead",
            ) from None


def reachable(messages: Iterable[type]) -> Iterator[tuple[type, str]]:
    """Every class that a message may be made of, with how it is reached."""
    waiting = [(cls, f"message `{cls.__name__}`") for cls in messages]
    seen: set[type] = set(PLAIN)
    while waiting:
        cls, path = waiting.pop()
        if cls in seen:
            continue
        seen.add(cls)
        yield cls, path
        if issubclass(cls, Enum):
            continue
        for field, annotation in _annotations(cls):
            for named in _classes(annotation):
                waiting.append((named, f"{path}: field `{field}`"))
        for derived in type.__subclasses__(cls):
            waiting.append((derived, f"message `{derived.__name__}`"))


def _annotations(cls: type) -> Iterator[tuple[str, Any]]:
    try:
        yield from typing.get_type_hints(cls).items()
    except Exception:  # a name that exists for type checkers only: such a field is plain
        return


def _classes(annotation: Any) -> Iterator[type]:
    """The classes that an annotation names, whatever it wraps them in."""
    if isinstance(annotation, typing.TypeVar):
        for bound in (annotation.__bound__, *annotation.__constraints__):
            yield from _classes(bound)
        return
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        yield from (type(value) for value in typing.get_args(annotation) if type(value) in PLAIN)
        yield from (type(value) for value in typing.get_args(annotation) if isinstance(value, Enum))
    elif origin in (typing.ClassVar, type):
        return
    elif origin is not None:
        if isinstance(origin, type) and not _is_abstract(origin):
            yield origin
        for inner in typing.get_args(annotation):
            yield from _classes(inner)
    elif isinstance(annotation, type) and not _is_abstract(annotation):
        yield annotation


def _is_abstract(cls: type) -> bool:
    """Protocols and the like, of which nothing is an instance itself."""
    return cls in (types.UnionType, types.NoneType) or cls.__module__ in (
        "collections.abc",
        "typing",
    )


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
