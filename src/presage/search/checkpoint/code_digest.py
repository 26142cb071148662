"""What a system is made of, as one digest: its code and its data, but not where they stand.

Two processes that load the same system get the same digest; an edit of a handler, of a function it
calls, of a constant either uses or of a parameter gives another. Comments, line numbers and
folders do not matter. Python's own library and presage count by their names and versions.

Code is followed through what it names: globals, closures, bases, attributes of imported modules.
What is found only at run time (`getattr` with a computed name, imports inside a function) is not.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from enum import Enum
from pathlib import PurePath
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from presage._core import sha256
from presage.model.world.system import System
from presage.process.program import Program

PLAIN = (type(None), bool, int, float, complex, str, bytes)
# Of classes: where they stand, what Python derives from the rest, and caches.
DERIVED = {
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__abstractmethods__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}
# Of objects of presage's own: texts for people, caches, and what is made from the rest, or of what
# the process has around it, such as its environment.
TOLD = {"source", "signature", "_found", "surroundings"}
MADE = {
    "codec",
    "automata",
    "nodes",
    "_observed",
    "histories",
    "tips",
    "drivers",
    "isolations",
    "_ballast",
    "files",
}
NESTED_MAX = 20  # of what is in a set


class Definition:
    """A walk over everything that `system` reaches. `classes` has each class met, by name."""

    def __init__(self, system: System | Program) -> None:
        self.classes: dict[str, list[type]] = {}
        self._parts: list[bytes] = []
        self._met: dict[int, int] = {}  # address -> its number, in the order of the walk
        self._kept: list[Any] = []  # so that no address is used twice
        self._waiting: deque[Any] = deque()
        self._homes = _homes(system)
        self._value({name: part for name, part in vars(system).items() if name not in MADE})
        if isinstance(system, System):
            self._value([(node.name, node.service, node.initial()) for node in system.automata])
            self._put(*system.sources())
        else:
            contents = (file.read_bytes() for file in system.files)
            self._put(*sorted(sha256(content).hex() for content in contents))
        while self._waiting:
            thing = self._waiting.popleft()
            if isinstance(thing, type):
                self._class(thing)
            else:
                self._function(thing)
        self.digest = sha256(b"".join(self._parts)).hex()

    def _put(self, *texts: object) -> None:
        for text in texts:
            data = str(text).encode("utf-8", "surrogatepass")
            self._parts.append(b"%d:%b" % (len(data), data))

    def _seen(self, thing: Any) -> bool:
        """Number `thing`; true if it has a number already, which then stands for it."""
        number = self._met.setdefault(id(thing), len(self._met))
        self._put("#", number)
        if number < len(self._kept):
            return True
        self._kept.append(thing)
        return False

    def _value(self, value: Any) -> None:
        kind = type(value)
        if kind in PLAIN:
            self._put(kind.__name__, repr(value))
        elif isinstance(value, PurePath):  # which keeps its hash, another one in every process
            self._put("path", value)
        elif kind in (tuple, frozenset):  # equal ones may or may not be one object
            self._compound(kind, value)
        elif self._seen(value):
            pass
        elif isinstance(value, type | FunctionType):
            self._put(_name(value))
            self._waiting.append(value)
        elif isinstance(value, ModuleType):
            self._put("module", value.__name__, getattr(value, "__version__", ""))
        elif isinstance(value, Enum):
            self._value(kind)
            self._put(value.name)
        elif isinstance(value, CodeType):
            self._code(value)
        else:
            self._compound(kind, value)

    def _compound(self, kind: type, value: Any) -> None:
        self._value(kind)
        if isinstance(value, tuple | list):
            self._put("items", len(value))
            for item in value:
                self._value(item)
        elif isinstance(value, dict):
            self._put("entries", len(value))
            for key, item in value.items():
                self._value(key)
                self._value(item)
        elif isinstance(value, set | frozenset):
            self._put("members", *sorted(_alone(item) for item in value))
        told = TOLD if _is_ours(kind) else ()
        for name, part in _parts(value):
            if name not in told:
                self._put(name)
                self._value(part)

    def _class(self, cls: type) -> None:
        name = _name(cls)
        self.classes.setdefault(name, []).append(cls)
        if self._is_foreign(cls):
            return
        self._put("class", name)
        for base in cls.__bases__:
            self._value(base)
        for attribute, value in cls.__dict__.items():
            if attribute not in DERIVED and not attribute.startswith("__dataclass"):
                self._put(attribute)
                self._value(value)

    def _function(self, function: FunctionType) -> None:
        self._put("function", _name(function))
        self._value(function.__defaults__)
        self._value(function.__kwdefaults__)
        self._value(vars(function))
        for cell in function.__closure__ or ():
            try:
                self._value(cell.cell_contents)
            except ValueError:  # not assigned yet
                self._put("empty")
        if not self._is_foreign(function):
            self._value(function.__code__)
            names = list(_names(function.__code__))
            for name in names:
                if name in function.__globals__:
                    self._put(name)
                    self._global(function.__globals__[name], names)

    def _global(self, value: Any, names: list[str]) -> None:
        self._value(value)
        if isinstance(value, ModuleType) and not self._is_foreign(value):
            for name in names:
                if name in vars(value):
                    self._put(name)
                    self._value(vars(value)[name])

    def _code(self, code: CodeType) -> None:
        self._put(code.co_code.hex(), code.co_argcount, code.co_kwonlyargcount, code.co_flags)
        self._put(*code.co_names, "/", *code.co_varnames, "/", *code.co_freevars)
        self._value(code.co_consts)

    def _is_foreign(self, thing: Any) -> bool:
        """Code that is known by name and version: not the user's."""
        top = _top(thing)
        if top in sys.stdlib_module_names or top == "builtins":
            return True
        if top == "presage":
            return _is_ours(thing)
        file = getattr(sys.modules.get(top), "__file__", None) or ""
        return "site-packages" in file and top not in self._homes


def _homes(system: System | Program) -> set[str]:
    """The packages that are checked, wherever they are installed."""
    if isinstance(system, Program):
        return {_top(process.body) for process in system.processes.values()}
    return {_top(type(node)) for node in system.nodes.values()}


def _alone(value: Any, depth: int = 0) -> str:
    """A text that stands for a member of a set, whatever its place in the order."""
    if type(value) in PLAIN:
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, type | FunctionType | ModuleType):
        return _name(value)
    if isinstance(value, Enum):
        return f"{_name(type(value))} {value.name}"
    items: list[str] = []
    if depth < NESTED_MAX and isinstance(value, tuple | list | set | frozenset):
        items = [_alone(item, depth + 1) for item in value]
        items = sorted(items) if isinstance(value, set | frozenset) else items
    elif depth < NESTED_MAX:
        items = [f"{name}={_alone(part, depth + 1)}" for name, part in _parts(value)]
    return f"{_name(type(value))} {items}"


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object, or else what it would be pickled as."""
    if isinstance(value, MethodType):
        yield from (("self", value.__self__), ("function", value.__func__))
    elif isinstance(value, staticmethod | classmethod):
        yield "function", value.__func__
    elif isinstance(value, property):
        yield from (("get", value.fget), ("set", value.fset), ("delete", value.fdel))
    else:
        found = _attributes(value)
        if not found and not isinstance(value, tuple | list | dict | set | frozenset):
            found = _pickled(value)
        yield from found.items()


def _attributes(value: Any) -> dict[str, Any]:
    try:
        found = dict(object.__getattribute__(value, "__dict__"))
    except (AttributeError, TypeError):
        found = {}
    for cls in type(value).__mro__:
        for name, slot in vars(cls).items():
            if isinstance(slot, MemberDescriptorType) and name not in found:
                try:
                    found[name] = slot.__get__(value)
                except AttributeError:  # not set
                    continue
    return found


def _pickled(value: Any) -> dict[str, Any]:
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:  # it cannot be copied, so it is no data: its type says what it is
        return {}
    return {} if isinstance(reduced, str) else {"reduced": reduced[1:3]}


def _names(code: CodeType) -> Iterator[str]:
    """Every name that `code`, or a function in it, looks up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_ours(thing: Any) -> bool:
    module = _module(thing)
    return module.startswith("presage.") and not module.startswith("presage.systems.")


def _module(thing: Any) -> str:
    if isinstance(thing, ModuleType):
        return thing.__name__
    return str(getattr(thing, "__module__", None) or "builtins")


def _top(thing: Any) -> str:
    return _module(thing).partition(".")[0]


def _name(thing: Any) -> str:
    """`module:qualname`, as encoded values name classes."""
    return f"{_module(thing)}:{getattr(thing, '__qualname__', '')}"
