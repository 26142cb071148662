"""What can change in a module, one class for each way to put it back.

A record is made right after an import. `is_same` tells whether its holder still is as it was then;
`restore` makes it so, and tells whether that succeeded.
"""

from __future__ import annotations

import gc
import operator
import random
from collections import OrderedDict, deque
from collections.abc import Iterable
from types import FrameType, MemberDescriptorType
from typing import Any


class Unreadable(Exception):
    """An object can change, and its state cannot be saved; the text names its type."""


class DictRecord:
    """One dict: of a module, of an instance, or by itself. A subclass may have its own `update`."""

    __slots__ = ("base", "holder", "saved")

    def __init__(self, holder: dict[Any, Any]) -> None:
        self.base: Any = OrderedDict if isinstance(holder, OrderedDict) else dict
        self.holder = holder
        self.saved = dict(self.base.items(holder))

    def is_same(self) -> bool:
        values, saved = self.base.values(self.holder), self.saved
        return same(values, saved.values()) and list(self.base.keys(self.holder)) == list(saved)

    def restore(self) -> bool:
        self.base.clear(self.holder)
        self.base.update(self.holder, self.saved)
        return True


class ListRecord:
    """A list, a deque or a bytearray."""

    __slots__ = ("base", "holder", "saved")

    def __init__(self, holder: Any) -> None:
        self.base: Any = next(each for each in (list, deque, bytearray) if isinstance(holder, each))
        self.holder = holder
        self.saved = list(self.base.__iter__(holder))

    def is_same(self) -> bool:
        if self.base is bytearray:
            return self.saved == list(self.holder)
        return same(list(self.base.__iter__(self.holder)), self.saved)

    def restore(self) -> bool:
        self.base.clear(self.holder)
        self.base.extend(self.holder, self.saved)
        return True


class SetRecord:
    """A set, whose order has to come back, too: programs loop over it."""

    __slots__ = ("holder", "saved")

    def __init__(self, holder: set[Any]) -> None:
        self.holder = holder
        self.saved = list(holder)

    def is_same(self) -> bool:
        return same(self.holder, self.saved)

    def restore(self) -> bool:
        if not self.is_same():
            self.holder.clear()
            self.holder.update(self.saved)
        return self.is_same()


class AttributesRecord:
    """The dict of a class, which only `setattr` may change."""

    __slots__ = ("holder", "names", "proxy", "saved")

    def __init__(self, holder: type) -> None:
        self.holder = holder
        self.proxy = holder.__dict__
        self.saved = dict(self.proxy)
        self.names = list(self.saved)

    def is_same(self) -> bool:
        return same(self.proxy.values(), self.saved.values()) and list(self.proxy) == self.names

    def restore(self) -> bool:
        if self.is_same():
            return True
        for name in [name for name in self.proxy if name not in self.saved]:
            type.__delattr__(self.holder, name)
        for name, value in self.saved.items():
            if self.proxy.get(name, self) is not value:
                type.__setattr__(self.holder, name, value)
        self.names = list(self.proxy)  # what was deleted and set again comes last from now on
        items = [(name, self.saved.pop(name)) for name in self.names if name in self.saved]
        self.saved.update(items)
        return self.is_same()


class PartsRecord:
    """What is read and written by attribute: cells, slots, defaults of functions, `__dict__`."""

    __slots__ = ("holder", "names", "saved")

    def __init__(self, holder: Any, names: Iterable[str]) -> None:
        self.holder = holder
        self.names = tuple(names)
        self.saved = [getattr(holder, name, UNSET) for name in self.names]

    def is_same(self) -> bool:
        return same([getattr(self.holder, name, UNSET) for name in self.names], self.saved)

    def restore(self) -> bool:
        for name, value in zip(self.names, self.saved, strict=True):
            if getattr(self.holder, name, UNSET) is not value:
                if value is UNSET:
                    delattr(self.holder, name)
                else:
                    setattr(self.holder, name, value)
        return True


class SlotsRecord:
    """The slots of an object, past whatever derived classes say of their names."""

    __slots__ = ("holder", "saved", "slots")

    def __init__(self, holder: Any, slots: list[MemberDescriptorType]) -> None:
        self.holder = holder
        self.slots = slots
        self.saved = self._now()

    def _now(self) -> list[Any]:
        return [_held(slot, self.holder) for slot in self.slots]

    def is_same(self) -> bool:
        return same(self._now(), self.saved)

    def restore(self) -> bool:
        for slot, now, value in zip(self.slots, self._now(), self.saved, strict=True):
            if now is not value:
                if value is UNSET:
                    slot.__delete__(self.holder)
                else:
                    slot.__set__(self.holder, value)
        return True


def _held(slot: MemberDescriptorType, holder: Any) -> Any:
    try:
        return slot.__get__(holder)
    except AttributeError:
        return UNSET


class LocalRecord:
    """A `threading.local`: each thread of a new process begins with an empty one.

    If modules put something there while they were executed, it cannot be given to that thread.
    """

    __slots__ = ("holder", "saved")

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        self.saved = dict(vars(holder))

    def is_same(self) -> bool:
        now = vars(self.holder)
        return same(now, self.saved) and same(now.values(), self.saved.values())

    def restore(self) -> bool:
        return not self.saved


class ChanceRecord:
    """A `random.Random` of the library's own."""

    __slots__ = ("holder", "saved")

    def __init__(self, holder: random.Random) -> None:
        self.holder = holder
        self.saved = holder.getstate()

    def is_same(self) -> bool:
        return self.holder.getstate() == self.saved

    def restore(self) -> bool:
        self.holder.setstate(self.saved)
        return True


class MemoRecord:
    """The cache of `functools.lru_cache`: emptied, or with what it held when it was saved.

    Python shows the dict behind it to its garbage collector alone. What was added to a cache of
    limited size cannot be taken out again without the rest.
    """

    __slots__ = ("_cache", "_saved", "holder")

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        dicts = [each for each in gc.get_referents(holder) if type(each) is dict]
        self._cache = next((each for each in dicts if each is not holder.__dict__), None)
        if holder.cache_info().currsize and not self._cache:
            raise Unreadable("functools.lru_cache")
        self._saved = dict(self._cache or {})

    def inside(self) -> list[Any]:
        """What the cache holds: keys and results."""
        return [each for each in gc.get_referents(self.holder) if each is not self._cache]

    def is_same(self) -> bool:
        now, then = self._cache or {}, self._saved
        return same(now.keys(), then.keys()) and same(now.values(), then.values())

    def restore(self) -> bool:
        if not self._saved:
            self.holder.cache_clear()
        elif not self.is_same() and self.holder.cache_parameters()["maxsize"] is None:
            self.holder.cache_clear()
            self._cache.update(self._saved)  # type: ignore[union-attr]
        return self.is_same()


class GeneratorRecord:
    """A generator that waits: it cannot be set back, but it is seen whether it went on."""

    __slots__ = ("_at", "holder")

    def __init__(self, holder: Any) -> None:
        if holder.gi_running:
            raise Unreadable("builtins.generator")
        self.holder = holder
        self._at = self._place()

    def _place(self) -> int | None:
        frame = self.holder.gi_frame
        return None if frame is None else frame.f_lasti

    def inside(self) -> list[Any]:
        """What it holds: its variables, and what it is in the middle of."""
        return [each for each in gc.get_referents(self.holder) if type(each) is not FrameType]

    def is_same(self) -> bool:
        return self._place() == self._at

    restore = is_same


class LockRecord:
    """A lock that nobody held when it was saved."""

    __slots__ = ("holder",)

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        if holder.locked():
            raise Unreadable("_thread.lock")

    def is_same(self) -> bool:
        return not self.holder.locked()

    def restore(self) -> bool:
        if self.holder.locked():
            self.holder.release()
        return True


class Unset:
    """Stands for an attribute that has no value."""


UNSET = Unset()


def same(now: Iterable[Any], then: Any) -> bool:
    """Whether the same objects stand in the same order."""
    return len(now) == len(then) and all(map(operator.is_, now, then))  # type: ignore[arg-type]
