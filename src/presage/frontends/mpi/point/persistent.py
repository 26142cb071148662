"""`MPI.Prequest`: a communication that is set up once and started many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.point.request import Request


class Prequest(Request):
    """Inactive, until it is started; inactive again, once it is complete."""

    def __init__(self, request: Request | None = None) -> None:
        super().__init__(request)
        self._again: Callable[[], Request] | None = None
        self.started = False
        self.is_freed = False

    @classmethod
    def set_up(cls, call: str, again: Callable[[], Request]) -> Prequest:
        """`again` posts, and gives the request of what it posted."""
        made = cls()
        made._again, made.call = again, call
        current_rank().requests.append(made)
        return made

    def __bool__(self) -> bool:
        return self._again is not None and not self.is_freed

    def Start(self) -> None:
        """Begin the communication; its buffer is in use until it is complete."""
        call = enter_call("Start", request=self.call.replace(" at ", ", ", 1))
        if self.is_freed or self._again is None:
            raise invalid(f"{call}: the request was freed before")
        if self.is_active:
            raise MPIException(
                "missing-wait", f"{call}: it was started before, and nobody waited for it since"
            )
        begun = self._again()
        current_rank().requests.remove(begun)
        self.__dict__.update(begun.__dict__ | {"call": self.call})
        self.started = True

    def _ended(self) -> None:
        self.is_active = False

    def Free(self) -> None:
        call = enter_call("Prequest.Free")
        if self.is_freed:
            raise invalid(f"{call}: the request was freed before")
        if self.is_active:
            raise MPIException("missing-wait", f"{call}: nobody waited for {self.call}")
        self.is_freed = True
        current_rank().requests = [each for each in current_rank().requests if each is not self]

    @classmethod
    def Startall(cls, requests: Sequence[Prequest]) -> None:
        for request in requests:
            request.Start()
