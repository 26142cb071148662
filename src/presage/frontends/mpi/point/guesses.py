"""Calls on requests where MPI leaves open what they say: which of several is first, what is ready.

A test may say that nothing is complete, however long ago it was; it must not do so for ever. A call
that returns one of several complete requests may return any. So what a call says is decided first,
and then waited for. Where it never comes true though another answer would have, the search drops
that run: see `WaitAny.rivals` and `WaitAny.polled`.
"""

from __future__ import annotations

from collections.abc import Sequence

from presage.frontends.mpi.point.request_state import RequestState
from presage.process.context import Asking
from presage.process.ops import NONE, Choose, Poll


def first(requests: Sequence[RequestState]) -> Asking[int]:
    """Wait for one of those that are active."""
    active = _active(requests)
    at = 0 if len(active) == 1 else (yield Choose(len(active))).choice
    yield from _arrive(requests, active[at], polled=False)
    return active[at]


def polled(requests: Sequence[RequestState]) -> Asking[int | None]:
    """One of those that are active, or None."""
    active = _active(requests)
    response = yield Poll(len(active))
    if response.choice == NONE:
        return None
    yield from _arrive(requests, active[response.choice], polled=True)
    return active[response.choice]


def some(requests: Sequence[RequestState], *, waits: bool) -> Asking[list[int]]:
    """Some of those that are active; only if it does not wait, perhaps none."""
    found = (yield from first(requests)) if waits else (yield from polled(requests))
    if found is None:
        return []
    # The first found is the first of them: each set is found in one way.
    chosen = [found]
    for at in _active(requests):
        if at > found and (yield Choose(2)).choice:
            yield from requests[at].arrive(polled=True)
            chosen.append(at)
    return chosen


def all_of(requests: Sequence[RequestState]) -> Asking[bool]:
    """Whether each has arrived."""
    if not any(each.is_open for each in requests):
        return True
    if (yield Poll(1)).choice == NONE:
        return False
    for request in requests:
        yield from request.arrive(polled=True)
    return True


def _active(requests: Sequence[RequestState]) -> list[int]:
    return [at for at, each in enumerate(requests) if each.is_active]


def _arrive(requests: Sequence[RequestState], at: int, *, polled: bool) -> Asking[None]:
    others = [each for i, each in enumerate(requests) if each.is_active and i != at]
    arrived = any(each.has_arrived for each in others)
    rivals = tuple(each.open_slots for each in others if each.is_open)
    yield from requests[at].arrive(rivals or None, polled=polled or arrived)
