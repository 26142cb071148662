"""`datetime` for code of simulated processes: `now`, `utcnow` and `today` read their clock.

The classes are written in C, so their methods cannot be replaced. While a process runs, importing
`datetime` therefore gives a module of the same contents whose two classes are derived from those.
Objects of the original classes count as theirs.
"""

from __future__ import annotations

import datetime as original
from typing import Any

from presage.frontends.real.machine.originals import AsOriginal, stand_for
from presage.process.context import MACHINE, running
from presage.process.fence import EPOCH


def _moment() -> float | None:
    """What the wall clock of the process says; None: no process runs."""
    stack: list[Any] = running.stack
    if not stack or stack[-1].answerer != MACHINE:
        return None
    return EPOCH + float(stack[-1].read_clock())


class SimulatedDate(original.date, metaclass=AsOriginal):
    """As `datetime.date`."""

    @classmethod
    def today(cls) -> Any:
        """The day by the clock of the process."""
        moment = _moment()
        return super().today() if moment is None else cls.fromtimestamp(moment)


class SimulatedDatetime(original.datetime, metaclass=AsOriginal):
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


stand_for(original.date, SimulatedDate)
stand_for(original.datetime, SimulatedDatetime)
