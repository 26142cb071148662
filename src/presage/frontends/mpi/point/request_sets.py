"""Waiting for several requests at once: any, all or some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.core.status import UNDEFINED, Status, fill
from presage.frontends.mpi.point import guesses
from presage.frontends.mpi.point.drain import Drain
from presage.frontends.mpi.point.request_state import RequestState
from presage.process.context import Asking, blocking, current, test_any, wait_any
from presage.process.ops import NONE, Choose, Response

Requests = Sequence[RequestState]
Statuses = list[Status] | None


class RequestSets:
    """Calls on several requests; upper-case ones give no received objects."""

    @staticmethod
    def waitany(requests: Requests, status: Status | None = None) -> tuple[int, Any]:
        _note("waitany", requests)
        index = blocking(_any(requests, wait_any))
        assert index is not None
        return index, _say(requests, index, status)

    @staticmethod
    def testany(requests: Requests, status: Status | None = None) -> tuple[int, bool, Any]:
        _note("testany", requests)
        index = blocking(_any(requests, test_any))
        if index is None:
            return UNDEFINED, False, None
        return index, True, _say(requests, index, status)

    @staticmethod
    def waitall(requests: Requests, statuses: Statuses = None) -> list[Any]:
        _note("waitall", requests)
        for request in requests:
            blocking(request.arrive())
        return _say_all(requests, range(len(requests)), statuses)

    @staticmethod
    def testall(requests: Requests, statuses: Statuses = None) -> tuple[bool, list[Any] | None]:
        _note("testall", requests)
        if not blocking(_all(requests)):
            return False, None
        return True, _say_all(requests, range(len(requests)), statuses)

    @staticmethod
    def waitsome(
        requests: Requests, statuses: Statuses = None
    ) -> tuple[list[int] | None, list[Any] | None]:
        _note("waitsome", requests)
        return _say_some(requests, statuses, waits=True)

    @staticmethod
    def testsome(
        requests: Requests, statuses: Statuses = None
    ) -> tuple[list[int] | None, list[Any] | None]:
        _note("testsome", requests)
        return _say_some(requests, statuses, waits=False)

    @classmethod
    def Waitany(cls, requests: Requests, status: Status | None = None) -> int:
        rank = current_rank()
        has_threads = rank.threads is not None and rank.threads.started
        if status is not None or rank.delivery.ordered or rank.windows or has_threads:
            return cls.waitany(requests, status)[0]
        if rank.drain is None or not rank.drain.is_of(requests):
            _note("waitany", requests)
            if sum(1 for each in requests if each.is_active) < 2:
                return cls.waitany(requests, status)[0]
            text, known = dict(current().notes), current().notes
            rank.drain = Drain(requests, lambda: known.update(text))
        index = rank.drain.finish() if rank.drain.is_last else rank.drain.more()
        return index  # type: ignore[no-any-return]

    @classmethod
    def Testany(cls, requests: Requests, status: Status | None = None) -> tuple[int, bool]:
        return cls.testany(requests, status)[:2]

    @classmethod
    def Waitall(cls, requests: Requests, statuses: Statuses = None) -> bool:
        cls.waitall(requests, statuses)
        return True

    @classmethod
    def Testall(cls, requests: Requests, statuses: Statuses = None) -> bool:
        return cls.testall(requests, statuses)[0]

    @classmethod
    def Waitsome(cls, requests: Requests, statuses: Statuses = None) -> list[int] | None:
        return cls.waitsome(requests, statuses)[0]

    @classmethod
    def Testsome(cls, requests: Requests, statuses: Statuses = None) -> list[int] | None:
        return cls.testsome(requests, statuses)[0]


def _any(
    requests: Requests, ask: Callable[[tuple[int, ...]], Asking[Response]]
) -> Asking[int | None]:
    """One that has arrived, or any of several; with `test_any`, None if none has."""
    if not any(each.is_active for each in requests):
        return UNDEFINED
    if not current_rank().delivery.ordered:
        return (yield from (guesses.first if ask is wait_any else guesses.polled)(requests))
    if any(each.has_arrived for each in requests):
        return (yield from _among_arrived(requests))
    while True:
        open_ = [i for i, each in enumerate(requests) if each.is_active]
        response = yield from ask(tuple(requests[i].next_slot for i in open_))
        if response.choice == NONE:
            return None
        index = open_[response.choice]
        requests[index].got(response)
        if requests[index].has_arrived:
            return index


def _all(requests: Requests) -> Asking[bool]:
    if not current_rank().delivery.ordered:
        return (yield from guesses.all_of(requests))
    for request in requests:
        if not (yield from request.look()):
            return False
    return True


def _among_arrived(requests: Requests) -> Asking[int]:
    yield from _absorb(requests)
    arrived = [i for i, each in enumerate(requests) if each.has_arrived]
    if len(arrived) == 1:
        return arrived[0]
    response = yield Choose(len(arrived))
    return arrived[response.choice]


def _absorb(requests: Requests) -> Asking[None]:
    """See which have arrived by now."""
    for request in requests:
        if request.is_active:
            yield from request.look()


def _note(name: str, requests: Requests) -> None:
    ranks = sorted({rank for each in requests if each.is_active for rank in each.waits_for})
    enter_call(name, ranks, requests=len(requests))


def _say(requests: Requests, index: int, status: Status | None) -> Any:
    if index == UNDEFINED:
        return None
    value, known = requests[index].complete()
    fill(status, known)
    return value


def _say_some(
    requests: Requests, statuses: Statuses, *, waits: bool
) -> tuple[list[int] | None, list[Any] | None]:
    """Those that have arrived by now."""
    if not any(each.is_active for each in requests):
        return None, None
    if current_rank().delivery.ordered:
        ready = blocking(_ready(requests, waits))
    else:
        ready = blocking(guesses.some(requests, waits=waits))
    return ready, _say_all(requests, ready, statuses)


def _ready(requests: Requests, waits: bool) -> Asking[list[int]]:
    """All that have arrived; with `waits`, at least one."""
    first = (yield from _any(requests, wait_any)) if waits else None
    yield from _absorb(requests)
    return [i for i, each in enumerate(requests) if i == first or each.has_arrived]


def _say_all(requests: Requests, which: Sequence[int], statuses: Statuses) -> list[Any]:
    results = [requests[index].complete() for index in which]
    if statuses is not None:
        if isinstance(statuses, list):
            statuses += [Status() for _ in range(len(results) - len(statuses))]
        for status, (_, known) in zip(statuses, results, strict=False):
            status.take(known)
    return [value for value, _ in results]
