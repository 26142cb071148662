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


class Ways:
    """How somebody's objects become bytes."""

    def __init__(self, dumps: Any, loads: Any, protocol: Any, threshold: Any) -> None:
        self.dumps = pickle.dumps if dumps is None else dumps
        self.loads = pickle.loads if loads is None else loads
        self.is_own = not (dumps is None and loads is None)  # of the script
        self.protocol = protocol
        if protocol is None and dumps is None:
            self.protocol = _said("PROTOCOL", pickle.HIGHEST_PROTOCOL)
        self.threshold = _said("THRESHOLD", THRESHOLD) if threshold is None else threshold


def _said(name: str, usual: int) -> int:
    """What the environment says."""
    return int(current_rank().variable(f"MPI4PY_PICKLE_{name}") or usual)


def ways() -> Ways:
    """Those of the running rank: `MPI.pickle` is one object for all, with settings of each."""
    notes = current_rank().own_notes
    if "pickle" not in notes:
        notes["pickle"] = Ways(None, None, None, None)
    found: Ways = notes["pickle"]
    return found


class Pickle:
    """`MPI.Pickle`: how objects become bytes."""

    _made: Ways | None = None

    def __init__(
        self, dumps: Any = None, loads: Any = None, protocol: Any = None, threshold: Any = None
    ) -> None:
        made = Ways(dumps, loads, protocol, threshold)
        if self is PICKLE:
            current_rank().own_notes["pickle"] = made
        else:
            self._made = made

    @property
    def _ways(self) -> Ways:
        if self is PICKLE:
            return ways()
        if self._made is None:
            self._made = Ways(None, None, None, None)
        return self._made

    @property
    def PROTOCOL(self) -> Any:
        """The protocol of pickle."""
        return self._ways.protocol

    @PROTOCOL.setter
    def PROTOCOL(self, value: Any) -> None:
        if value is None and self._ways.dumps is pickle.dumps:
            value = _said("PROTOCOL", pickle.HIGHEST_PROTOCOL)
        self._ways.protocol = value

    @property
    def THRESHOLD(self) -> int:
        """From how many bytes a buffer is kept apart."""
        return int(self._ways.threshold)

    @THRESHOLD.setter
    def THRESHOLD(self, value: Any) -> None:
        self._ways.threshold = _said("THRESHOLD", THRESHOLD) if value is None else value

    def dumps(self, obj: Any) -> bytes:
        """An object as bytes."""
        if self._ways.protocol is None:
            return self._ways.dumps(obj)
        return self._ways.dumps(obj, self._ways.protocol)

    def loads(self, data: Any) -> Any:
        """Bytes as an object."""
        return self._ways.loads(data)

    def dumps_oob(self, obj: Any) -> tuple[bytes, list[Memory]]:
        """An object as bytes, and its large buffers apart from them."""
        apart: list[Memory] = []

        def keep(buffer: Any) -> bool:
            view = memoryview(buffer)
            if view.nbytes < self._ways.threshold or not view.contiguous:
                return True
            apart.append(Memory(buffer.raw()))
            return False

        protocol = 5 if self._ways.protocol is None else max(5, self._ways.protocol)
        return self._ways.dumps(obj, protocol, buffer_callback=keep), apart

    def loads_oob(self, data: Any, buffers: Any) -> Any:
        """The reverse."""
        return self._ways.loads(data, buffers=buffers)


def unread_pickle() -> Pickle:
    """One that a module has: its settings are read when a rank first uses it."""
    return object.__new__(Pickle)


PICKLE = unread_pickle()  # `MPI.pickle`


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
