"""`MPI.Grequest`: a request for something that the script does itself.

It waits for a message that the rank sends to itself when the script says that it is done.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

from presage.frontends.mpi.core.error_codes import CODES
from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.core.status import Status
from presage.frontends.mpi.point.request import Request
from presage.process.context import blocking, exchange, post
from presage.process.ops import Recv, Response, Send

Function = Callable[..., None] | None


class Calls:
    """The functions of the script, and what they are called with."""

    def __init__(self, query: Function, free: Function, cancel: Function, given: Any) -> None:
        self._query, self._free, self._cancel = query, free, cancel
        self._args, self._kwargs = given
        self.is_done = False
        self.result: Any = None

    def _call(self, function: Function, *first: Any) -> None:
        if function is None:
            return
        try:
            function(*first, *self._args, **self._kwargs)
        except MPIException:
            traceback.print_exc(file=sys.stderr)
            raise
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            text = f"a function of a generalized request: {error}"
            raise MPIException("mpi-error", text, CODES["ERR_OTHER"]) from error

    def finish(self, _: list[Response]) -> tuple[Any, Status]:
        """It is complete: ask for the status, and let go of what the script keeps."""
        status = Status()
        try:
            self._call(self._query, status)
        finally:
            self._call(self._free)
        return self.result, status

    def cancel(self) -> None:
        self._call(self._cancel, self.is_done)


class Grequest(Request):
    """A request that the script completes."""

    _calls: Calls | None = None
    _box = ""

    @classmethod
    def _checked(cls, given: Any) -> Any:
        checked = super()._checked(given)
        if checked and not isinstance(checked, Grequest):
            raise TypeError("expecting a Grequest instance")
        return checked

    @classmethod
    def Start(
        cls,
        query_fn: Function = None,
        free_fn: Function = None,
        cancel_fn: Function = None,
        args: Any = None,
        kwargs: Any = None,
    ) -> Any:
        """A new one; `query_fn` gets a status, `cancel_fn` whether it is complete."""
        text = enter_call("Grequest.Start")
        rank = current_rank()
        number = rank.own_notes["generalized"] = rank.own_notes.get("generalized", 0) + 1
        box = f"generalized {rank.number}.{number}"
        calls = Calls(query_fn, free_fn, cancel_fn, (args or (), kwargs or {}))
        made = cls.of((blocking(post(Recv(box))),), calls.finish, text)
        made._calls, made._box = calls, box
        return made

    def Complete(self) -> None:
        """The script is done with it."""
        self.complete_with(None)

    def complete(self, *obj: Any) -> Any:
        """With an object, the script is done with it; without one, MPI is, once it has arrived."""
        if not obj and self._calls is not None and (self._calls.is_done or not self.is_active):
            return super().complete()
        self.complete_with(obj[0] if obj else None)
        return None

    def complete_with(self, obj: Any) -> None:
        call = enter_call("Grequest.Complete")
        if self._calls is None or self._calls.is_done:
            raise invalid(f"{call}: it is null, or was completed before", "ERR_REQUEST")
        self._calls.is_done, self._calls.result = True, obj
        blocking(exchange(Send(self._box, ("object", None), buffered=True)))

    def Cancel(self) -> None:
        """Ask the script to cancel it."""
        call = enter_call("Grequest.Cancel")
        if self._calls is None:
            raise invalid(f"{call}: it is null", "ERR_REQUEST")
        self._calls.cancel()

    cancel = Cancel
