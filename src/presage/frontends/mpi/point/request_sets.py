"""Waiting for several requests at once: any, all or some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.core.status import UNDEFINED, Status, fill
from presage.frontends.mpi.point.request_state import RequestState
from presage.process.context import Asking, blocking, test_any, wait_any
from presage.process.ops import NONE, Choose


def waitany(requests: Sequence[RequestState], status: Status | None) -> tuple[int, Any]:
    _note("waitany", requests)
    index = blocking(_any(requests))
    return index, _say(requests, index, status)


def testany(requests: Sequence[RequestState], status: Status | None) -> tuple[int, bool, Any]:
    _note("testany", requests)
    index = blocking(_any_now(requests))
    if index is None:
        return UNDEFINED, False, None
    return index, True, _say(requests, index, status)


def waitall(requests: Sequence[RequestState], statuses: list[Status] | None) -> list[Any]:
    _note("waitall", requests)
    for request in requests:
        blocking(request.arrive())
    return _say_all(requests, range(len(requests)), statuses)


def testall(
    requests: Sequence[RequestState], statuses: list[Status] | None
) -> tuple[bool, list[Any] | None]:
    _note("testall", requests)
    for request in requests:
        if not blocking(request.look()):
            return False, None
    return True, _say_all(requests, range(len(requests)), statuses)


def waitsome(
    requests: Sequence[RequestState], statuses: list[Status] | None
) -> tuple[list[int] | None, list[Any] | None]:
    _note("waitsome", requests)
    if not any(each.is_active for each in requests):
        return None, None
    first = blocking(_any(requests))
    blocking(_absorb(requests))
    ready = [i for i, each in enumerate(requests) if i == first or each.has_arrived]
    return ready, _say_all(requests, ready, statuses)


def testsome(
    requests: Sequence[RequestState], statuses: list[Status] | None
) -> tuple[list[int] | None, list[Any] | None]:
    _note("testsome", requests)
    if not any(each.is_active for each in requests):
        return None, None
    blocking(_absorb(requests))
    ready = [i for i, each in enumerate(requests) if each.has_arrived]
    return ready, _say_all(requests, ready, statuses)


def _any(requests: Sequence[RequestState]) -> Asking[int]:
    """Wait until one has arrived; where several have, any of them may be the one."""
    if not any(each.is_active for each in requests):
        return UNDEFINED
    if any(each.has_arrived for each in requests):
        return (yield from _among_arrived(requests))
    while True:
        open_ = [i for i, each in enumerate(requests) if each.is_active]
        response = yield from wait_any(tuple(requests[i].next_slot for i in open_))
        index = open_[response.choice]
        requests[index].got(response)
        if requests[index].has_arrived:
            return index


def _any_now(requests: Sequence[RequestState]) -> Asking[int | None]:
    """One that has arrived; None if none has."""
    if not any(each.is_active for each in requests):
        return UNDEFINED
    if any(each.has_arrived for each in requests):
        return (yield from _among_arrived(requests))
    while True:
        open_ = [i for i, each in enumerate(requests) if each.is_active]
        response = yield from test_any(tuple(requests[i].next_slot for i in open_))
        if response.choice == NONE:
            return None
        index = open_[response.choice]
        requests[index].got(response)
        if requests[index].has_arrived:
            return index


def _among_arrived(requests: Sequence[RequestState]) -> Asking[int]:
    yield from _absorb(requests)
    arrived = [i for i, each in enumerate(requests) if each.has_arrived]
    if len(arrived) == 1:
        return arrived[0]
    response = yield Choose(len(arrived))
    return arrived[response.choice]


def _absorb(requests: Sequence[RequestState]) -> Asking[None]:
    """See which have arrived by now."""
    for request in requests:
        if request.is_active:
            yield from request.look()


def _note(name: str, requests: Sequence[RequestState]) -> None:
    ranks = sorted({rank for each in requests if each.is_active for rank in each.waits_for})
    enter_call(name, ranks, requests=len(requests))


def _say(requests: Sequence[RequestState], index: int, status: Status | None) -> Any:
    if index == UNDEFINED:
        return None
    value, known = requests[index].complete()
    fill(status, known)
    return value


def _say_all(
    requests: Sequence[RequestState], which: Sequence[int], statuses: list[Status] | None
) -> list[Any]:
    results = [requests[index].complete() for index in which]
    if statuses is not None:
        if isinstance(statuses, list):
            statuses += [Status() for _ in range(len(results) - len(statuses))]
        for status, (_, known) in zip(statuses, results, strict=False):
            status.take(known)
    return [value for value, _ in results]
