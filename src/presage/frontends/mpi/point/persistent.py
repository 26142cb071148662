"""`MPI.Prequest`: a communication that is set up once and started many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.point.request import Request
from presage.frontends.mpi.point.request_state import forget


class Prequest(Request):
    """Inactive, until it is started; inactive again, once it is complete."""

    def _begin(self) -> None:
        super()._begin()
        self._again = None
        self.started = False
        self.is_freed = False

    @classmethod
    def _checked(cls, given: Any) -> Any:
        checked = super()._checked(given)
        if checked and not isinstance(checked, Prequest):
            raise TypeError("expecting a Prequest instance")
        return checked

    @classmethod
    def set_up(cls, call: str, again: Callable[[], Request]) -> Prequest:
        """`again` posts, and gives the request of what it posted."""
        made = cls()
        made._again, made.call = again, call
        current_rank().requests.append(made)
        return made

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
        forget(begun)
        kept = {"call": self.call, "_again": self._again, "is_freed": False}
        self.__dict__.update(begun.__dict__ | kept)
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
        forget(self)

    def _no_parts(self, name: str) -> NoReturn:
        raise invalid(f"{enter_call(name)}: this request has no partitions", "ERR_REQUEST")

    def Pready(self, partition: int) -> None:
        """Not for this request: it has no parts."""
        self._no_parts("Pready")

    def Pready_range(self, partition_low: int, partition_high: int) -> None:
        """Not for this request."""
        self._no_parts("Pready_range")

    def Pready_list(self, partitions: Sequence[int]) -> None:
        """Not for this request."""
        self._no_parts("Pready_list")

    def Parrived(self, partition: int) -> bool:
        """Not for this request."""
        self._no_parts("Parrived")

    @classmethod
    def Startall(cls, requests: Sequence[Prequest]) -> None:
        for request in requests:
            request.Start()
