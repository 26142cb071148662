"""The end of a rank: what MPI wants to be complete, waited for and freed by then."""

from __future__ import annotations

from presage.frontends.mpi.collective.exchange import settle
from presage.frontends.mpi.core.mistakes import MPIException
from presage.frontends.mpi.core.rank import Rank, current_rank, enter_call, in_order, named
from presage.frontends.mpi.futures.executor import finish_all
from presage.frontends.mpi.point.persistent import Prequest
from presage.frontends.mpi.point.request import Request


def finalize() -> None:
    """`MPI.Finalize`, called by the script or at its end."""
    rank = current_rank()
    if rank.finalized:
        return
    finish_all()
    owing = in_order(
        core.ranks[at] for core in rank.cores for at, owed in core.owed.items() if owed
    )
    enter_call("Finalize", owing)
    for core in rank.cores:
        settle(core)
    if rank.strict:
        _complain(rank)
    rank.finalized = True


def _complain(rank: Rank) -> None:
    for request in rank.requests:
        kind, why = _left_open(request)
        raise MPIException(
            kind, f"{named(rank.number)} ends, and the request of {request.call} {why}"
        )
    for window in rank.windows:
        window.complain(rank.number)
    for what, place in rank.handles.values():
        raise MPIException(
            "leak", f"{named(rank.number)} ends, and the {what}, {place}, is not {_ended(what)}"
        )


def _ended(what: str) -> str:
    return "closed" if what.startswith("file ") else "freed"


def _left_open(request: Request) -> tuple[str, str]:
    if not isinstance(request, Prequest):
        return "leaked-request", "was neither waited for nor freed"
    if request.is_active:
        return "missing-wait", "was started and not waited for"
    if not request.started:
        return "missing-start", "was never started"
    return "leaked-request", "was not freed"
