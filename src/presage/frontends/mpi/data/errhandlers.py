"""`MPI.Errhandler`: what is called where a call on a communicator, window or file goes wrong.

An error of MPI is an exception here, whichever handler is set, as it is in mpi4py. A handler of the
script is called by `Call_errhandler`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.frontends.mpi.core.mistakes import Aborted, invalid, wrong_type
from presage.frontends.mpi.core.numbered import StateHandle, family
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.data.info import Info

HANDLERS_MAX = 32  # of one kind, at a time, as in mpi4py


class HandlerState:
    """A handler, however many handles stand for it."""

    def __init__(
        self, name: str, function: Callable[..., Any] | None = None, kind: str = ""
    ) -> None:
        self.name = name
        self.function = function
        self.kind = kind  # of what it is for


@family
class Errhandler(StateHandle):
    """An error handler."""

    _state: HandlerState | None

    def __new__(cls, errhandler: Any = None) -> Any:
        return cls._copied(errhandler)

    @classmethod
    def named(cls, name: str) -> Any:
        return cls._of(HandlerState(name))

    def Free(self) -> None:
        """Let go of the handle; where the handler is set, it stays."""
        if self._state is None:
            raise invalid(f"{enter_call('Errhandler.Free')}: it is null", "ERR_ERRHANDLER")
        made = current_rank().own_notes.get("handlers made", [])
        if any(state is self._state for state in made):
            made[:] = [state for state in made if state is not self._state]
        self._state = None


ERRHANDLER_NULL = Errhandler()
ERRORS_RETURN = Errhandler.named("return")
ERRORS_ABORT = Errhandler.named("abort")
ERRORS_ARE_FATAL = Errhandler.named("fatal")
BY_POLICY: dict[str, HandlerState] = {
    "exception": ERRORS_RETURN._state,
    "abort": ERRORS_ABORT._state,
    "fatal": ERRORS_ARE_FATAL._state,
}


class Handled:
    """Error handlers and hints of communicators, windows, files and sessions."""

    def _kept(self) -> dict[Any, Any]:
        """Where they are kept."""
        raise NotImplementedError

    @classmethod
    def Create_errhandler(cls, errhandler_fn: Callable[..., Any]) -> Errhandler:
        """A handler that calls a function with the handle and the code of the error."""
        kind = cls.family.__name__  # type: ignore[attr-defined]
        if not callable(errhandler_fn):
            raise wrong_type(f"Create_errhandler: {errhandler_fn!r} is no function")
        made = current_rank().own_notes.setdefault("handlers made", [])
        if sum(state.kind == kind for state in made) >= HANDLERS_MAX:
            raise RuntimeError("cannot create too many user-defined error handlers")
        handler: Errhandler = Errhandler()
        handler._state = HandlerState("script", errhandler_fn, kind)
        made.append(handler._state)
        return handler

    def Set_errhandler(self, errhandler: Errhandler) -> None:
        """What `Call_errhandler` calls."""
        if not errhandler:
            raise invalid("Set_errhandler: it is ERRHANDLER_NULL", "ERR_ERRHANDLER")
        self._kept()["errhandler"] = errhandler._state

    def Get_errhandler(self) -> Errhandler:
        """The handler that is set."""
        handler: Errhandler = Errhandler()
        handler._state = self._handler()
        return handler

    def _handler(self) -> HandlerState:
        """The one that is set, or what `mpi4py.rc.errors` says."""
        state: HandlerState | None = self._kept().get("errhandler")
        if state is not None:
            return state
        policy = current_rank().option("errors")
        is_file = type(self).family.__name__ == "File"  # type: ignore[attr-defined]
        if policy == "default":
            policy = "exception" if is_file else "fatal"
        return BY_POLICY[policy]

    def Call_errhandler(self, errorcode: int) -> None:
        """Have an error handled."""
        state = self._handler()
        if state.function is not None:
            state.function(self, errorcode)
        elif state.name != "return" and errorcode:
            raise Aborted(f"Call_errhandler({errorcode}): errors are fatal", errorcode)

    def Get_info(self) -> Any:
        """The hints that were given."""
        return Info.of_items(self._kept().get("info", {}))

    def Set_info(self, info: Any) -> None:
        """Take hints, and do nothing with them."""
        self._kept().setdefault("info", {}).update(info.hints)

    info = property(Get_info, Set_info)
