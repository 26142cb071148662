"""Buffers in use: what a script must not touch while a communication is under way.

The buffer of a pending send may be read, that of a pending receive not even that. A change is seen
when the communication is complete; a second communication on the same memory, when it is posted.
"""

from __future__ import annotations

from presage.frontends.mpi.core.mistakes import MPIException
from presage.frontends.mpi.core.rank import current_rank
from presage.frontends.mpi.data.buffers import Buffer


class Watched:
    """A buffer of a pending communication."""

    def __init__(self, buffer: Buffer, call: str, writes: bool) -> None:
        self._buffer = buffer
        self.call = call
        self._writes = writes
        self._before = buffer.content
        self._address = buffer.address()
        _refuse_overlap(self)

    def check(self) -> None:
        """Complain if the script has changed the buffer."""
        if self._buffer.content != self._before:
            raise MPIException(
                "local-concurrency",
                f"the buffer of {self.call} was changed before the request was complete",
            )

    def overlaps(self, other: Watched) -> bool:
        if self._address is None or other._address is None or not self._writes | other._writes:
            return False
        return self._address[0] < other._address[1] and other._address[0] < self._address[1]


def _refuse_overlap(new: Watched) -> None:
    for holder in (*current_rank().requests, *current_rank().windows):
        for old in holder.watched:
            if new.overlaps(old):
                raise MPIException(
                    "local-concurrency",
                    f"{new.call} uses the buffer of {old.call}, which is not complete",
                )


def use(buffer: Buffer, call: str, writes: bool) -> tuple[Watched, ...]:
    """Note that a call uses a buffer; refuse it if one that is pending does, too."""
    if not buffer.count or current_rank().launcher.is_plain:
        return ()
    return (Watched(buffer, call, writes),)
