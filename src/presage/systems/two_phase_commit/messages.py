"""One message up, two down."""

from __future__ import annotations

from msgspec import Struct


class Prepared(Struct, frozen=True):
    """The sender has prepared, and leaves the decision to the transaction manager."""


class Commit(Struct, frozen=True):
    """The transaction is committed."""


class Abort(Struct, frozen=True):
    """The transaction is aborted."""
