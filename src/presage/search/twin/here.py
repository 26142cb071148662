"""In place of a second process: the same process, with every set iterated backwards.

A script or test that calls `check` has no name from which another process could load the system.
The hash seed is then that of the script, and stays so. A set that a handler makes itself is still
met in two orders: each step runs once more with all sets backwards.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from presage import _core as core
from presage.execution.sandbox import Sandbox
from presage.model.world.system import System
from presage.search.twin import backwards
from presage.search.twin.compare import Failed
from presage.search.twin.rerun import Build, rerun
from presage.search.twin.wire import Request

WAYS = (core.backwards,)  # the search itself has run a share of all steps twice as they are


class Here:
    """Answers a request when it is asked to."""

    def __init__(self, system: System, build: Build, request: bytes) -> None:
        self._system = system
        self._build = build
        self._request = msgspec.msgpack.decode(request, type=Request)

    def answer(self, seconds: float, goes_on: Callable[[], bool]) -> bytes:
        """What differs, in the time that the request gives to it."""
        request = self._request
        turns = backwards.allow()
        try:
            if not turns:
                raise Failed("this interpreter iterates sets in one way only")
            with Sandbox(request.handler_seconds) as sandbox:
                answer = rerun(self._system, request, self._build, sandbox, goes_on, ways=WAYS)
        finally:
            backwards.forbid()
        return msgspec.msgpack.encode(answer)

    def end(self) -> None:
        """Nothing is left to be ended."""


def starter(system: System, build: Build) -> Callable[[bytes], Here]:
    """What answers requests about `system` in this process."""
    return lambda request: Here(system, build, request)
