"""Where a trace begins, if that is a state that was saved: plain data, and who vouches for it.

The state is canonical bytes. Rebuilding objects from them may call what they name, as with a
checkpoint (`seal.py`), so they are opened only if this user made them: in this process, or signed.
What another has made is data that somebody has to vouch for first.

Invariant: nothing here decodes anything.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from presage._core import sha256
from presage.trace import seal

KIND: Final = "presage-origin"

Bytes = tuple[bytes, ...]


class SavedFilter(msgspec.Struct, frozen=True):
    """A filter that was in force; see `model/world/filters.py`."""

    node: str
    kind: str
    name: str
    source: str | None = None


class SavedOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """A saved state, and what was different from there on."""

    version: Literal[1] = 1
    locals: tuple[Bytes, ...]  # per node, its values
    observers: Bytes
    budgets: tuple[int | None, ...]  # faults to come, in the order of `FAULTS`; None: unlimited
    exposed: tuple[str, ...] | None = None  # nodes that faults may happen to; None: all
    notices: bool = False
    partition: int = 0
    links: tuple[tuple[int, int, Bytes, Bytes, int], ...] = ()  # ends, queues, flags
    mail: tuple[Bytes, ...] = ()  # by channel on an ordered network; else one message each
    outside: tuple[str, ...] = ()  # nodes of which nothing is known
    observed: bool = True  # whether the states of observers are known
    filters: tuple[SavedFilter, ...] = ()
    classes: tuple[str, ...] = ()  # that the bytes may name, as `module:qualname`
    references: tuple[str, ...] = ()
    signature: str | None = None  # of this user, over all the rest

    def signed(self) -> SavedOrigin:
        """The same, which this process vouches for, and this user from now on."""
        vouch(self)
        return msgspec.structs.replace(self, signature=seal.sign(KIND, _content(self)))

    def is_signed(self) -> bool:
        """Whether this user has signed it."""
        return seal.is_ours(KIND, _content(self), self.signature)

    def is_vouched_for(self) -> bool:
        """Whether it may be opened."""
        return _digest(self) in _VOUCHED or self.is_signed()


_VOUCHED: set[str] = set()  # digests of what may be opened in this process


def vouch(origin: SavedOrigin) -> None:
    """Let `origin` be opened in this process, though another made it."""
    _VOUCHED.add(_digest(origin))


def _content(origin: SavedOrigin) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(origin, signature=None))


def _digest(origin: SavedOrigin) -> str:
    return sha256(_content(origin)).hex()
