"""`Waitany` in a loop that drains its requests: which one was first is decided when somebody asks.

Between two calls of `Waitany` on the same requests, with no other call of MPI, nothing that the
rank does is seen by others. So it does not matter when each of them returned: only the last one,
which returns when all are complete, has to wait. And any order is possible, as all may have been
complete before the first call. So a call gives an index that is not decided yet. If all requests
are complete before anybody asks for it, and nobody ever asks, there was nothing to choose.

Whatever could tell the order, or could tell that a call has returned too early, decides first: a
look at an index or at a request, any other call of MPI, and the end of the script, by an exception
too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from presage.frontends.mpi.core.rank import current_rank
from presage.frontends.mpi.point import guesses
from presage.frontends.mpi.point.request_state import RequestState
from presage.process.context import asked, blocking
from presage.process.ops import Choose


class Index:
    """What `Waitany` gives: an int, as soon as anybody looks at it."""

    __class__ = int  # type: ignore[assignment]

    def __init__(self, drain: Drain) -> None:
        self._drain = drain
        self._value: int | None = None

    def __index__(self) -> int:
        if self._value is None:
            self._drain.decide(self)
        assert self._value is not None
        return self._value

    def decided(self, value: int) -> None:
        self._value = value

    @property
    def is_decided(self) -> bool:
        return self._value is not None

    __int__ = __trunc__ = __floor__ = __ceil__ = __pos__ = __index__

    def __eq__(self, other: object) -> bool:
        plain = type(other) is int and not 0 <= other < self._drain.size
        return not plain and int(self) == other  # such as `MPI.UNDEFINED`: that it never is

    def __hash__(self) -> int:
        return hash(int(self))

    def __bool__(self) -> bool:
        return int(self) != 0

    def __repr__(self) -> str:
        return repr(int(self))

    def __format__(self, form: str) -> str:
        return format(int(self), form)

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (int(self),)

    def __getattr__(self, name: str) -> Any:
        return getattr(int(self), name)


def _delegated(name: str) -> Callable[..., Any]:
    def call(self: Index, *args: Any) -> Any:
        return getattr(int(self), name)(
            *(operator.index(a) if type(a) is Index else a for a in args)
        )

    call.__name__ = name
    return call


for _name in (
    *("__lt__", "__le__", "__gt__", "__ge__", "__neg__", "__abs__", "__invert__", "__float__"),
    *(f"__{side}{name}__" for side in ("", "r") for name in (
        "add", "sub", "mul", "floordiv", "truediv", "mod", "divmod", "pow", "and", "or", "xor",
        "lshift", "rshift",
    )),
):  # fmt: skip
    setattr(Index, _name, _delegated(_name))


class Drain:
    """Calls of `Waitany` on the same requests, one right after the other."""

    def __init__(self, requests: Sequence[RequestState], note: Callable[[], None]) -> None:
        self._requests = list(requests)
        self._note = note  # says which call the rank is in
        self._indices: list[Index] = []
        self._order: list[int] = []  # requests that are complete, and not given out by an index
        self.size = len(self._requests)

    def is_of(self, requests: Sequence[RequestState]) -> bool:
        same = zip(self._requests, requests, strict=False)
        return len(requests) == self.size and all(one is other for one, other in same)

    @property
    def is_last(self) -> bool:
        """Whether the next call is the one for which all requests have to be complete."""
        active = sum(1 for each in self._requests if each.is_active)
        return active - len(self._indices) == 1

    def more(self) -> Index:
        """One more call, which need not wait."""
        index = Index(self)
        self._indices.append(index)
        return index

    def finish(self) -> Index:
        """The last call: all that are active are complete then."""
        index = self.more()
        _left()
        self._note()
        for at, request in enumerate(self._requests):
            if request.is_active:
                blocking(request.arrive())
                request.complete()
                self._order.append(at)
        return index

    def settle(self) -> None:
        """Wait for as many as there were calls, and decide which."""
        _left()
        self._note()
        for index in self._indices:
            at = blocking(guesses.first(self._requests))
            self._requests[at].complete()
            if not index.is_decided:
                index.decided(at)

    def decide(self, index: Index) -> None:
        """Somebody looks at an index."""
        if current_rank().drain is self:
            self.settle()
        if not index.is_decided:  # all are complete: any of those left may have been this one
            at = 0 if len(self._order) == 1 else asked(Choose(len(self._order))).choice
            index.decided(self._order.pop(at))


def _left() -> None:
    current_rank().drain = None
