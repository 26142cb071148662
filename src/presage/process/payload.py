"""What processes send each other, kept apart: the receiver never shares an object with the sender.

Plain values are kept in canonical form, so that equal ones are one; whatever else can be pickled is
kept as its pickle. Each distinct one has a number.
"""

from __future__ import annotations

import pickle
from typing import Any

from presage._core import Codec
from presage.errors import BadCall, NotState
from presage.model.source import caller

NOTHING = -1  # the number of no payload
MUTABLE = object()


class Payloads:
    """Values by number, in the order in which they were first seen."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._numbers: dict[tuple[bool, bytes], int] = {}
        self._kept: list[tuple[bool, bytes]] = []
        self._shared: list[Any] = []  # the value itself, where sharing it does no harm

    def number(self, value: Any) -> int:
        """The number of `value`; equal values have the same."""
        return self._intern(self.sealed(value))

    def can_number(self, value: Any) -> bool:
        try:
            self.number(value)
        except BadCall:
            return False
        return True

    def fresh(self, number: int) -> Any:
        """A new object equal to the numbered one."""
        if number == NOTHING:
            return None
        shared = self._shared[number]
        if shared is not MUTABLE:
            return shared
        return self.opened(self._kept[number])

    def opened(self, kept: tuple[bool, bytes]) -> Any:
        """A new object equal to the one that was `sealed`."""
        is_plain, data = kept
        return self._codec.decode(data) if is_plain else pickle.loads(data)

    def is_shared(self, number: int) -> bool:
        """Whether the numbered value is given out as it is, since nobody can change it."""
        return number == NOTHING or self._shared[number] is not MUTABLE

    def size(self, number: int) -> int:
        """How many bytes its canonical form, or its pickle, has."""
        return 0 if number == NOTHING else len(self._kept[number][1])

    def digest(self, number: int) -> int:
        """64 bits that tell it from others, the same in every process."""
        return 0 if number == NOTHING else self._codec.digest(self._kept[number][1])

    def _intern(self, kept: tuple[bool, bytes]) -> int:
        number = self._numbers.get(kept)
        if number is None:
            number = self._numbers[kept] = len(self._kept)
            self._kept.append(kept)
            is_plain, data = kept
            harmless = is_plain and self._codec.immutable(data)
            self._shared.append(self._codec.decode(data) if harmless else MUTABLE)
        return number

    def sealed(self, value: Any) -> tuple[bool, bytes]:
        """As bytes, canonical ones if it is plain."""
        try:
            return True, self._codec.encode(value)
        except NotState as refused:
            try:
                return False, pickle.dumps(value, protocol=5)
            except Exception as error:
                raise BadCall(
                    f"{caller()}: a message holds a `{refused.type_name}`, which cannot be"
                    f" sent: {error}",
                    "a socket, lock, open file or function inside the message",
                    "send plain values, and rebuild the object where it is received",
                ) from error
