"""Classes that stand for classes of the standard library: they print and are asked about as those.

Objects and subclasses of the original count as theirs, for the standard library itself makes some.
"""

from __future__ import annotations

from typing import Any

ORIGINALS: dict[type, Any] = {}


class AsOriginal(type):
    """The class of such a class, and of those that derive from it."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, ORIGINALS.get(cls, ())) or type.__instancecheck__(cls, value)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, ORIGINALS.get(cls, ())) or type.__subclasscheck__(cls, kind)


def stand_for(original: Any, made: type) -> None:
    """Let `made` stand for `original`."""
    made.__name__ = made.__qualname__ = original.__name__
    made.__module__ = original.__module__
    ORIGINALS[made] = original
