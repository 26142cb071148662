"""`MPI.Request`: a communication that is under way, and the ways to wait for it.

A request holds the slots of its posts. It has *arrived* once each of them was returned by a wait
or a test; it is complete for the script when a call says so. The two differ where a call on many
requests finds some of them ready, and says nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from presage.mpi.hazards import Watched
from presage.mpi.mistakes import invalid
from presage.mpi.rank import Who, calling, here
from presage.mpi.status import NULL_STATUS, Status, fill
from presage.process.context import Asking, blocking, cancel, test_any, wait_any
from presage.process.ops import NONE, Response

# Given the responses to its posts: what the request gives, and what is known of it.
Finish = Callable[[list[Response]], tuple[Any, Status]]


class Request:
    """A communication that is under way."""

    def __init__(self, request: Request | None = None) -> None:
        self._slots: list[int] = []
        self._responses: list[Response] = []
        self._finish: Finish | None = None
        self._call = ""
        self._waits_for: tuple[Who, ...] = ()
        self._watched: tuple[Watched, ...] = ()
        self._cancelled = False
        self._active = False
        if request is not None:
            self.__dict__.update(request.__dict__)

    @classmethod
    def of(
        cls,
        slots: Sequence[int],
        finish: Finish,
        call: str,
        waits_for: Sequence[Who] = (),
        watched: tuple[Watched, ...] = (),
    ) -> Request:
        """A request for posts that were just made."""
        request = cls()
        request.begin(slots, finish, call, waits_for, watched)
        here().requests.append(request)
        return request

    def begin(
        self,
        slots: Sequence[int],
        finish: Finish,
        call: str,
        waits_for: Sequence[Who],
        watched: tuple[Watched, ...],
    ) -> None:
        self._slots, self._responses = list(slots), []
        self._finish, self._call, self._waits_for = finish, call, tuple(waits_for)
        self._watched, self._cancelled, self._active = watched, False, True

    def __bool__(self) -> bool:
        return self._active

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Request):
            return NotImplemented
        return self is other or not (self or other)

    __hash__ = object.__hash__

    # What the calls below are made of.

    @property
    def is_active(self) -> bool:
        return self._active

    @property
    def has_arrived(self) -> bool:
        return self._active and not self._slots

    @property
    def told(self) -> str:
        """The call that made it."""
        return self._call

    @property
    def watched(self) -> tuple[Watched, ...]:
        return self._watched if self._active else ()

    def joined(self, other: Request) -> Request:
        """Both as one: it gives what this one gives, once both have arrived."""
        own = len(self._slots)
        finish = self._finish
        assert finish is not None
        self._slots += other._slots
        self._watched += other._watched
        self._finish = lambda responses: finish(responses[:own])
        other._slots = []
        other._ended()
        return self

    def watch(self, watched: tuple[Watched, ...]) -> None:
        """Its buffers are in use, until it is complete."""
        self._watched = watched

    @property
    def next_slot(self) -> int:
        return self._slots[0]

    @property
    def waits_for(self) -> tuple[Who, ...]:
        return self._waits_for

    def got(self, response: Response) -> None:
        """Its next slot was returned."""
        self._slots.pop(0)
        self._responses.append(response)

    def arrive(self) -> Asking[None]:
        """Wait until every post is complete."""
        while self._slots:
            self.got((yield from wait_any((self.next_slot,))))

    def look(self) -> Asking[bool]:
        """Whether every post is complete now."""
        while self._slots:
            response = yield from test_any((self.next_slot,))
            if response.choice == NONE:
                return False
            self.got(response)
        return True

    def complete(self) -> tuple[Any, Status]:
        """It has arrived, and the script is told so."""
        if not self._active:
            return None, Status()
        self._ended()
        if self._cancelled:
            status = Status()
            status.cancelled = True
            return None, status
        assert self._finish is not None
        for each in self._watched:
            each.check()
        here().learned()
        return self._finish(self._responses)

    def _ended(self) -> None:
        self._active = False
        here().requests = [each for each in here().requests if each is not self]

    # mpi4py's methods.

    def Wait(self, status: Status | None = None) -> bool:
        self.wait(status)
        return True

    def wait(self, status: Status | None = None) -> Any:
        calling("wait", self._waits_for, request=self._shown())
        blocking(self.arrive())
        return self._say(status)

    def Test(self, status: Status | None = None) -> bool:
        return self.test(status)[0]

    def test(self, status: Status | None = None) -> tuple[bool, Any]:
        calling("test", self._waits_for, request=self._shown())
        if not blocking(self.look()):
            return False, None
        return True, self._say(status)

    def _say(self, status: Status | None) -> Any:
        value, known = self.complete()
        fill(status, known)
        return value

    def _shown(self) -> str:
        return self._call.replace(" at ", ", ", 1) if self._active else "null"

    def Get_status(self, status: Status | None = None) -> bool:
        """Whether it is complete; it stays as it is."""
        calling("Get_status", self._waits_for)
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
        call = calling("Cancel")
        if not self._active:
            raise invalid(f"{call}: the request is not active")
        if len(self._slots) == 1 and blocking(cancel(self._slots[0])):
            self._slots.clear()
            self._cancelled = True

    cancel = Cancel
    get_status = Get_status

    def Free(self) -> None:
        """Let go of it; the communication goes on."""
        call = calling("Request.Free")
        if not self._active:
            raise invalid(f"{call}: the request is null")
        self._slots = []
        self._ended()

    @classmethod
    def Waitany(cls, requests: Sequence[Request], status: Status | None = None) -> int:
        return cls.waitany(requests, status)[0]

    @classmethod
    def waitany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, Any]:
        from presage.mpi import many

        return many.waitany(requests, status)

    @classmethod
    def Testany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        return cls.testany(requests, status)[:2]

    @classmethod
    def testany(
        cls, requests: Sequence[Request], status: Status | None = None
    ) -> tuple[int, bool, Any]:
        from presage.mpi import many

        return many.testany(requests, status)

    @classmethod
    def Waitall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        cls.waitall(requests, statuses)
        return True

    @classmethod
    def waitall(
        cls, requests: Sequence[Request], statuses: list[Status] | None = None
    ) -> list[Any]:
        from presage.mpi import many

        return many.waitall(requests, statuses)

    @classmethod
    def Testall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        return cls.testall(requests, statuses)[0]

    @classmethod
    def testall(
        cls, requests: Sequence[Request], statuses: list[Status] | None = None
    ) -> tuple[bool, list[Any] | None]:
        from presage.mpi import many

        return many.testall(requests, statuses)

    @classmethod
    def Waitsome(
        cls, requests: Sequence[Request], statuses: list[Status] | None = None
    ) -> list[int] | None:
        return cls.waitsome(requests, statuses)[0]

    @classmethod
    def waitsome(
        cls, requests: Sequence[Request], statuses: list[Status] | None = None
    ) -> tuple[list[int] | None, list[Any] | None]:
        from presage.mpi import many

        return many.waitsome(requests, statuses)

    @classmethod
    def Testsome(
        cls, requests: Sequence[Request], statuses: list[Status] | None = None
    ) -> list[int] | None:
        return cls.testsome(requests, statuses)[0]

    @classmethod
    def testsome(
        cls, requests: Sequence[Request], statuses: list[Status] | None = None
    ) -> tuple[list[int] | None, list[Any] | None]:
        from presage.mpi import many

        return many.testsome(requests, statuses)


REQUEST_NULL = Request()


def at_once(value: Any = None, status: Status = NULL_STATUS) -> Request:
    """A request with nothing to wait for, as for PROC_NULL."""
    call = calling("request")
    return Request.of((), lambda _: (value, status), call)
