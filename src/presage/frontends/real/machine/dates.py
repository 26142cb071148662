"""`datetime` for code of simulated processes: `now`, `utcnow` and `today` read their clock.

The classes are written in C, so their methods cannot be replaced. While a process runs, importing
`datetime` therefore gives a module of the same contents whose two classes are derived from those.
Objects of the original classes count as theirs.
"""

from __future__ import annotations

import datetime as original
from types import ModuleType
from typing import Any

from presage.process.context import MACHINE, running
from presage.process.fence import EPOCH

NAME = "datetime"


def _moment() -> float | None:
    """What the wall clock of the process says; None: no process runs."""
    stack: list[Any] = running.stack
    if not stack or stack[-1].answerer != MACHINE:
        return None
    return EPOCH + float(stack[-1].read_clock())


class _AsOriginal(type):
    """Classes of which objects of the original class are instances, too."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _ORIGINALS.get(cls, ())) or type.__instancecheck__(cls, value)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, _ORIGINALS.get(cls, ())) or type.__subclasscheck__(cls, kind)


class SimulatedDate(original.date, metaclass=_AsOriginal):
    """As `datetime.date`."""

    @classmethod
    def today(cls) -> Any:
        """The day by the clock of the process."""
        moment = _moment()
        return super().today() if moment is None else cls.fromtimestamp(moment)


class SimulatedDatetime(original.datetime, metaclass=_AsOriginal):
    """As `datetime.datetime`."""

    @classmethod
    def now(cls, tz: original.tzinfo | None = None) -> Any:
        """The time by the clock of the process."""
        moment = _moment()
        return super().now(tz) if moment is None else cls.fromtimestamp(moment, tz)

    @classmethod
    def utcnow(cls) -> Any:
        """The time in Greenwich, without saying so."""
        return cls.now(original.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        """The local time."""
        return cls.now()


_ORIGINALS: dict[type, Any] = {SimulatedDate: original.date, SimulatedDatetime: original.datetime}


def _module() -> ModuleType:
    """What `import datetime` gives while a process runs."""
    module = ModuleType(NAME, original.__doc__)
    vars(module).update(vars(original))
    for made, known in _ORIGINALS.items():
        made.__name__ = made.__qualname__ = known.__name__
        made.__module__ = NAME
        setattr(module, known.__name__, made)
    return module


DATES = _module()
