"""`MPI.Session`: a way to MPI beside `COMM_WORLD`; it knows sets of ranks by name."""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.core.group import Group
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.numbered import Numbered, family
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.data.errhandlers import Handled
from presage.frontends.mpi.data.extras import attach_buffer, detach_buffer
from presage.frontends.mpi.data.info import Info
from presage.frontends.mpi.point.request import Request, at_once

SETS = ("mpi://WORLD", "mpi://SELF")


class SessionState:
    """A session, however many handles stand for it."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.finalized = False
        self.kept: dict[str, Any] = {}


@family
class Session(Numbered, Handled):
    """A session."""

    _state: SessionState | None

    def __new__(cls, session: Any = None) -> Any:
        """A handle that stands for the same."""
        made = object.__new__(cls)
        made._state = None
        if session is not None:
            made._become(cls._checked(session))
        return made

    def _identity(self) -> object | None:
        return None if self._state is None or self._state.finalized else self._state

    def _used(self, call: str) -> SessionState:
        if self._state is None or self._state.finalized:
            text = f"{call}: the session is SESSION_NULL, or was finalized before"
            raise invalid(text, "ERR_SESSION")
        return self._state

    def _kept(self) -> dict[str, Any]:
        return self._used("this call").kept

    @classmethod
    def Init(cls, info: Any = None, errhandler: Any = None) -> Any:
        """A new session."""
        enter_call("Session.Init")
        made = cls()
        made._state = SessionState(current_rank().keep("session"))
        if errhandler is not None:
            made.Set_errhandler(errhandler)
        return made

    def Finalize(self) -> None:
        """The end of the session."""
        state = self._used(enter_call("Session.Finalize"))
        state.finalized = True
        current_rank().drop(state.handle)

    def free(self) -> None:
        """Finalize it, if there is something to be finalized."""
        if self:
            self.Finalize()

    def Get_num_psets(self, info: Any = None) -> int:
        """How many sets of ranks it knows."""
        self._used("Get_num_psets")
        return len(SETS)

    def Get_nth_pset(self, n: int, info: Any = None) -> str:
        """The name of a set."""
        self._used("Get_nth_pset")
        if not 0 <= n < len(SETS):
            raise invalid(f"Get_nth_pset: there is no set {n}")
        return SETS[n]

    def _members(self, name: str, call: str) -> tuple[Any, ...]:
        self._used(call)
        if name not in SETS:
            raise invalid(f"{call}: there is no set `{name}`; there are {', '.join(SETS)}")
        rank = current_rank()
        return rank.world.ranks if name == SETS[0] else rank.own.ranks

    def Get_pset_info(self, pset_name: str) -> Any:
        """What is known of a set: how many ranks it has."""
        return Info.of_items({"mpi_size": str(len(self._members(pset_name, "Get_pset_info")))})

    def Create_group(self, pset_name: str) -> Any:
        """The ranks of a set."""
        return Group.of(self._members(pset_name, enter_call("Session.Create_group")))

    def Attach_buffer(self, buf: Any) -> None:
        """Buffered sends find room without it."""
        attach_buffer(buf, id(self._used("Attach_buffer")))

    def Detach_buffer(self) -> Any:
        """What was attached."""
        return detach_buffer(id(self._used("Detach_buffer")))

    def Flush_buffer(self) -> None:
        """What was sent has left the sender by then."""
        self._used("Flush_buffer")

    def Iflush_buffer(self) -> Request:
        """The same, to be waited for."""
        self._used("Iflush_buffer")
        return at_once()


SESSION_NULL: Session = Session()
