"""Read the fields of a service class from its annotations and marks.

The fields are the node's whole state, so this is where one is refused that could not be: shared
between nodes, without a type, or under a name that means something else.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import Field as DataclassField
from types import FunctionType
from typing import Any, ClassVar, get_origin

from msgspec import Struct

from presage.errors import BadField, BadService, SharedDefault
from presage.model.service.declare import MISSING, FieldKind, FieldMark
from presage.model.service.facilities import PROVIDED, Shadow
from presage.model.source import place_of, place_of_attribute

# What only presage may define; a field or method called like a facility takes its place.
NOT_FIELDS = {
    "start": "`start` is the method that runs when a node comes up",
    "presage": "`self.presage` is the way to `send`, `log` and the like",
    "_run": "presage keeps there what a handler does",
}
NOT_DEFINED = ("__init__", "__new__", "__slots__", "__setattr__", "__getattribute__")
MUTABLE = (list, dict, set, bytearray, deque)


class Field(Struct, frozen=True):
    name: str
    kind: FieldKind
    default: Any
    factory: Callable[[], Any] | None
    checkpoint: bool = True  # whether checkpoints of a live node hold it
    hidden: bool = False  # part of the state, but never shown

    @property
    def required(self) -> bool:
        return self.default is MISSING and self.factory is None

    def make(self) -> Any:
        """The value a node has when its constructor was not given another."""
        return self.default if self.factory is None else self.factory()


class Definition(Struct, frozen=True):
    """A class under definition, and where its statement stands."""

    cls: Any
    file: str
    line: int

    def wrong(
        self, error: type[BadService], attribute: str, fact: str, cause: str, remedy: str
    ) -> BadService:
        value = self.cls.__dict__.get(attribute)
        where = (
            place_of(value)
            if isinstance(value, FunctionType)
            else place_of_attribute(self.file, self.line, attribute)
        )
        return error(self.cls.__name__, attribute, where, fact, cause, remedy)


def read_fields(definition: Definition) -> tuple[Field, ...]:
    """The fields of the bases first, each where it was declared first."""
    cls = definition.cls
    found: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        for field in base.__dict__.get("_presage_fields", ()):
            found[field.name] = field
    _check_machinery(definition)
    own = _annotations(cls)
    for name, annotation in own.items():
        if not _is_class_variable(annotation):
            found[name] = _field(definition, name, cls.__dict__.get(name, MISSING), "volatile")
    for name, value in list(cls.__dict__.items()):
        if name in own or name.startswith(("__", "_presage")):
            continue
        if name in found:  # a base's field with another default
            found[name] = _field(definition, name, value, found[name].kind, found[name].checkpoint)
        else:
            _check_constant(definition, name, value)
    for name in found:
        if isinstance(cls.__dict__.get(name), FieldMark):
            delattr(cls, name)
        if name in PROVIDED and name not in cls.__dict__:
            setattr(cls, name, Shadow(name))
    return tuple(found.values())


def _field(
    definition: Definition, name: str, value: Any, kind: FieldKind, checkpoint: bool = True
) -> Field:
    if name in NOT_FIELDS or name.startswith(("_presage", "__")):
        raise definition.wrong(
            BadField,
            name,
            "is a field with a reserved name",
            NOT_FIELDS.get(name, "names that begin so belong to Python and to presage"),
            "choose another name",
        )
    hidden = False
    if isinstance(value, FieldMark):
        checkpoint, hidden = value.checkpoint, value.hidden
        kind, value, factory = value.kind, value.default, value.factory
    else:
        factory = None
    if isinstance(value, FunctionType | property | staticmethod | classmethod):
        raise definition.wrong(
            BadField,
            name,
            "is both a field and a method",
            "one name used for two things, perhaps one of them in a base class",
            "rename one of them",
        )
    if isinstance(value, DataclassField):
        raise definition.wrong(
            BadField,
            name,
            "has a `dataclasses.field` as its default",
            "a field written as in a dataclass; a service is none",
            f"`{name}: ... = state(list)` for what is made anew, `= 0` for a plain default",
        )
    if isinstance(value, MUTABLE) or type(value).__hash__ is None:
        raise definition.wrong(
            SharedDefault,
            name,
            f"has a `{type(value).__name__}` as its default, one object for all nodes",
            "a default written as in a plain class",
            f"give a factory: `{name}: ... = {_factory(kind, type(value).__name__)}`",
        )
    if kind == "ghost" and value is MISSING and factory is None:
        raise definition.wrong(
            BadField,
            name,
            "is a ghost without a default",
            "a ghost starts every handler with its default, so it needs one",
            f"`{name}: ... = ghost(0)`",
        )
    return Field(name, kind, value, factory, checkpoint, hidden)


def _factory(kind: FieldKind, maker: str) -> str:
    return f"state({maker})" if kind == "volatile" else f"{kind}(factory={maker})"


def _check_constant(definition: Definition, name: str, value: Any) -> None:
    """An attribute without annotation is a constant of the class; refuse what cannot be one."""
    method = isinstance(value, FunctionType | property | staticmethod | classmethod)
    if name in PROVIDED and not method and value is not None:
        raise definition.wrong(
            BadField,
            name,
            f"redefines `self.{name}`, which every service has, without a type",
            "a field whose annotation was left out",
            f"a field of your own: `{name}: {type(value).__name__} = ...`;"
            f" what presage has is then `self.presage.{name}`",
        )
    if name in ("presage", "_run"):
        raise definition.wrong(
            BadField,
            name,
            "redefines what every service has",
            NOT_FIELDS[name],
            "choose another name",
        )
    if isinstance(value, FieldMark):
        raise definition.wrong(
            BadField,
            name,
            "is declared as a field but has no type",
            "the annotation was left out",
            f"write `{name}: <type> = ...`",
        )
    if isinstance(value, MUTABLE):
        raise definition.wrong(
            SharedDefault,
            name,
            f"is a `{type(value).__name__}` without annotation, one object for all nodes",
            "a field whose annotation was left out",
            f"a field: `{name}: ... = state({type(value).__name__})`;"
            f" a constant table: `{name}: ClassVar[...] = ...`",
        )


def _check_machinery(definition: Definition) -> None:
    """A node is rebuilt from its fields alone, so nothing may stand between them and it."""
    for name in NOT_DEFINED:
        if name in definition.cls.__dict__:
            raise definition.wrong(
                BadField,
                name,
                "is defined, but no node is made by it: a node is rebuilt from its fields",
                "set-up code written as in a plain class",
                "give values to the constructor (`Server(quorum=2)`), do the rest in `start`",
            )


def _annotations(cls: Any) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    written = cls.__dict__.get("__annotations__")
    return dict(written) if isinstance(written, dict) else {}


def _is_class_variable(annotation: Any) -> bool:
    if isinstance(annotation, str):
        found = "ClassVar" in annotation and re.match(r"\s*(\w+\.)*ClassVar\b", annotation)
        return bool(found)
    return annotation is ClassVar or get_origin(annotation) is ClassVar
