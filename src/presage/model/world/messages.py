"""The messages in flight, as a predicate sees them: a tuple that is read when it is looked into.

A verdict is remembered under what was read. Whether there are any messages, and how many, is asked
as a count, which few worlds differ in; which ones they are is asked only by who looks at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, SupportsIndex, overload

from presage.model.world.event import Envelope


class MessageReader(Protocol):
    """The part of a reader that knows what is in flight."""

    def messages(self, types: tuple[type, ...] | None, /) -> list[tuple[int, int, Any]]:
        """(source, to, message) of all in flight of these classes, ordered by their encoding."""

    def count(self, types: tuple[type, ...] | None, /) -> int:
        """How many there are of these classes."""


class Messages(Sequence[Envelope]):
    """What is in flight of some classes, in canonical order; equal to a tuple of the same."""

    __slots__ = ("_items", "_names", "_reader", "_types")

    def __init__(
        self, reader: MessageReader, names: Sequence[str], types: tuple[type, ...] | None
    ) -> None:
        self._reader = reader
        self._names = names
        self._types = types
        self._items: tuple[Envelope, ...] | None = None

    def _all(self) -> tuple[Envelope, ...]:
        if self._items is None:
            names = self._names
            self._items = tuple(
                [
                    Envelope(names[source], names[to], message)
                    for source, to, message in self._reader.messages(self._types)
                ]
            )
        return self._items

    def __len__(self) -> int:
        return len(self._items) if self._items is not None else self._reader.count(self._types)

    def __iter__(self) -> Iterator[Envelope]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: SupportsIndex) -> Envelope: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Envelope, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Envelope | tuple[Envelope, ...]:
        return self._all()[index]

    def __contains__(self, value: object) -> bool:
        return value in self._all()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Messages):
            return self._all() == other._all()
        return self._all() == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return self._all().__hash__()

    def __lt__(self, other: tuple[Envelope, ...]) -> bool:
        return self._all() < tuple(other)

    def __add__(self, other: Any) -> tuple[Any, ...]:
        return self._all() + tuple(other)

    def __radd__(self, other: Any) -> tuple[Any, ...]:
        return tuple(other) + self._all()

    def __repr__(self) -> str:
        return repr(self._all())
