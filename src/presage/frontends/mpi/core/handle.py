"""A communicator, as scripts hold it, with the checks that every call on it makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.frontends.mpi.core.comm_state import CommState, RankId, both
from presage.frontends.mpi.core.groups import ONE_OF_US
from presage.frontends.mpi.core.mistakes import invalid, wrong_type
from presage.frontends.mpi.core.numbered import Numbered, family
from presage.frontends.mpi.core.rank import current_rank
from presage.frontends.mpi.core.status import ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT

TAG_UB = 2**31 - 1


@family
class Handle(Numbered):
    """Holds a `CommState`, or knows where the running rank keeps it; None: a null communicator."""

    def __init__(self, core: CommState | Callable[[], CommState] | None) -> None:
        self._held = core

    def _core(self, call: str = "this call") -> CommState:
        held = self._held
        core = held if type(held) is CommState else held() if callable(held) else held
        if core is None:
            raise invalid(f"{call}: the communicator is COMM_NULL", "ERR_COMM")
        if core.freed:
            raise invalid(f"{call}: the communicator was freed before", "ERR_COMM")
        return core

    def _identity(self) -> object | None:
        core = self._held() if callable(self._held) else self._held
        return None if core is None or core.freed else core


def check_dest(core: CommState, dest: Any, call: str) -> int:
    if type(dest) is int and 0 <= dest < len(core.reach):
        return dest
    return _reachable(core, dest, call, "send to", (PROC_NULL,))


def check_source(core: CommState, source: Any, call: str) -> int:
    if type(source) is int and 0 <= source < len(core.reach):
        return source
    return _reachable(core, source, call, "receive from", (PROC_NULL, ANY_SOURCE))


def _reachable(core: CommState, given: Any, call: str, way: str, special: tuple[int, ...]) -> int:
    rank, count = _whole(given, "rank", call), len(core.reach)
    if rank not in special and not 0 <= rank < count:
        raise invalid(f"{call}: there is no rank {rank} to {way}; there are {count}", "ERR_RANK")
    return rank


def check_root(core: CommState, root: Any, call: str) -> int:
    rank = _whole(root, "root", call)
    if core.whole is not None:
        return _claim(core, rank, call)
    if not 0 <= rank < core.size:
        raise invalid(
            f"{call}: there is no rank {rank} to be the root; there are {core.size}", "ERR_ROOT"
        )
    return rank


def check_tag(tag: Any, call: str, wanted: bool = False) -> int:
    if type(tag) is int and 0 <= tag <= TAG_UB:
        return tag
    number = _whole(tag, "tag", call)
    if not 0 <= number <= TAG_UB and not (wanted and number == ANY_TAG):
        raise invalid(f"{call}: {number} is no tag; tags go from 0 to {TAG_UB}", "ERR_TAG")
    return number


def _whole(value: Any, what: str, call: str) -> int:
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)  # mpi4py takes it, too
    try:
        return int(value.__index__())
    except AttributeError:
        raise wrong_type(f"{call}: {value!r} is no {what}") from None


def peers(core: CommState, source: int) -> tuple[RankId, ...]:
    """Which ranks a receive may wait for."""
    if source == PROC_NULL:
        return ()
    if source == ANY_SOURCE:
        return tuple(rank for rank in core.reach if rank != current_rank().number)
    return (core.reach[source],)


def _claim(core: CommState, root: int, call: str) -> int:
    """What a member says of the root, as others are told of it."""
    whole, far = both(core)
    sides: Any = whole.sides
    side = sides.of(whole.rank)
    if root == ROOT:
        return whole.rank
    if root == PROC_NULL:
        return ONE_OF_US[side]
    if not 0 <= root < far.size:
        raise invalid(
            f"{call}: there is no rank {root} in the other group to be the root; it has {far.size}."
            " In the group of the root, the root itself says MPI.ROOT, the others MPI.PROC_NULL",
            "ERR_ROOT",
        )
    return int(sides.group(1 - side)[root])
