"""`Service`: the class a user derives from to say what a node remembers and how it reacts.

Annotated attributes are the node's state; everything else about it (timers, sends, choices) goes
through its `Facilities`. An instance is either a prototype, whose field values a `System` takes as
the node's initial ones, or lives for one run of one handler.

Invariant: the instance `__dict__` holds the declared fields and nothing else.
"""

from __future__ import annotations

from typing import Any, ClassVar

from presage.errors import BadPrototype, did_you_mean
from presage.model.service.facilities import Behind, Facilities
from presage.model.service.fields import Definition, Field
from presage.model.service.run import OUTSIDE
from presage.model.service.shape import Shape
from presage.model.source import caller, class_statement


class Service(Facilities):
    """The code and state of a node. Derive from it; declare fields; mark handlers."""

    __slots__ = ("__dict__", "_run")

    _presage_base: ClassVar[bool] = True  # tells this class's empty `start` from a user's
    _presage_shape: ClassVar[Shape]
    _presage_fields: ClassVar[tuple[Field, ...]] = ()

    def __init_subclass__(cls, *, view: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if view:  # a read-only face of a class that was read already
            return
        cls._presage_shape = Shape(Definition(cls, *class_statement()))
        cls._presage_fields = cls._presage_shape.fields

    def __init__(self, *unnamed: Any, **values: Any) -> None:
        self._run = OUTSIDE
        cls = type(self)
        if unnamed:
            raise _unnamed(cls, unnamed[0])
        for field in cls._presage_fields:
            if field.name in values:
                self.__dict__[field.name] = values.pop(field.name)
            elif field.required:
                raise BadPrototype(
                    f"{caller()}: `{cls.__name__}` was made without its field `{field.name}`",
                    "the field has no default",
                    f"`{cls.__name__}({field.name}=...)`, or give it a default in the class",
                )
            else:
                self.__dict__[field.name] = field.make()
        if values:
            names = [field.name for field in cls._presage_fields]
            known = ", ".join(f"`{name}`" for name in names) or "none"
            wrong = next(iter(values))
            raise BadPrototype(
                f"{caller()}: `{cls.__name__}` has no field `{wrong}`;"
                f" its fields are {known}{did_you_mean(wrong, names)}",
                "a misspelt name, or an attribute without annotation",
                "declare it in the class body with a type",
            )

    def start(self) -> None:
        """Runs when the node comes up: at the beginning and after every restart."""

    @property
    def presage(self) -> Facilities:
        """All that presage gives a service: also where a field is called `log`, `name` or so."""
        return Behind(self._run)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"


def _unnamed(cls: type[Service], value: Any) -> BadPrototype:
    first = cls._presage_fields[0].name if cls._presage_fields else "field"
    return BadPrototype(
        f"{caller()}: `{cls.__name__}({value!r})` does not say which field that is",
        "fields are given by name only",
        f"`{cls.__name__}({first}={value!r})`",
    )
