"""What replicas ask each other: the latest value, and to record one."""

from __future__ import annotations

from msgspec import Struct

Stamp = tuple[int, str]  # count, then the writer's name: no two writes share one


class Query(Struct, frozen=True):
    """Which value is the latest you know?"""

    request: int


class QueryOk(Struct, frozen=True):
    """This one."""

    request: int
    stamp: Stamp
    value: str | None


class Record(Struct, frozen=True):
    """Keep this value, if it is later than yours."""

    request: int
    stamp: Stamp
    value: str | None


class RecordOk(Struct, frozen=True):
    """Kept, or already superseded."""

    request: int
