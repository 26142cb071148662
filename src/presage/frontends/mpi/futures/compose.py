"""Futures made of other futures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from presage.frontends.mpi.futures.future import Future


def _pools(futures: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for each in futures:
        found += [pool for pool in getattr(each, "pools", ()) if pool not in found]
    return found


class _Made(Future):
    """It has no task of its own: cancelled, it cancels those that it is made of."""

    def __init__(self, parts: list[Any]) -> None:
        super().__init__(*_pools(parts))
        self._parts = parts

    def cancel(self) -> bool:
        """Cancel it, and what it is made of."""
        if self.done():
            return self.cancelled()
        self.give_up()
        for each in self._parts:
            each.cancel()
        return True

    def give_up(self) -> None:
        """It will have no result."""
        pools, self.pools = self.pools, ()
        super().cancel()
        self.pools = pools
        self.set_running_or_notify_cancel()


def collect(fs: Iterable[Any]) -> Any:
    """A future of the list of all results."""
    parts = list(fs)
    made = _Made(parts)
    left = set(parts)

    def arrived(part: Any) -> None:
        left.discard(part)
        if made.done():
            return
        if part.cancelled():
            made.cancel()
        elif part.exception() is not None:
            made.set_exception(part.exception())
            for each in left:
                each.cancel()
        elif not left:
            made.set_result([each.result() for each in parts])

    for each in set(parts):
        each.add_done_callback(arrived)
    if not parts:
        made.set_result([])
    return made


def compose(
    future: Any,
    resulthook: Callable[[Any], Any] | None = None,
    excepthook: Callable[[BaseException], Any] | None = None,
) -> Any:
    """A future of what the hooks make of a result, or of an exception."""
    made = _Made([future])

    def arrived(part: Any) -> None:
        if made.done():
            return
        if part.cancelled():
            made.give_up()
            return
        try:
            error = part.exception()
            if error is None:
                made.set_result(resulthook(part.result()) if resulthook else part.result())
                return
            result = excepthook(error) if excepthook else error
        except (Exception, SystemExit, KeyboardInterrupt) as raised:
            result = raised
        if isinstance(result, BaseException):
            made.set_exception(result)
        else:
            made.set_result(result)

    future.add_done_callback(arrived)
    return made
