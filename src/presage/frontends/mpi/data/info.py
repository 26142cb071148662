"""`MPI.Info`: hints to a library, as keys and values."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.numbered import StateHandle, family
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.data.constants import NUMBERS


class InfoState:
    """Hints, however many handles stand for them."""

    def __init__(self, items: Any = (), fixed: bool = False) -> None:
        self.items: dict[str, str] = dict(items)
        self.fixed = fixed  # of the library
        self.freed = False
        self.handle = 0


@family
class Info(StateHandle):
    """Hints; a null one has none, and takes none."""

    _state: InfoState | None

    def __new__(cls, info: Any = None) -> Any:
        return cls._copied(info)

    @classmethod
    def of_items(cls, items: Any) -> Any:
        """Hints of the library."""
        return cls._of(InfoState(items))

    def _used(self, call: str) -> dict[str, str]:
        if self._state is None or self._state.freed:
            raise invalid(f"{call}: the info is INFO_NULL, or was freed before", "ERR_INFO")
        return self._state.items

    def __reduce__(self) -> Any:
        if self._constant() is not None:
            return super().__reduce__()
        return type(self).Create, (dict(self.hints),)

    @property
    def hints(self) -> dict[str, str]:
        """All of them; of a null one, none."""
        return {} if self._identity() is None else self._used("Info")

    @classmethod
    def Create(cls, items: Any = None) -> Any:
        """New hints."""
        made = cls.of_items({})
        if items is not None:
            made.update(items)
        return made

    @classmethod
    def Create_env(cls, args: Any = None) -> Any:
        """What is known of the environment."""
        return cls.of_items(
            {"command": sys.argv[0] if sys.argv else "", "thread_level": "multiple"}
        )

    def Free(self) -> None:
        """Let go of them."""
        self._used(enter_call("Info.Free"))
        state = self._state
        assert state is not None
        if state.fixed:
            raise invalid("Info.Free: INFO_ENV cannot be freed", "ERR_INFO")
        state.freed = True
        current_rank().drop(state.handle)

    def Dup(self) -> Any:
        """A copy."""
        return type(self).of_items(self._used("Info.Dup"))

    def Get(self, key: str) -> str | None:
        """The value of a key, or None."""
        return self._used("Info.Get").get(_key(key))

    def Set(self, key: str, value: str) -> None:
        """Give a key a value."""
        if len(value) > NUMBERS["MAX_INFO_VAL"]:
            raise invalid(f"Info.Set: a value of {len(value)} characters", "ERR_INFO_VALUE")
        self._used("Info.Set")[_key(key)] = value

    def Delete(self, key: str) -> None:
        """Forget a key."""
        if key not in self._used("Info.Delete"):
            raise invalid(f"Info.Delete: there is no key `{key}`", "ERR_INFO_NOKEY")
        del self._used("Info.Delete")[key]

    def Get_nkeys(self) -> int:
        """How many keys."""
        return len(self._used("Info.Get_nkeys"))

    def Get_nthkey(self, n: int) -> str:
        """A key, by its number."""
        keys = list(self._used("Info.Get_nthkey"))
        if not 0 <= n < len(keys):
            raise invalid(f"Info.Get_nthkey: there is no key {n}", "ERR_INFO_KEY")
        return keys[n]

    # As a dictionary.

    def __len__(self) -> int:
        return len(self.hints)

    def __bool__(self) -> bool:
        return self._identity() is not None

    def __contains__(self, key: object) -> bool:
        return key in self.hints

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, key: str) -> str:
        if key not in self.hints:
            raise KeyError(key)
        return self.hints[key]

    def __setitem__(self, key: str, value: str) -> None:
        if not self:
            raise KeyError(key)
        self.Set(key, value)

    def __delitem__(self, key: str) -> None:
        if key not in self.hints:
            raise KeyError(key)
        self.Delete(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        return self.hints.get(key, default)

    def keys(self) -> list[str]:
        """All keys."""
        return list(self.hints)

    def values(self) -> list[str]:
        """All values."""
        return list(self.hints.values())

    def items(self) -> list[tuple[str, str]]:
        """All keys with their values."""
        return list(self.hints.items())

    def update(self, items: Any = (), **kwds: str) -> None:
        """Take keys and values from elsewhere."""
        if not self:
            raise KeyError("info is INFO_NULL")
        pairs = items.items() if hasattr(items, "keys") else items
        for key, value in (*pairs, *kwds.items()):
            self.Set(key, value)

    def pop(self, key: str, *default: Any) -> Any:
        """The value of a key, which is forgotten."""
        if key in self.hints:
            value = self.hints[key]
            self.Delete(key)
            return value
        if default:
            return default[0]
        raise KeyError(key)

    def popitem(self) -> tuple[str, str]:
        """A key and its value, which are forgotten."""
        if not self.hints:
            raise KeyError("popitem(): info is empty")
        key = self.keys()[-1]
        return key, self.pop(key)

    def copy(self) -> Any:
        """A copy; of a null one, null."""
        return self.Dup() if self else type(self)()

    def clear(self) -> None:
        """Forget all keys."""
        self.hints.clear() if self else None


def _key(key: str) -> str:
    if not key or len(key) > NUMBERS["MAX_INFO_KEY"]:
        raise invalid(f"Info: a key of {len(key)} characters", "ERR_INFO_KEY")
    return key


INFO_NULL: Info = Info()
INFO_ENV: Info = Info()
INFO_ENV._state = InfoState({"thread_level": "multiple"}, fixed=True)
