"""Failed ranks: no rank fails here, so these calls say what MPI says where none has failed.

`Revoke`, which interrupts what others wait for, is not there.
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Any, NoReturn

from presage.frontends.mpi.collective.transport import Plan, made
from presage.frontends.mpi.communicator.making import Made
from presage.frontends.mpi.core.group import Group
from presage.frontends.mpi.core.mistakes import unsupported, wrong_value
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.data.buffers import buffer
from presage.frontends.mpi.data.hazards import use
from presage.frontends.mpi.point.request import Request, at_once

INT_BYTES = 4


class Failures(Made):
    """Get_failed, Agree, Shrink and their relatives."""

    def Split(self, color: int = 0, key: int = 0) -> Any:
        """See `Comm`."""
        raise NotImplementedError

    def Revoke(self) -> NoReturn:
        """Not there: nothing interrupts a call."""
        raise unsupported(f"{enter_call('Revoke')}: presage's ranks do not fail")

    def Is_revoked(self) -> bool:
        """Never."""
        self._core(enter_call("Is_revoked"))
        return False

    def Get_failed(self) -> Any:
        """The ranks that have failed: none."""
        self._core(enter_call("Get_failed"))
        return Group.of(())

    def Ack_failed(self, num_to_ack: int | None = None) -> int:
        """How many failed ranks are known."""
        self._core(enter_call("Ack_failed"))
        return 0

    def Agree(self, flag: int = 0) -> int:
        """The bits that all ranks give, of both groups where there are two."""
        return _common(self._agreed("Agree", int(flag))[2], 0)

    def Iagree(self, flag: Any) -> Request:
        """The same with a buffer of one int, to be waited for."""
        core, call, text, _ = self._begin("Iagree")
        given = buffer(flag, text)
        if len(given.view) != INT_BYTES:
            raise wrong_value(f"{text}: a buffer of {len(given.view)} bytes, not of one int")
        mine = int.from_bytes(given.view, "little", signed=True)

        def done(bits: int) -> None:
            given.view[:] = bits.to_bytes(INT_BYTES, "little", signed=True)

        watched = use(given, text, writes=True)
        others = tuple(rank for rank in range(core.size) if rank != core.rank)
        plan = Plan(core, call, text, mine, _common, done, watched, others)
        request: Request = made(plan)
        return request

    def Shrink(self) -> Any:
        """A communicator of the ranks that have not failed: of all."""
        return self.Split(0, self._core("Shrink").rank)

    def Ishrink(self) -> tuple[Any, Request]:
        """Made at once; the request has nothing to wait for."""
        return self.Shrink(), at_once()


def _common(contributions: list[Any], rank: int) -> int:
    return int(reduce(and_, contributions))
