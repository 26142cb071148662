"""Python objects as messages: the receiver gets a copy, with its own classes.

Plain values stay readable in traces. Others are pickled as mpi4py does it, each rank with its own
`__main__`, so that a class that the script defines is that of the rank at hand.
"""

from __future__ import annotations

import pickle
from typing import Any

from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import current_rank, where
from presage.frontends.mpi.data.extras import PICKLE as PICKLER
from presage.frontends.mpi.data.extras import ways

OBJECT = "object"
PICKLE = "pickle"
LEAVES = (type(None), bool, int, float, complex, str, bytes)
DEPTH_MAX = 50


def pack(value: Any) -> tuple[str, Any]:
    if "pickle" in current_rank().own_notes and ways().is_own:
        return PICKLE, PICKLER.dumps(value)
    if _is_plain(value, DEPTH_MAX):
        return OBJECT, value
    try:
        return PICKLE, pickle.dumps(value, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise invalid(
            f"an object of type {type(value).__name__} cannot be sent, at {where()}: {error}"
        ) from error


def unpack(packed: tuple[str, Any]) -> Any:
    form, data = packed
    if form == PICKLE:
        return PICKLER.loads(data)
    return data


def _is_plain(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind in LEAVES:
        return True
    if depth == 0:
        return False
    if kind in (list, tuple, set, frozenset):
        return all(_is_plain(each, depth - 1) for each in value)
    if kind is dict:
        return all(_is_plain(k, depth - 1) and _is_plain(v, depth - 1) for k, v in value.items())
    return False
