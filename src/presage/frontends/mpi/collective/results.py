"""What collective calls compute: every rank's contribution in, one rank's result out.

Pure functions; how contributions travel is no concern of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.frontends.mpi.data.buffers import Data
from presage.frontends.mpi.data.op import Op

Result = Callable[[list[Any], int], Any]


def nothing(contributions: list[Any], rank: int) -> None:
    return None


def of_root(root: int) -> Result:
    """bcast: what the root gave."""
    return lambda contributions, rank: contributions[root]


def part_of_root(root: int) -> Result:
    """scatter: one part each of what the root gave."""
    return lambda contributions, rank: contributions[root][rank]


def all_at_root(root: int) -> Result:
    """gather: everything, for the root."""
    return lambda contributions, rank: list(contributions) if rank == root else None


def everything(contributions: list[Any], rank: int) -> list[Any]:
    """allgather."""
    return list(contributions)


def crosswise(contributions: list[Any], rank: int) -> list[Any]:
    """alltoall: what each rank has for this one."""
    return [each[rank] for each in contributions]


Fold = Callable[[list[Any]], Any]


def folded(fold: Fold) -> Result:
    """allreduce."""
    return lambda contributions, rank: fold(contributions)


# Calls that fold contributions, by the root, if there is one, and how to fold.
FOLDED: dict[str, Callable[[int, Fold], Result]] = {
    "reduce": lambda root, fold: lambda each, rank: fold(each) if rank == root else None,
    "allreduce": lambda _, fold: folded(fold),
    "scan": lambda _, fold: lambda each, rank: fold(each[: rank + 1]),
    "exscan": lambda _, fold: lambda each, rank: fold(each[:rank]) if rank else None,
}


def folded_parts(op: Op, given: list[int] | None, call: str) -> Result:
    """reduce_scatter: a part each of the whole, of so many elements as given, or as there is room.

    A contribution is the data of a rank, and the room it has.
    """

    def result(contributions: list[tuple[Data, int]], rank: int) -> Data:
        counts = given or [room for _, room in contributions]
        sign, elements, data = op.fold_data([each for each, _ in contributions], call)
        width = len(data) // elements if elements else 0
        start = sum(counts[:rank])
        return sign, counts[rank], data[start * width : (start + counts[rank]) * width]

    return result
