"""Keys, values and expiry of one database.

A value is `bytes`, or one of the four containers here. A container that becomes empty is no key any
more: `changed` sees to it, and tells the server. Replies that Redis gives in an arbitrary order
come from here in sorted order, so that a reply is a function of the contents.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from presage.frontends.real.services.redis.errors import WRONG_TYPE, CommandError

Value = Any


class Hash(dict[bytes, bytes]):
    """Fields and values, in the order in which the fields came."""


class List(list[bytes]):
    """The items of a list, the left one first."""


class Set(set[bytes]):
    """The members of a set."""


class Scores(dict[bytes, float]):
    """Members and scores of a sorted set."""

    def ordered(self) -> list[tuple[bytes, float]]:
        return sorted(self.items(), key=lambda pair: (pair[1], pair[0]))


Kind = TypeVar("Kind", bytes, Hash, List, Set, Scores)

NAMES: dict[type, str] = {
    bytes: "string",
    Hash: "hash",
    List: "list",
    Set: "set",
    Scores: "zset",
}


class Database:
    """One database; `notify(key)` is called for each key that changed."""

    def __init__(self, notify: Callable[[bytes], None]) -> None:
        self.values: dict[bytes, Value] = {}
        self.expiries: dict[bytes, int] = {}
        self._notify = notify

    def read(self, key: bytes, kind: type[Kind]) -> Kind | None:
        """The value of `key`, or None; another kind of value is refused."""
        value = self.values.get(key)
        if value is None or isinstance(value, kind):
            return value
        raise CommandError(WRONG_TYPE)

    def edit(self, key: bytes, kind: type[Kind]) -> Kind:
        """The value of `key`, made if it is not there; call `changed` afterwards."""
        value = self.read(key, kind)
        if value is None:
            value = self.values[key] = kind()
        return value

    def changed(self, key: bytes) -> None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bytes) and not value:
            self._forget(key)
        self._notify(key)

    def put(self, key: bytes, value: Value, *, keep_expiry: bool = False) -> None:
        if not keep_expiry:
            self.expiries.pop(key, None)
        self.values[key] = value
        self.changed(key)

    def drop(self, key: bytes) -> bool:
        if key not in self.values:
            return False
        self._forget(key)
        self._notify(key)
        return True

    def _forget(self, key: bytes) -> None:
        self.values.pop(key)
        self.expiries.pop(key, None)

    def expire(self, key: bytes, moment: int) -> None:
        """Let `key` go after `moment`, in milliseconds."""
        self.expiries[key] = moment
        self._notify(key)

    def persist(self, key: bytes) -> bool:
        if self.expiries.pop(key, None) is None:
            return False
        self._notify(key)
        return True

    def purge(self, now: int) -> None:
        for key in sorted(key for key, moment in self.expiries.items() if moment < now):
            self.drop(key)

    def clear(self) -> None:
        for key in sorted(self.values):
            self.drop(key)


def type_name(value: Value) -> str:
    return NAMES[type(value)]
