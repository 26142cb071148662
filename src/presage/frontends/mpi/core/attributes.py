"""Attributes: what scripts keep with a communicator, a datatype or a window, by keys they create.

Where a handle is duplicated, the function of the key says what becomes of its attribute; where it
is freed, another one is called.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any, ClassVar

from presage.frontends.mpi.core.error_codes import CODES
from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.rank import current_rank
from presage.records import NamedTuple

KEYVAL_INVALID = -1
FIRST = 5_000_001  # beyond those of the standard
FORGOTTEN = object()  # an attribute that is not copied


class Key(NamedTuple):
    """A key, for handles of one family."""

    family: str
    copy: Any  # a function, whether to copy, or None: not
    delete: Callable[..., Any] | None


class Attributed:
    """Get_attr and its relatives."""

    family: ClassVar[Any]
    _predefined_keys: ClassVar[tuple[int, ...]] = ()

    def _attributes(self) -> dict[int, Any]:
        """Where they are kept."""
        raise NotImplementedError

    def _predefined_attr(self, keyval: int) -> Any:
        """The value of a key of the standard."""
        return None

    @classmethod
    def Create_keyval(
        cls, copy_fn: Any = None, delete_fn: Any = None, nopython: bool = False
    ) -> int:
        """A new key; `copy_fn` and `delete_fn` are called with a handle, the key and the value."""
        keys = current_rank().keyvals
        number = FIRST + current_rank().own_notes.setdefault("keys made", 0)
        current_rank().own_notes["keys made"] += 1
        keys[number] = Key(cls.family.__name__, copy_fn, delete_fn)
        return int(number)

    @classmethod
    def Free_keyval(cls, keyval: int) -> int:
        """Let go of a key; attributes that have it stay."""
        _known(cls, keyval)
        current_rank().own_notes.setdefault("keys freed", set()).add(keyval)
        return KEYVAL_INVALID

    def Set_attr(self, keyval: int, attrval: Any) -> None:
        """Keep a value; what was there before is deleted."""
        key = _known(type(self), keyval)
        kept = self._attributes()
        if keyval in kept:
            _deleted(self, key, keyval, kept[keyval])
        kept[keyval] = attrval

    def Get_attr(self, keyval: int) -> Any:
        """The value that is kept, or None."""
        if keyval in self._predefined_keys:
            return self._predefined_attr(keyval)
        _known(type(self), keyval, freed=True)
        return self._attributes().get(keyval)

    def Delete_attr(self, keyval: int) -> None:
        """Keep it no longer."""
        key = _known(type(self), keyval, freed=True)
        kept = self._attributes()
        if keyval not in kept:
            raise invalid(f"Delete_attr(keyval={keyval}): there is no such attribute")
        _deleted(self, key, keyval, kept.pop(keyval))

    def _copy_attributes_to(self, new: Attributed) -> None:
        """A duplicate was made."""
        for keyval, value in list(self._attributes().items()):
            key = current_rank().keyvals[keyval]
            if not key.copy:
                continue
            copy = _called(key.copy, self, keyval, value) if callable(key.copy) else value
            if copy is not NotImplemented:
                new._attributes()[keyval] = copy

    def _delete_attributes(self) -> None:
        """It is about to be freed: those kept last go first."""
        kept = self._attributes()
        for keyval in reversed(list(kept)):
            _deleted(self, current_rank().keyvals[keyval], keyval, kept.pop(keyval))


def _known(cls: type[Attributed], keyval: int, freed: bool = False) -> Key:
    key: Key | None = current_rank().keyvals.get(keyval)
    gone = keyval in current_rank().own_notes.get("keys freed", ()) and not freed
    if key is None or key.family != cls.family.__name__ or gone:
        raise invalid(
            f"keyval={keyval} is no key for attributes of a {cls.family.__name__}", "ERR_KEYVAL"
        )
    return key


def _deleted(handle: Any, key: Key, keyval: int, value: Any) -> None:
    if key.delete is not None:
        _called(key.delete, handle, keyval, value)


def _called(function: Callable[..., Any], handle: Any, keyval: int, value: Any) -> Any:
    """A function of the script; what it raises is printed, and an error of the call."""
    try:
        return function(handle, keyval, value)
    except MPIException:
        raise
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        text = f"the function of attribute {keyval}: {type(error).__name__} {error}"
        raise MPIException("mpi-error", text, CODES["ERR_OTHER"]) from error
