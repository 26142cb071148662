"""Names of mpi4py that scripts meet now and then: pickling, room for buffered sends, addresses."""

from __future__ import annotations

import pickle
from typing import Any

from presage.frontends.mpi.core.mistakes import WrongBuffer
from presage.frontends.mpi.core.rank import current_rank
from presage.frontends.mpi.data.memory import Memory
from presage.frontends.mpi.data.named_constants import BUFFER_AUTOMATIC, Place
from presage.frontends.mpi.data.raw import address_of, memory_of

THRESHOLD = 1024 * 256  # bytes from which a buffer is kept apart from its pickle


class Pickle:
    """`MPI.Pickle`: how objects become bytes."""

    def __init__(
        self, dumps: Any = None, loads: Any = None, protocol: Any = None, threshold: Any = None
    ) -> None:
        self._dumps = pickle.dumps if dumps is None else dumps
        self._loads = pickle.loads if loads is None else loads
        self._own = dumps is not None
        if protocol is None and dumps is None:
            protocol = pickle.HIGHEST_PROTOCOL
        self._protocol = protocol
        self._threshold = THRESHOLD if threshold is None else threshold

    @property
    def PROTOCOL(self) -> Any:
        """The protocol of pickle."""
        return self._protocol

    @PROTOCOL.setter
    def PROTOCOL(self, value: Any) -> None:
        if value is None and not self._own:
            value = pickle.HIGHEST_PROTOCOL
        self._protocol = value

    @property
    def THRESHOLD(self) -> int:
        """From how many bytes a buffer is kept apart."""
        return int(self._threshold)

    @THRESHOLD.setter
    def THRESHOLD(self, value: Any) -> None:
        self._threshold = THRESHOLD if value is None else value

    def dumps(self, obj: Any) -> bytes:
        """An object as bytes."""
        if self._protocol is None:
            return self._dumps(obj)
        return self._dumps(obj, self._protocol)

    def loads(self, data: Any) -> Any:
        """Bytes as an object."""
        return self._loads(data)

    def dumps_oob(self, obj: Any) -> tuple[bytes, list[Memory]]:
        """An object as bytes, and its large buffers apart from them."""
        apart: list[Memory] = []

        def keep(buffer: Any) -> bool:
            view = memoryview(buffer)
            if view.nbytes < self._threshold or not view.contiguous:
                return True
            apart.append(Memory(buffer.raw()))
            return False

        protocol = 5 if self._protocol is None else max(5, self._protocol)
        return self._dumps(obj, protocol, buffer_callback=keep), apart

    def loads_oob(self, data: Any, buffers: Any) -> Any:
        """The reverse."""
        return self._loads(data, buffers=buffers)


def _attached(of: Any) -> list[Any]:
    """What was attached to a communicator, or to all (None), by this rank."""
    found: list[Any] = current_rank().own_notes.setdefault(("attached", of), [])
    return found


def attach_buffer(buf: Any, of: Any = None) -> None:
    """`MPI.Attach_buffer`: buffered sends find room without it."""
    if buf is None or isinstance(buf, Place):
        _attached(of).append(BUFFER_AUTOMATIC)
        return
    view = memory_of(buf, "Attach_buffer")[0]
    if view.readonly:
        raise WrongBuffer("invalid-argument", "Attach_buffer: the buffer can only be read")
    _attached(of).append(buf if isinstance(buf, Memory) else Memory(buf))


def detach_buffer(of: Any = None) -> Any:
    """`MPI.Detach_buffer`: what was attached."""
    found = _attached(of)
    return found.pop() if found else None


def flush_buffer(of: Any = None) -> None:
    """`MPI.Flush_buffer`: what was sent has left the sender by then."""


def get_address(location: Any) -> int:
    """`MPI.Get_address`."""
    if location is None or isinstance(location, Place):
        return 0 if location is None else int(location)
    return address_of(memory_of(location, "Get_address")[0])


def to_signed(number: int) -> int:
    """As an address wraps around."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
