"""The ball, there and back."""

from __future__ import annotations

from msgspec import Struct


class Ping(Struct, frozen=True):
    """The server's ball."""

    value: int


class Pong(Struct, frozen=True):
    """The answer."""

    value: int
