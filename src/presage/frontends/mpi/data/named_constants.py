"""Constants that stand for a place: `MPI.BOTTOM`, `MPI.IN_PLACE`, `MPI.BUFFER_AUTOMATIC`."""

from __future__ import annotations

from typing import Any, ClassVar

from presage._core import Exporter
from presage.frontends.mpi.data.raw import at_address


class Place(Exporter):
    """A name that stands for itself, and for a number."""

    number: ClassVar[int]
    label: ClassVar[str]

    def __new__(cls) -> Place:
        made = super().__new__(cls)
        made.view = at_address(0, 0)
        return made

    def __repr__(self) -> str:
        return self.label

    def __reduce__(self) -> str:
        return self.label

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Place):
            return type(self) is type(other)
        return isinstance(other, int) and other == self.number

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.number)

    def __bool__(self) -> bool:
        return self.number != 0

    def __int__(self) -> int:
        return self.number


class BottomType(Place):
    """The beginning of all memory."""

    number, label = 0, "BOTTOM"

    def __index__(self) -> int:
        return self.number


class InPlaceType(Place):
    """The other buffer of the call."""

    number, label = -1, "IN_PLACE"


class BufferAutomaticType(Place):
    """Room for buffered sends that the library finds."""

    number, label = -2, "BUFFER_AUTOMATIC"


BOTTOM, IN_PLACE, BUFFER_AUTOMATIC = BottomType(), InPlaceType(), BufferAutomaticType()


def is_bottom(given: Any) -> bool:
    return given is None or isinstance(given, BottomType)
