"""Data classes that are completed when they are first used, and named tuples quickly made.

`dataclasses.dataclass` writes the methods of a class as text and compiles them, half a millisecond
for each class. A command loads the classes of every feature and uses those of few. So `record` puts
that off until one of these methods is called, or the class is asked for its fields.
`typing.NamedTuple` compiles the annotation of each field to check it, as mypy has done before.
"""

from __future__ import annotations

import collections
import dataclasses
from _thread import RLock

__all__ = ["NamedTuple", "record"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from typing import NamedTuple
else:
    METHODS = ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__")
    FACTS = ("__dataclass_fields__", "__dataclass_params__", "__match_args__", "__signature__")
    _completing = RLock()  # completing a class completes its bases

    def record(cls=None, /, **options):
        """`dataclasses.dataclass`, later; takes its options, without `slots` and `order`."""
        if cls is None:
            return lambda made: _put_off(made, options)
        return _put_off(cls, options)

    def _put_off(cls, options):
        own = set(vars(cls))
        pending = [name for name in (*METHODS, *FACTS) if name not in own]

        def complete():
            with _completing:
                if pending:
                    for name in pending:
                        delattr(cls, name)
                    pending.clear()
                    dataclasses.dataclass(**options)(cls)

        for name in pending:
            is_method = name in METHODS
            setattr(cls, name, _method(name, complete) if is_method else _Fact(name, complete))
        return cls

    def _method(name, complete):
        def method(self, *args, **named):
            complete()
            return getattr(type(self), name)(self, *args, **named)

        return method

    class _Fact:
        """What a complete class has by this name, or has not."""

        def __init__(self, name, complete):
            self._name = name
            self._complete = complete

        def __get__(self, instance, owner):
            self._complete()
            return getattr(owner, self._name)

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
