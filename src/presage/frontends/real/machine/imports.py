"""Modules of the standard library that importing gives in another form while a process runs.

A leaf replaces a function where it is. A class is also compared and derived from: a program may
want exactly `socket.socket`, and `datetime` is written in C. So the modules of a process find other
ones under these names in `sys.modules`; the standard library itself keeps the originals.
"""

from __future__ import annotations

import datetime
import socket
from types import ModuleType
from typing import Any

from presage.frontends.real.machine.dates import SimulatedDate, SimulatedDatetime
from presage.frontends.real.machine.sockets import Simulated

ORIGINAL, MASKS = "__original__", "__masks__"


class Masked(ModuleType):
    """A module as it is, but for the names in `masks`."""

    def __init__(self, original: ModuleType, **masks: Any) -> None:
        super().__init__(original.__name__)
        values = {name: value for name, value in vars(original).items() if not callable(value)}
        vars(self).update(values, **masks)  # what is called may be a leaf, so it is looked up
        vars(self).update({ORIGINAL: original, MASKS: frozenset(masks)})

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)[ORIGINAL], name)

    def __setattr__(self, name: str, value: Any) -> None:
        """What a program puts in is seen by all, as it is without masks."""
        inside = vars(self)
        if name in inside:
            inside[name] = value
        if name not in inside[MASKS]:
            setattr(inside[ORIGINAL], name, value)

    def __delattr__(self, name: str) -> None:
        vars(self).pop(name, None)
        delattr(vars(self)[ORIGINAL], name)

    def __dir__(self) -> list[str]:
        return dir(vars(self)[ORIGINAL])


INSIDE: dict[str, ModuleType] = {
    "datetime": Masked(datetime, date=SimulatedDate, datetime=SimulatedDatetime),
    "socket": Masked(socket, socket=Simulated),
}
ORIGINALS: dict[str, ModuleType] = {"datetime": datetime, "socket": socket}
