"""`MPI.Request`: the calls by which scripts wait for a communication, or for several."""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.core.status import NULL_STATUS, Status, fill
from presage.frontends.mpi.point.request_sets import RequestSets
from presage.frontends.mpi.point.request_state import RequestState
from presage.process.context import blocking, cancel


class Request(RequestState, RequestSets):
    """A communication that is under way."""

    def Wait(self, status: Status | None = None) -> bool:
        self.wait(status)
        return True

    def wait(self, status: Status | None = None) -> Any:
        enter_call("wait", self.waits_for, request=self._shown())
        blocking(self.arrive())
        return self._say(status)

    def Test(self, status: Status | None = None) -> bool:
        return self.test(status)[0]

    def test(self, status: Status | None = None) -> tuple[bool, Any]:
        enter_call("test", self.waits_for, request=self._shown())
        if not blocking(self.look()):
            return False, None
        return True, self._say(status)

    def _say(self, status: Status | None) -> Any:
        value, known = self.complete()
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

    def Cancel(self) -> None:
        """Withdraw it, if it is not matched yet; wait for it all the same."""
        call = enter_call("Cancel")
        if not self.is_active:
            raise invalid(f"{call}: the request is not active")
        if len(self._slots) == 1 and blocking(cancel(self._slots[0])):
            self._slots.clear()
            self._cancelled = True

    cancel = Cancel
    get_status = Get_status

    def Free(self) -> None:
        """Let go of it; the communication goes on."""
        call = enter_call("Request.Free")
        if not self.is_active:
            raise invalid(f"{call}: the request is null")
        self._slots = []
        self._ended()


REQUEST_NULL = Request()


def at_once(value: Any = None, status: Status = NULL_STATUS) -> Request:
    """A request with nothing to wait for, as for PROC_NULL."""
    call = enter_call("request")
    return Request.of((), lambda _: (value, status), call)
