"""`MPI.Request`: the calls by which scripts wait for a communication, or for several."""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.core.status import NULL_STATUS, UNDEFINED, Status, fill
from presage.frontends.mpi.point.request_sets import RequestSets
from presage.frontends.mpi.point.request_state import RequestState
from presage.process.context import blocking, cancel


class Request(RequestState, RequestSets):
    """A communication that is under way."""

    def Wait(self, status: Status | None = None) -> bool:
        Request.wait(self, status)  # a subclass of a script may have another
        return True

    def wait(self, status: Status | None = None) -> Any:
        enter_call("wait", self.waits_for, request=self._shown())
        blocking(self.arrive())
        return self._say(status)

    def Test(self, status: Status | None = None) -> bool:
        return Request.test(self, status)[0]

    def test(self, status: Status | None = None) -> tuple[bool, Any]:
        enter_call("test", self.waits_for, request=self._shown())
        if not blocking(self.look()):
            return False, None
        return True, self._say(status)

    def _say(self, status: Status | None) -> Any:
        value, known = RequestState.complete(self)  # the `complete` of a script is another
        fill(status, known)
        return value

    def _shown(self) -> str:
        return self.call.replace(" at ", ", ", 1) if self.is_active else "null"

    def Get_status(self, status: Status | None = None) -> bool:
        """Whether it is complete; it stays as it is."""
        enter_call("Get_status", self.waits_for)
        if not blocking(self.look()):
            return False
        known = Status()
        known.cancelled = self._cancelled
        if self._responses and self._responses[0].payload is not None:
            source, tag = self._responses[0].key
            known.source, known.tag = source, tag
        fill(status, known)
        return True

    @classmethod
    def Get_status_any(cls, requests: Any, status: Status | None = None) -> tuple[int, bool]:
        """One that is complete, and stays to be waited for."""
        if not any(requests):
            fill(status, Status())
            return UNDEFINED, True
        for index, request in enumerate(requests):
            if request and request.Get_status(status):
                return index, True
        return UNDEFINED, False

    @classmethod
    def Get_status_all(cls, requests: Any, statuses: list[Status] | None = None) -> bool:
        """Whether all are complete; they stay to be waited for."""
        known = [Status() for _ in requests]
        pairs = zip(requests, known, strict=True)
        if not all(request.Get_status(status) for request, status in pairs):
            return False
        spread(statuses, known)
        return True

    @classmethod
    def Get_status_some(cls, requests: Any, statuses: list[Status] | None = None) -> Any:
        """Those that are complete; they stay to be waited for."""
        if not any(requests):
            return None
        known, ready = [], []
        for index, request in enumerate(requests):
            status = Status()
            if request and request.Get_status(status):
                ready.append(index)
                known.append(status)
        spread(statuses, known)
        return ready

    get_status_any = Get_status_any
    get_status_all = Get_status_all
    get_status_some = Get_status_some

    def Cancel(self) -> None:
        """Withdraw it, if it is not matched yet; wait for it all the same."""
        call = enter_call("Cancel")
        if not self.is_active:
            raise invalid(f"{call}: the request is not active", "ERR_REQUEST")
        if len(self._slots) == 1 and blocking(cancel(self._slots[0])):
            self._slots.clear()
            self._cancelled = True

    cancel = Cancel
    get_status = Get_status

    def Free(self) -> None:
        """Let go of it; the communication goes on."""
        call = enter_call("Request.Free")
        if not self.is_active:
            raise invalid(f"{call}: the request is null", "ERR_REQUEST")
        self._slots = []
        self._ended()


def spread(statuses: Any, known: list[Status]) -> None:
    """Give a caller's statuses what is known; a list grows as needed."""
    if statuses is None:
        return
    if isinstance(statuses, list):
        statuses += [Status() for _ in range(len(known) - len(statuses))]
    for status, each in zip(statuses, known, strict=False):
        status.take(each)


REQUEST_NULL: Request = Request()


def at_once(value: Any = None, status: Status = NULL_STATUS) -> Request:
    """A request with nothing to wait for, as for PROC_NULL."""
    call = enter_call("request")
    return Request.of((), lambda _: (value, status), call)
