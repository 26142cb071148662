"""Data classes and named tuples that are quickly made.

`dataclasses.dataclass` writes the methods of a class as text and compiles them: half a millisecond
for each class, whenever a command starts. `record` lets it find the fields and nothing else, and
adds methods that go by these fields: a twentieth of the time, and an instance takes a microsecond
longer. A call that is not an ordinary one, and a question for the signature, meet the
constructor that `dataclasses` writes, which is made then.

`typing.NamedTuple` compiles the annotation of each field to check it, as mypy has done before.
"""

from __future__ import annotations

import collections
import dataclasses
from operator import attrgetter
from reprlib import recursive_repr

__all__ = ["NamedTuple", "record"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from typing import NamedTuple
else:
    SPECIAL = ("ClassVar", "InitVar", "KW_ONLY")  # annotations that make no field

    def record(cls=None, /, **options):
        """`dataclasses.dataclass`, of `init`, `repr`, `eq`, `frozen` and `kw_only`."""
        if cls is None:
            return lambda made: _complete(made, **options)
        return _complete(cls, **options)

    def _complete(cls, *, init=True, repr=True, eq=True, frozen=False, kw_only=False):
        own, text = set(vars(cls)), cls.__doc__
        cls.__doc__ = text or cls.__name__  # or a signature is written there
        derived = any(map(dataclasses.is_dataclass, cls.__bases__))  # frozen as its bases are
        fields_only = {"init": False, "repr": False, "eq": False, "frozen": frozen and derived}
        _find_fields(cls, **fields_only, kw_only=kw_only)
        cls.__doc__ = text
        params, fields = cls.__dataclass_params__, dataclasses.fields(cls)
        params.init, params.repr, params.eq, params.frozen = init, repr, eq, frozen
        methods = {}
        if init:
            methods["__init__"] = _init(cls, fields)
            own.discard("__init__")
            cls.__signature__ = _Signature()
        if repr:
            methods["__repr__"] = _repr([field.name for field in fields if field.repr])
        if eq:
            methods["__eq__"] = _eq(_values([field.name for field in fields if field.compare]))
            counts = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
            methods["__hash__"] = _hash(_values(counts)) if frozen else None
            if vars(cls).get("__hash__") is None and "__eq__" in own:
                own.discard("__hash__")  # Python itself has written that
        if frozen and not derived:
            methods |= _frozen(cls, frozenset(field.name for field in fields))
        for name, method in methods.items():
            if name not in own:
                if method is not None:
                    method.__qualname__ = f"{cls.__qualname__}.{name}"
                    method.__module__ = cls.__module__
                setattr(cls, name, method)
        return cls

    def _find_fields(cls, **options):
        """Let `dataclasses` find the fields, but not read texts to see that they are only types."""
        written = vars(cls).get("__annotations__", {})
        special = any(word in str(each) for each in written.values() for word in SPECIAL)
        if special or not written:
            dataclasses.dataclass(**options)(cls)
            return
        cls.__annotations__ = dict.fromkeys(written, object)
        try:
            dataclasses.dataclass(**options)(cls)
        finally:
            cls.__annotations__ = written
        for name, annotation in written.items():
            cls.__dataclass_fields__[name].type = annotation

    def _init(cls, fields):
        asked = [field for field in fields if field.init]
        names = tuple(field.name for field in asked if not field.kw_only)
        known = frozenset(field.name for field in asked)
        needed = frozenset(field.name for field in asked if _is_needed(field))
        made = [f for f in fields if f.default_factory is not dataclasses.MISSING]
        start = {f.name: f.default for f in fields if f.init or f in made}  # as they are declared
        made = [(f.name, f.default_factory) for f in made]
        prepares = hasattr(cls, "__post_init__")

        def __init__(self, /, *args, **named):
            given = {**dict(zip(names, args, strict=False)), **named}
            as_usual = len(given) == len(args) + len(named)
            if not as_usual or not needed <= given.keys() <= known:
                return _written(cls).__init__(self, *args, **named)
            values = vars(self)
            values.update(start)
            values.update(given)
            for name, factory in made:
                if name not in given:
                    values[name] = factory()
            if prepares:
                self.__post_init__()

        return __init__

    def _is_needed(field):
        return field.default is field.default_factory is dataclasses.MISSING

    def _written(cls):
        """A class with the constructor that `dataclasses` writes for `cls`."""
        spec = [(field.name, field.type, field) for field in dataclasses.fields(cls)]
        after = {"__post_init__": None} if hasattr(cls, "__post_init__") else {}
        frozen = cls.__dataclass_params__.frozen
        made = dataclasses.make_dataclass(cls.__name__, spec, namespace=after, frozen=frozen)
        made.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
        return made

    class _Signature:
        """The signature of the constructor, for `inspect`."""

        def __get__(self, instance, owner):
            import inspect  # which takes long to load

            for cls in owner.__mro__:
                if "__init__" in vars(cls):
                    if isinstance(vars(cls).get("__signature__"), _Signature):
                        return inspect.signature(_written(cls))
                    break
            raise AttributeError("__signature__")

    def _repr(names):
        @recursive_repr()
        def __repr__(self):
            values = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
            return f"{type(self).__qualname__}({values})"

        return __repr__

    def _values(names):
        """What gives the values of some fields, as a tuple."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda made: tuple([getattr(made, name) for name in names])

    def _eq(values):
        def __eq__(self, other):
            if other.__class__ is self.__class__:
                return values(self) == values(other)
            return NotImplemented

        return __eq__

    def _hash(values):
        def __hash__(self):
            return hash(values(self))

        return __hash__

    def _frozen(cls, names):
        def __setattr__(self, name, value):
            if type(self) is cls or name in names:
                raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
            super(cls, self).__setattr__(name, value)

        def __delattr__(self, name):
            if type(self) is cls or name in names:
                raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
            super(cls, self).__delattr__(name)

        return {"__setattr__": __setattr__, "__delattr__": __delattr__}

    class _Rows(type):
        """Makes a named tuple of each class that is derived."""

        def __new__(mcs, name, bases, inside):
            fields = inside["__annotations__"]
            defaults = [inside.pop(each) for each in fields if each in inside]
            made = collections.namedtuple(
                name, fields, defaults=defaults, module=inside["__module__"]
            )
            made.__new__.__annotations__ = fields
            for each, value in inside.items():
                setattr(made, each, value)
            return made

    class NamedTuple:
        """`typing.NamedTuple`, for modules whose annotations are texts."""

        def __mro_entries__(self, bases):
            return (_Row,)

    _Row = type.__new__(_Rows, "_Row", (), {})
    NamedTuple = NamedTuple()
