"""Can code make a set and depend on its order, or learn something that differs between processes?

A heuristic that only decides whether a short search is worth a second process. It reads the source
of services, properties and observers, and of all they name. Whatever it does not understand is
suspicious. What it lets pass: sets that are asked for their length, their members, or are sorted;
fields that hold sets and are never changed, since a search runs those in a second order by itself.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

import msgspec

from presage.model.service.service import Service
from presage.model.source import PRESAGE, SHIPPED, is_standard
from presage.model.trees import functions
from presage.model.world.system import System
from presage.records import NamedTuple
from presage.search.twin.sets import Function, Sets

# Modules that tell nothing of the process they are in, and make no sets, as `operator.sub` would,
# or msgspec where it decodes one. Of others, some functions are refused.
LEAVES = frozenset(
    "__future__ abc base64 bisect collections contextlib copy dataclasses decimal enum fractions"
    " functools hashlib heapq itertools json logging math numbers presage re"
    " statistics string struct textwrap types typing typing_extensions zlib os random time"
    " warnings".split()
)
TELLING = frozenset(
    "id hash object vars dir globals locals eval exec compile memoryview __import__".split()
)
TEXTS = frozenset("str repr format ascii print".split())
DEPTH_MAX = 3  # of what is in constants


class _Unclear(Exception):
    """Something is suspicious, or not understood."""


class _Code(NamedTuple):
    """All of a system that the answer depends on."""

    services: tuple[type, ...]
    fields: frozenset[str]  # that begin with a set
    predicates: tuple[Any, ...]
    observers: tuple[type, ...]


def suspicious(system: System) -> bool:
    """Whether a second process may find what a search does not."""
    values = [(each, each.initial()[1:]) for each in system.automata]
    asked = [call.when for automaton in system.automata for call in automaton.workload]
    code = _Code(
        services=tuple(dict.fromkeys(automaton.service for automaton in system.automata)),
        fields=frozenset(
            field
            for automaton, first in values
            for field, value in zip(automaton.fields, first, strict=True)
            if isinstance(value, set | frozenset)
        ),
        predicates=tuple(dict.fromkeys([*asked, *(prop.predicate for prop in system.judged)])),
        observers=tuple(dict.fromkeys(type(each) for each in system.observers.values())),
    )
    return _is_suspicious(code)


@lru_cache(maxsize=64)  # a test may check one system many times
def _is_suspicious(code: _Code) -> bool:
    try:
        scan = _Scan(code)
        scan.follow()
        return Sets(scan.functions, scan.fields, scan.constants).escape()
    except (_Unclear, SyntaxError, RecursionError):
        return True


class _Scan:
    """All functions that a system may run, as far as they can be found by name."""

    def __init__(self, code: _Code) -> None:
        self.functions: list[Function] = []
        self.fields = set(code.fields)  # whose values may be sets
        self.constants: set[str] = set()  # names, outside of functions, of sets
        self._met: set[int] = set()
        self._kept: list[Any] = []
        self._plain = False  # some class has the text that `object` gives, with an address
        self._writes = False  # something makes a text
        for service in code.services:
            self._class(service)
            for cls in service.__mro__:
                for other in vars(sys.modules.get(cls.__module__, object)).values():
                    if isinstance(other, type) and other.__module__ == cls.__module__:
                        self._class(other)
        for predicate in code.predicates:
            self._any(predicate)
        for observer in code.observers:
            self._class(observer)

    def follow(self) -> None:
        """Raises `_Unclear` if something found on the way is suspicious by itself."""
        for function in self._kept:  # grows meanwhile
            if isinstance(function, FunctionType):
                self._function(function)
        if self._plain and self._writes:
            raise _Unclear

    def _any(self, thing: Any) -> None:
        if isinstance(thing, staticmethod | classmethod):
            thing = thing.__func__
        if isinstance(thing, property):
            for part in (thing.fget, thing.fset):
                self._any(part)
        elif isinstance(thing, type):
            self._class(thing)
        elif isinstance(thing, FunctionType) and id(thing) not in self._met:
            self._met.add(id(thing))
            self._kept.append(thing)

    def _class(self, cls: type) -> None:
        if id(cls) in self._met or not _is_users(sys.modules.get(cls.__module__)):
            return
        self._met.add(id(cls))
        self._kept.append(cls)
        for base in cls.__mro__[1:]:
            self._class(base)
        annotations = vars(cls).get("__annotations__", {})
        for name, annotation in annotations.items():
            if "set" in str(annotation).lower() or "Any" in str(annotation):
                self.fields.add(name)
        plain = all(getattr(cls, name) is getattr(object, name) for name in ("__repr__", "__str__"))
        self._plain = self._plain or plain and not issubclass(cls, Service)
        for name, part in vars(cls).items():
            self._any(part)
            is_field = "ClassVar" not in str(annotations.get(name, "ClassVar"))
            if _holds_set(part) and not is_field:
                self.constants.add(name)

    def _function(self, function: FunctionType) -> None:
        code = function.__code__
        made = code.co_filename.startswith("<") and code.co_name.startswith("__")
        if made or is_standard(code.co_filename):
            return  # as dataclasses make them
        if not _is_users(sys.modules.get(function.__module__)):
            return
        nodes = functions(code.co_filename).get(code.co_firstlineno, [])
        nodes = [node for node in nodes if getattr(node, "name", code.co_name) == code.co_name]
        if not nodes:
            raise _Unclear
        code_of = [Function.of(node) for node in nodes]
        self.functions += code_of
        scope = {**vars(builtins), **function.__globals__}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                scope[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                raise _Unclear from None
        for each in code_of:
            self._names(each, scope)

    def _names(self, function: Function, scope: dict[str, Any]) -> None:
        """Follow what the code names, and refuse what tells of the process."""
        own = set(_assigned(function))
        if any(function.every(ast.Import, ast.ImportFrom)):
            raise _Unclear
        self._writes = self._writes or any(function.every(ast.JoinedStr))
        for node in function.every(ast.Attribute):
            if isinstance(node.value, ast.Name):
                module = scope.get(node.value.id)
                if isinstance(module, ModuleType) and _is_users(module):
                    self._named(node.attr, vars(module).get(node.attr))
        for called in {node.id for node in function.every(ast.Name)} - own:
            if called in TELLING and scope.get(called) is vars(builtins).get(called):
                raise _Unclear
            self._writes = self._writes or called in TEXTS
            self._named(called, scope.get(called))

    def _named(self, called: str, thing: Any) -> None:
        if _holds_set(thing):
            self.constants.add(called)
        name = thing.__name__ if isinstance(thing, ModuleType) else _module(thing)
        if name is None or _is_users(sys.modules.get(name)) or _is_struct(thing):
            self._any(thing)
        elif name.partition(".")[0] not in LEAVES and name != "builtins":
            raise _Unclear


def _is_struct(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, msgspec.Struct)


def _module(thing: Any) -> str | None:
    """Where a function or class is from; None for all else."""
    if isinstance(thing, type) or callable(thing):
        return getattr(thing, "__module__", None)
    return None


def _holds_set(thing: Any, depth: int = 0) -> bool:
    if isinstance(thing, set | frozenset):
        return len(thing) > 1
    if depth < DEPTH_MAX and isinstance(thing, tuple | list):
        return any(_holds_set(each, depth + 1) for each in thing)
    if depth < DEPTH_MAX and isinstance(thing, dict):
        return any(_holds_set(each, depth + 1) for each in thing.values())
    return False


def _assigned(function: Function) -> Iterator[str]:
    for argument in function.every(ast.arg):
        yield argument.arg
    for node in function.every(ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id


def _is_users(module: ModuleType | None) -> bool:
    """Whether a module is what a user wrote, or shipped as if one had."""
    if module is None or module.__name__ == "builtins":
        return False
    file = getattr(module, "__file__", None) or ""
    if file.startswith(PRESAGE):
        return file.startswith(SHIPPED)
    return bool(file) and not is_standard(file) and "site-packages" not in file
