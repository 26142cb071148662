"""What modules hold right after their import, kept so that a used copy can be made as new.

Importing a library takes a millisecond and more; putting back what a run of it changed takes some
ten microseconds. So everything that is reachable from the modules of a copy and can change is saved
once: dicts of modules, classes and instances, containers, cells, defaults of functions.

An object that two copies share is nobody's to restore; a `survey` of another copy tells which are
shared. An object whose state cannot be read makes the whole copy single-use. So a copy that is used
again never holds what an earlier process left in it, as far as Python objects can tell.
"""

from __future__ import annotations

import _thread
import copy
import functools
import gc
import itertools
import operator
import random
import types
import weakref
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from presage.frontends.real.machine.locals import SimulatedLocal
from presage.frontends.real.records import (
    UNSET,
    AttributesRecord,
    ChanceRecord,
    DictRecord,
    GeneratorRecord,
    ListRecord,
    LocalRecord,
    LockRecord,
    MemoRecord,
    PartsRecord,
    SetRecord,
    SlotsRecord,
    Unreadable,
)

_PLAIN: tuple[type, ...] = (
    *(type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented)),
    *(range, slice, types.CodeType, types.BuiltinFunctionType, types.WrapperDescriptorType),
    *(types.MethodWrapperType, types.MethodDescriptorType, types.ClassMethodDescriptorType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, types.UnionType),
    *(operator.itemgetter, operator.attrgetter, operator.methodcaller, weakref.ref),
    *(types.GenericAlias, type(vars(namedtuple("_", "field"))["field"]), object),
)
PLAIN = frozenset(_PLAIN)
# Of these modules, objects of C types never change once they are made.
FIXED = frozenset(
    "re _struct datetime decimal _decimal _contextvars typing _typing _abc _ctypes".split()
)
KEPT = "presage.frontends.real.machine."  # of our own objects, those that a process can change


class Survey:
    """A walk over everything that `roots` reach; `is_owned` tells the modules of the copy.

    The walk stops at what `known` has by address: another copy has it as well, or it is saved.
    """

    def __init__(
        self,
        roots: Iterable[types.ModuleType],
        is_owned: Callable[[str], bool],
        known: Sequence[dict[int, Any]],
        moments: frozenset[Any] = frozenset(),
    ) -> None:
        self.kept_moment = False  # one of `moments` is among what was met
        self._moments = moments
        self.met: dict[int, Any] = {}  # address -> object, kept so that no address is used twice
        self.records: list[Any] = []
        self.functions: list[types.FunctionType] = []
        self.unreadable = ""  # the type of an object that cannot be saved
        self._is_owned = is_owned
        self._known = known
        self._counters: list[tuple[dict[Any, Any], Any, Any]] = []
        self._waiting: list[Any] = list(roots)
        while self._waiting:
            self._visit(self._waiting.pop())

    def restore(self) -> bool:
        """Put everything back; False: something did not go back, so the copy is spoilt."""
        for saved, key, pristine in self._counters:
            saved[key] = copy.copy(pristine)
        try:
            restored = [record.restore() for record in self.records]
        except (AttributeError, TypeError):
            return False
        for function in self.functions:
            if function.__dict__:
                function.__dict__.clear()
        return False not in restored

    def is_same(self, bindings: Iterable[tuple[types.ModuleType, str, Any]]) -> bool:
        """Whether all is as it was saved, but for modules that got an attribute of `bindings`."""
        added = {(id(vars(parent)), name): child for parent, name, child in bindings}
        for record in self.records:
            if isinstance(record, DictRecord):
                for (holder, name), child in added.items():
                    if holder == id(record.holder) and name in record.holder:
                        record.saved[name] = child
        return not self.unreadable and all(record.is_same() for record in self.records)

    def _visit(self, thing: Any) -> None:
        kind = type(thing)
        if kind in PLAIN:
            if self._moments and kind in (int, float) and thing in self._moments:
                self.kept_moment = True
            return
        address = id(thing)
        if address in self.met:
            return
        for known in self._known:
            if address in known:
                return
        self.met[address] = thing
        try:
            self._save(thing, kind)
        except Unreadable as error:
            self.unreadable = self.unreadable or str(error)

    def _save(self, thing: Any, kind: type) -> None:
        if issubclass(kind, types.ModuleType):
            if self._is_owned(thing.__name__):
                self._dict(vars(thing))
        elif issubclass(kind, type):
            if self._is_owned(thing.__module__):
                self._class(thing)
        elif kind is types.FunctionType:
            self._function(thing)
        elif kind in CONTAINERS:
            CONTAINERS[kind](self, thing)
        else:
            self._instance(thing, kind)

    def _add(self, record: Any, inside: Iterable[Any]) -> None:
        self.records.append(record)
        self._waiting.extend(inside)

    def _dict(self, thing: dict[Any, Any]) -> None:
        record = DictRecord(thing)
        self._count(record.saved)
        self._add(record, thing.values())
        self._waiting.extend(thing)

    def _count(self, saved: dict[Any, Any]) -> None:
        """Remember the counters among the values: they can be replaced, never set back."""
        for key, value in saved.items():
            if type(value) is itertools.count:
                self._counters.append((saved, key, copy.copy(value)))

    def _list(self, thing: Any) -> None:
        self._add(ListRecord(thing), thing)

    def _set(self, thing: set[Any]) -> None:
        self._add(SetRecord(thing), thing)

    def _fixed(self, thing: Any) -> None:
        self._waiting.extend(thing)

    def _class(self, thing: type) -> None:
        record = AttributesRecord(thing)
        self._count(record.saved)
        self._add(record, record.saved.values())
        self._waiting.extend(thing.__bases__)

    def _function(self, thing: types.FunctionType) -> None:
        if not self._is_owned(str(thing.__globals__.get("__name__"))):
            return
        if thing.__defaults__ or thing.__kwdefaults__:
            self._waiting.extend((thing.__defaults__, thing.__kwdefaults__))
        for cell in thing.__closure__ or ():
            self._visit(cell)
        if thing.__dict__:
            self._add(DictRecord(thing.__dict__), thing.__dict__.values())
        else:
            self.functions.append(thing)

    def _cell(self, thing: Any) -> None:
        record = PartsRecord(thing, ("cell_contents",)) if _is_set(thing) else None
        if record is not None:
            self._add(record, record.saved)

    def _method(self, thing: types.MethodType) -> None:
        self._waiting.extend((thing.__self__, thing.__func__))

    def _wrapper(self, thing: Any) -> None:
        self._waiting.append(thing.__func__)

    def _property(self, thing: property) -> None:
        self._waiting.extend((thing.fget, thing.fset, thing.fdel))

    def _partial(self, thing: Any) -> None:
        self._waiting.extend((thing.func, thing.args, thing.keywords))

    def _memo(self, thing: Any) -> None:
        record = MemoRecord(thing)
        self._add(record, record.inside())

    def _generator(self, thing: Any) -> None:
        record = GeneratorRecord(thing)
        self._add(record, record.inside())

    def _lock(self, thing: Any) -> None:
        self._add(LockRecord(thing), ())

    def _proxy(self, thing: Any) -> None:
        self._waiting.extend(gc.get_referents(thing))

    def _counter(self, thing: Any) -> None:
        if sum(thing is saved[key] for saved, key, _ in self._counters) != 1:
            raise Unreadable("itertools.count")  # in a list, or in two places

    def _instance(self, thing: Any, kind: type) -> None:
        module = str(kind.__module__)
        if module.startswith("presage.") and not module.startswith(KEPT):
            return  # what a user declares to presage is no state of a node
        if issubclass(kind, SimulatedLocal):
            local = LocalRecord(thing)
            self._add(local, local.saved.values())
            return
        if issubclass(kind, random.Random) and not issubclass(kind, random.SystemRandom):
            self._add(ChanceRecord(thing), ())
        base = next((each for each in CONTAINERS if issubclass(kind, each)), None)
        if base is not None:
            CONTAINERS[base](self, thing)
        inside = getattr(thing, "__dict__", None) if _has_dict(kind) else None
        slots = _slots(kind)
        if type(inside) is dict:
            self._add(PartsRecord(thing, ("__dict__",)), ())
            self._visit(inside)
        if slots:
            record = SlotsRecord(thing, slots)
            self._add(record, [part for part in record.saved if part is not UNSET])
        self._waiting.append(kind)
        if inside is None and not slots and not self._is_fixed(thing, kind):
            raise Unreadable(f"{module}.{kind.__qualname__}")

    def _is_fixed(self, thing: Any, kind: type) -> bool:
        module = str(kind.__module__).partition(".")[0]
        if module in FIXED or issubclass(kind, (*CONTAINERS, *_PLAIN[:-1])):
            return True
        return kind.__flags__ & HEAP != 0 and kind.__basicsize__ <= object.__basicsize__ + 16


HEAP = 1 << 9  # `Py_TPFLAGS_HEAPTYPE`: made by a `class` statement, or as one is

CONTAINERS: dict[type, Callable[[Survey, Any], None]] = {
    dict: Survey._dict,
    OrderedDict: Survey._dict,
    defaultdict: Survey._dict,
    Counter: Survey._dict,
    list: Survey._list,
    deque: Survey._list,
    bytearray: Survey._list,
    set: Survey._set,
    tuple: Survey._fixed,
    frozenset: Survey._fixed,
    types.CellType: Survey._cell,
    types.MethodType: Survey._method,
    staticmethod: Survey._wrapper,
    classmethod: Survey._wrapper,
    property: Survey._property,
    functools.partial: Survey._partial,
    type(functools.lru_cache(lambda: None)): Survey._memo,
    itertools.count: Survey._counter,
    types.MappingProxyType: Survey._proxy,
    type({}.keys()): Survey._proxy,
    type({}.values()): Survey._proxy,
    type({}.items()): Survey._proxy,
    types.GeneratorType: Survey._generator,
    _thread.LockType: Survey._lock,
}


def _is_set(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _has_dict(kind: type) -> bool:
    """Whether objects have attributes of their own; a proxy asks another object for them."""
    found = next((vars(cls)["__dict__"] for cls in kind.__mro__ if "__dict__" in vars(cls)), None)
    return isinstance(found, types.GetSetDescriptorType | types.MemberDescriptorType)


def _slots(kind: type) -> list[types.MemberDescriptorType]:
    """An object's slots, as its classes wrote them; a derived class may hide one by its name."""
    return [
        slot
        for cls in kind.__mro__
        for slot in vars(cls).values()
        if isinstance(slot, types.MemberDescriptorType) and cls.__flags__ & HEAP
    ]
