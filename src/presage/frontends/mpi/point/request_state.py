"""A communication that is under way: its posts, and whether they have arrived.

A request holds the slots of its posts. It has *arrived* once each of them was returned by a wait
or a test; it is complete for the script when a call says so. The two differ where a call on many
requests finds some of them ready, and says nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from presage.frontends.mpi.core.comm_state import RankId
from presage.frontends.mpi.core.numbered import Numbered, family
from presage.frontends.mpi.core.rank import current_rank
from presage.frontends.mpi.core.status import Status
from presage.frontends.mpi.data.hazards import Watched
from presage.process.context import Asking, is_running, test_any, wait_any
from presage.process.ops import NONE, Poll, Response

# Given the responses to its posts: what the request gives, and what is known of it.
Finish = Callable[[list[Response]], tuple[Any, Status]]


def _settle() -> None:
    """Somebody looks at a request: which of several is complete has to be decided now."""
    if is_running() and (rank := current_rank()).drain is not None:
        rank.drain.settle()


@family
class RequestState(Numbered):
    """A communication that is under way, without the calls of scripts."""

    def __new__(cls, request: Any = None, *args: Any, **kwargs: Any) -> Any:
        """A handle that stands for the same."""
        made = object.__new__(cls)
        made._begin()
        if request is not None:
            made._become(cls._checked(request))
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """All is done by then."""

    def _begin(self) -> None:
        """Nothing is under way."""
        self._slots: list[int] = []
        self._responses: list[Response] = []
        self._finish: Finish | None = None
        self.call = ""
        self.waits_for: tuple[RankId, ...] = ()
        self._watched: tuple[Watched, ...] = ()
        self._cancelled = False
        self.is_active = False
        self._again: Callable[[], Any] | None = None  # of a persistent one: posts once more
        self.is_freed = False

    @classmethod
    def of(
        cls,
        slots: Sequence[int],
        finish: Finish,
        call: str,
        waits_for: Sequence[RankId] = (),
        watched: tuple[Watched, ...] = (),
    ) -> Self:
        request = cls()
        request._slots, request._finish, request.call = list(slots), finish, call
        request.waits_for, request._watched, request.is_active = tuple(waits_for), watched, True
        current_rank().requests.append(request)
        return request

    def __bool__(self) -> bool:
        _settle()
        return self.is_active or self._lasting() is not None

    def _lasting(self) -> object | None:
        """Of a request that outlives a communication: what makes the next."""
        return None if self.is_freed else self._again

    def _identity(self) -> object | None:
        """The finishing function is made for each communication, and shared by copies."""
        return (self._lasting() or self._finish or self) if self else None

    # What the calls below are made of.

    @property
    def has_arrived(self) -> bool:
        return self.is_active and not self._slots

    @property
    def watched(self) -> tuple[Watched, ...]:
        return self._watched if self.is_active else ()

    def joined(self, other: RequestState) -> Self:
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

    def got(self, response: Response) -> None:
        self._slots.pop(0)
        self._responses.append(response)

    @property
    def is_open(self) -> bool:
        return self.is_active and bool(self._slots)

    @property
    def open_slots(self) -> tuple[int, ...]:
        return tuple(self._slots)

    def arrive(
        self, rivals: tuple[tuple[int, ...], ...] | None = None, *, polled: bool = False
    ) -> Asking[None]:
        """Wait until every post is complete; `rivals` and `polled` as for `WaitAny`."""
        while self._slots:
            slot = (self.next_slot,)
            self.got((yield from wait_any(slot, rivals=rivals, polled=polled)))

    def look(self) -> Asking[bool]:
        """Whether every post is complete now."""
        if self._slots and not current_rank().delivery.ordered:
            if (yield Poll(1)).choice == NONE:
                return False
            yield from self.arrive(polled=True)
        while self._slots:
            response = yield from test_any((self.next_slot,))
            if response.choice == NONE:
                return False
            self.got(response)
        return True

    def complete(self) -> tuple[Any, Status]:
        """It has arrived, and the script is told so."""
        if not self.is_active:
            return None, Status()
        self._ended()
        if self._cancelled:
            status = Status()
            status.cancelled = True
            return None, status
        assert self._finish is not None
        for each in self._watched:
            each.check()
        current_rank().learned()
        return self._finish(self._responses)

    def _ended(self) -> None:
        self.is_active = False
        forget(self)


def forget(request: RequestState) -> None:
    """The rank need not wait for it any more, nor for that of which it is a copy."""
    rank = current_rank()
    whole = request._again or request._finish
    rank.requests = [
        each
        for each in rank.requests
        if each is not request and (whole is None or (each._again or each._finish) is not whole)
    ]
