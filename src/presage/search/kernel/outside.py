"""What checked code keeps outside of fields: globals, class attributes, defaults, closures.

A step is a function of its node's state. Code that keeps something elsewhere does at its second
run what no state tells, and a search runs each distinct step once: it meets one history of many. A
second run at once shows little of that, so all that the code of a system can reach by name is
written down before a search, and again behind it.

Left out: what the standard library and installed packages keep of their own, what `functools.cache`
and `cached_property` remember, what a thread has of its own (`threading.local`, context variables),
and what stands behind the first `PARTS_MAX` parts of one thing.
Invariant: looking runs no code of the user's.
"""

from __future__ import annotations

import reprlib
import sys
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from enum import EnumMeta
from functools import cached_property, partial
from types import CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from presage.model.functions import OURS
from presage.model.source import PRESAGE, SHIPPED, is_standard, place_of
from presage.model.world.system import System
from presage.records import NamedTuple
from presage.search.kernel.order import OUTSIDE, OrderDependent

PARTS_MAX = 50_000
BYTES_MAX = 1 << 24
ABSENT = type("Absent", (), {"__repr__": lambda _: "absent"})()
OURSELVES = __name__.partition(".")[0]  # such as views of worlds, which only tell
ATOMS = (type(None), bool, int, float, complex, str, bytes)
ITEMS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (OrderedDict, OrderedDict.items),
    (dict, dict.items),
    (list, list.__iter__),
    (tuple, tuple.__iter__),
    (deque, deque.__iter__),
)
SETS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (set, set.__iter__),
    (frozenset, frozenset.__iter__),
)
HELD = tuple(base for base, _ in (*ITEMS, *SETS))
_NO_NAMES: frozenset[str] = frozenset()
User = Callable[..., Any]
Named = tuple[Any, frozenset[str], User]  # a thing, and code with these names that can reach it


class Thing(NamedTuple):
    """Something that is reached by a name, and its content before the search."""

    name: str
    user: User  # code that names it
    get: Callable[[], Any]
    content: tuple[Any, ...]


class Outside:
    """All that the code of a system keeps outside of fields, as it is when this is made."""

    def __init__(self, system: System) -> None:
        self._things: dict[tuple[int, str], Thing] = {}
        self._met: set[int] = set()
        self._values: set[int] = set()  # addresses of things, whose parts count with them
        self._kept: list[Any] = []  # what has an address in `_met` must live
        self._waiting: list[Named] = [(part, _NO_NAMES, _nobody) for part in _code_of(system)]
        while self._waiting:
            self._follow(*self._waiting.pop())

    def changed(self) -> Iterator[OrderDependent]:
        """What is not as it was."""
        for name, user, get, content in self._things.values():
            now = get()
            if _Content(now).parts != content:
                step = "while the system was checked"
                yield OrderDependent(name, place_of(user), (), step, _text(now), OUTSIDE)

    def _follow(self, thing: Any, names: frozenset[str], user: User) -> None:
        """Find what `thing` leads to, which `user`, whose code has these names, can reach."""
        if isinstance(thing, ModuleType):
            if _is_users(thing):
                self._attributes(vars(thing), thing.__name__, names, user)
        elif self._is_new(thing):
            self._waiting += [(part, names, user) for part in _behind(thing)]
            if isinstance(thing, FunctionType):
                self._function(thing)
            elif isinstance(thing, type):
                self._class(thing, user)
            elif _is_users_class(type(thing)):
                if id(thing) not in self._values:
                    self._thing(thing, "", type(thing).__name__, user, partial(_itself, thing))
                self._waiting.append((type(thing), names, user))

    def _is_new(self, thing: Any) -> bool:
        if thing is None or id(thing) in self._met:
            return False
        self._met.add(id(thing))
        self._kept.append(thing)
        return True

    def _function(self, function: FunctionType) -> None:
        if not _is_users_file(function.__code__.co_filename):
            return
        names = frozenset(_names(function.__code__))
        self._attributes(function.__globals__, "", names, function)
        given = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        for at, default in enumerate(given, 1):
            name = f"{function.__name__}(default {at})"
            self._thing(function, name, name, function, partial(_itself, default))
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            self._thing(cell, name, name, function, partial(_inside, cell))
        name = f"{function.__name__}.__dict__"
        self._thing(function, name, name, function, partial(_itself, vars(function)))

    def _attributes(
        self,
        attributes: Mapping[str, Any],
        prefix: str,
        names: frozenset[str],
        user: User,
    ) -> None:
        for name in names:
            if name in attributes or not hasattr(sys.modules["builtins"], name):
                shown = f"{prefix}.{name}" if prefix else name
                get = partial(attributes.get, name, ABSENT)
                self._thing(attributes, name, shown, user, get, names)

    def _class(self, cls: type, user: User) -> None:
        if not _is_users_class(cls):
            return
        functions = (each for each in vars(cls).values() if type(each) is FunctionType)
        own = (each for each in functions if _is_users_file(each.__code__.co_filename))
        user = next(own, user)
        self._waiting += [(base, _NO_NAMES, user) for base in cls.__mro__[1:]]
        self._attributes(vars(cls), cls.__name__, frozenset(vars(cls)), user)
        name = f"{cls.__name__}.__dict__"
        self._thing(cls, name, name, user, partial(_names_in, cls))
        members = getattr(cls, "_member_map_", {}) if isinstance(cls, EnumMeta) else {}
        self._attributes(members, cls.__name__, frozenset(members), user)

    def _thing(
        self,
        holder: Any,
        name: str,
        shown: str,
        user: User,
        get: Callable[[], Any],
        names: frozenset[str] = _NO_NAMES,
    ) -> None:
        key = id(holder), name
        if key in self._things or name in OURS or _is_reserved(name):
            return
        self._kept.append(holder)
        value = get()
        self._values.add(id(value))
        content = _Content(value)
        self._things[key] = Thing(shown, user, get, content.parts)
        self._waiting += [(each, names, user) for each in (value, *content.code)]


class _Content:
    """All that a value holds, to be compared with what it holds later; and the code in there."""

    def __init__(self, value: Any) -> None:
        self.code: list[Any] = []
        self._met: dict[int, int] = {}
        self._kept: list[Any] = []
        try:
            self.parts = self._of(value)
        except RecursionError:
            self.parts = ()

    def _of(self, value: Any) -> tuple[Any, ...]:
        kind = type(value)
        if kind in ATOMS:
            return kind, repr(value) if kind in (float, complex) else value
        if id(value) in self._met:
            return "again", self._met[id(value)]
        if len(self._met) >= PARTS_MAX:
            return ()
        self._met[id(value)] = len(self._met)
        self._kept.append(value)
        if isinstance(value, type | FunctionType | ModuleType) or _wrapped(value) is not None:
            self.code.append(value)
            return kind, id(value)
        return kind, *self._parts(value)

    def _parts(self, value: Any) -> Iterator[Any]:
        for base, items in SETS:
            if isinstance(value, base):
                yield from sorted(map(self._of, items(value)), key=repr)
        for base, items in ITEMS:
            if isinstance(value, base):
                yield from map(self._of, list(items(value)))
                break
        if isinstance(value, GeneratorType):
            frame = value.gi_frame
            yield from () if frame is None else (frame.f_lasti, self._of(dict(frame.f_locals)))
        elif _is_users_class(type(value)):
            yield from self._attributes(value)
        elif not isinstance(value, HELD):
            yield self._of(_reduced(value))

    def _attributes(self, value: Any) -> Iterator[Any]:
        try:
            held = object.__getattribute__(value, "__dict__")
            yield self._of({name: held[name] for name in held if not _is_cached(value, name)})
        except AttributeError:
            pass
        for base in type(value).__mro__:
            for name, slot in vars(base).items():
                if type(slot).__name__ == "member_descriptor" and base is not object:
                    try:
                        yield name, self._of(slot.__get__(value))
                    except AttributeError:
                        yield name


def _wrapped(value: Any) -> Any:
    """The function behind another one; no code of the user's is run to learn that."""
    try:
        held = object.__getattribute__(value, "__dict__") if callable(value) else {}
    except AttributeError:
        return None
    return held.get("__wrapped__")


def _is_cached(value: Any, name: str) -> bool:
    """Whether an attribute only saves the time to work it out."""
    return any(isinstance(vars(base).get(name), cached_property) for base in type(value).__mro__)


def _reduced(value: Any) -> Any:
    """What an object that is not written by the user holds, as `pickle` would see it."""
    if (
        type(value).__module__.partition(".")[0] == OURSELVES
        or getattr(value, "nbytes", 0) > BYTES_MAX
    ):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of iterators, from Python 3.12 on
            return value.__reduce_ex__(4)
    except Exception:  # cannot be looked into: locks, sockets
        return repr(value) if type(value).__module__ == "itertools" else None


def _code_of(system: System) -> Iterator[Any]:
    """All that a system was given which can run."""
    for automaton in system.automata:
        if not automaton.opaque:
            yield automaton.service
        yield from (call.when for call in automaton.workload)
    yield from (prop.predicate for prop in system.judged)
    yield from system.observers.values()


def _behind(thing: Any) -> Iterator[Any]:
    """What a call of `thing`, or a look at it, runs."""
    if isinstance(thing, partial):
        yield from (thing.func, *thing.args, *thing.keywords.values())
    elif isinstance(thing, property):
        yield from (thing.fget, thing.fset, thing.fdel)
    elif isinstance(thing, staticmethod | classmethod | MethodType):
        yield from (thing.__func__, getattr(thing, "__self__", None))
    elif isinstance(thing, cached_property):
        yield thing.func
    elif callable(thing) and not isinstance(thing, type):
        yield _wrapped(thing)


def _nobody() -> None:
    """Stands for the code that named what a system was given."""


def _itself(value: Any) -> Any:
    return value


def _names_in(cls: type) -> list[str]:
    return sorted(name for name in vars(cls) if not _is_reserved(name))


def _inside(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _is_reserved(name: str) -> bool:
    """Names that Python, `enum`, `abc` and presage keep their own things under."""
    return name.startswith(("__", "_abc_", "_presage")) or (name[:1] == "_" == name[-1:])


def _is_users_file(file: str) -> bool:
    if file.startswith(PRESAGE):
        return file.startswith(SHIPPED)
    return not is_standard(file) and "-packages" not in file and not file.startswith("<frozen")


def _is_users(module: ModuleType | None) -> bool:
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return module is None or module.__name__ == "__main__"
    return _is_users_file(file)


def _is_users_class(cls: type) -> bool:
    if cls.__module__ == "builtins" or cls.__module__ in sys.stdlib_module_names:
        return False
    return _is_users(sys.modules.get(cls.__module__))


def _text(value: Any) -> str:
    if value is ABSENT:
        return "is gone"
    parts = [*value, *value.values()] if type(value) is dict else value
    plain = type(value) in ATOMS or (
        type(parts) in (list, tuple, set) and all(type(part) in ATOMS for part in parts)
    )
    return f"is now {reprlib.repr(value)}" if plain else "holds something else now"
