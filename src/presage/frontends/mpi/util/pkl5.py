"""`mpi4py.util.pkl5`: objects whose large buffers travel apart from their pickles.

An object is one message, and one more for each of its large buffers; what is large, the module's
`pickle` says. In collective calls, buffers go with their pickles.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NoReturn

from presage.frontends.mpi.collective.objects import KINDS
from presage.frontends.mpi.collective.transport import Plan
from presage.frontends.mpi.communicator import comm as plain
from presage.frontends.mpi.communicator import intercomm
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.core.status import ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT, Status, fill
from presage.frontends.mpi.data.extras import Pickle, unread_pickle
from presage.frontends.mpi.data.memory import Memory
from presage.frontends.mpi.data.predefined import TYPES
from presage.frontends.mpi.point import message, request
from presage.frontends.mpi.point.calls import Way

NAME = "mpi4py.util.pkl5"
COUNT_MAX = (1 << 63) - 1
BYTE = TYPES["BYTE"]
PLAIN: Any = plain.Comm  # whose calls these are made of


class BigMPI:
    """How many bytes one count may say; a longer buffer is one item of a type as long as it."""

    blocksize = COUNT_MAX


def _own() -> Any:
    """The module, as the running rank has it."""
    return sys.modules[NAME]


def _post(post: Callable[[Any], Any], buffer: Any) -> Any:
    """Post a buffer: as bytes, or as one item."""
    count = memoryview(buffer).nbytes
    if count <= _own()._bigmpi.blocksize:
        return post([buffer, count, BYTE])
    long = BYTE.Create_contiguous(count).Commit()
    try:
        return post([buffer, 1, long])
    finally:
        long.Free()


class Parts:
    """Several handles of MPI that stand for one object."""

    kind: type[Any]
    null: Any

    def __init__(self, given: Any = None) -> None:
        if given is None:
            given = (self.null,)
        self.parts: list[Any] = [given] if isinstance(given, self.kind) else list(given)

    def __iter__(self) -> Any:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __bool__(self) -> bool:
        return any(self.parts)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type(self)):
            return self.parts == other.parts
        if isinstance(other, self.kind):
            return all(each == other for each in self.parts)
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    __hash__ = None  # type: ignore[assignment]

    def free(self) -> None:
        """Let go of it."""
        for each in self.parts:
            each.free()


class Request(Parts):
    """An object that is under way."""

    kind, null = request.Request, request.REQUEST_NULL
    arriving: tuple[Status, bytes, list[Memory]] | None = None  # of a receive

    def Free(self) -> None:
        """Let go of it; the communication goes on."""
        for each in self.parts:
            each.Free()

    def cancel(self) -> None:
        """Withdraw it, if it is not matched yet."""
        for each in self.parts:
            each.Cancel()

    def get_status(self, status: Status | None = None) -> bool:
        """Whether it is complete; it stays as it is."""
        head, *rest = self.parts
        return bool(head.Get_status(status)) and all(each.Get_status() for each in rest)

    def test(self, status: Status | None = None) -> tuple[bool, Any]:
        """Whether it is complete, and the object if it was received."""
        found, objects = self.testall([self], None if status is None else [status])
        return found, objects[0] if found else None

    def wait(self, status: Status | None = None) -> Any:
        """Wait for it; gives the object if it was received."""
        return self.waitall([self], None if status is None else [status])[0]

    @classmethod
    def get_status_all(cls, requests: Sequence[Request], statuses: Any = None) -> bool:
        """Whether all are complete; they stay to be waited for."""
        known = [Status() for _ in requests]
        pairs = zip(requests, known, strict=True)
        if not all(each.get_status(status) for each, status in pairs):
            return False
        request.spread(statuses, known)
        return True

    @classmethod
    def testall(cls, requests: Sequence[Request], statuses: Any = None) -> tuple[bool, Any]:
        """Whether all are complete, and the objects of those received."""
        known: list[Status] = []
        if not request.Request.Testall([part for each in requests for part in each], known):
            return False, None
        return True, cls._completed(requests, statuses, known)

    @classmethod
    def waitall(cls, requests: Sequence[Request], statuses: Any = None) -> list[Any]:
        """Wait for all; gives the objects of those received."""
        known: list[Status] = []
        request.Request.Waitall([part for each in requests for part in each], known)
        return cls._completed(requests, statuses, known)

    @staticmethod
    def _completed(requests: Sequence[Request], statuses: Any, known: list[Status]) -> list[Any]:
        objects, firsts, at = [], [], 0
        for each in requests:
            firsts.append(known[at])
            at += len(each)
            arrived, each.arriving = each.arriving, None
            if arrived is not None:
                firsts[-1] = arrived[0]
            objects.append(None if arrived is None else _own().pickle.loads_oob(*arrived[1:]))
        request.spread(statuses, firsts)
        return objects


class Message(Parts):
    """An object that was matched and not received yet."""

    kind, null = message.Message, message.MESSAGE_NULL

    def recv(self, status: Status | None = None) -> Any:
        """The object."""
        return self.irecv().wait(status)

    def irecv(self) -> Request:
        """The same, to be waited for."""
        head, *rest = self.parts
        known = Status()
        is_none = head == message.MESSAGE_NO_PROC
        value = head.recv(known)
        if is_none or value is None:
            return Request(request.at_once())
        data, sizes = value
        buffers = [Memory.allocate(size) for size in sizes]
        pairs = zip(rest, buffers, strict=True)
        arriving = [request.at_once(), *(_post(part.Irecv, buffer) for part, buffer in pairs)]
        made = Request(arriving)
        made.arriving = _counted(known, data, sizes), data, buffers
        return made

    @classmethod
    def probe(
        cls, comm: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Any:
        """Wait for one."""
        return _matched(comm, PLAIN.mprobe, source, tag, status)

    @classmethod
    def iprobe(
        cls, comm: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Any:
        """One that is there, or None."""
        return _matched(comm, PLAIN.improbe, source, tag, status)


def _counted(status: Status, data: bytes, sizes: list[int]) -> Status:
    """A status that counts all bytes of an object."""
    status.Set_elements(BYTE, len(data) + sum(sizes))
    return status


def _matched(
    comm: Any, probe: Callable[..., Any], source: int, tag: int, status: Status | None
) -> Any:
    known = Status()
    head = probe(comm, source, tag, known)
    if head is None:
        return None
    parts = [head]
    if head != message.MESSAGE_NO_PROC:
        data, sizes = head.peek()
        parts += [PLAIN.mprobe(comm, known.source, known.tag) for _ in sizes]
        _counted(known, data, sizes)
    fill(status, known)
    return Message(parts)


class Comm(plain.Comm):
    """A communicator that sends objects so."""

    @calls("send", "bsend", "ssend", "isend", "ibsend", "issend")
    def _send_parts(self, obj: Any, dest: int, tag: int = 0, *, _name: str = "") -> Any:
        name = _name if _name[0] == "i" else f"i{_name}"
        post = getattr(PLAIN, name)
        if dest == PROC_NULL:
            made = Request(post(self, None, dest, tag))
        else:
            data, buffers = _own().pickle.dumps_oob(obj)
            head = data, [memoryview(each).nbytes for each in buffers]
            send = getattr(PLAIN, name.capitalize())
            made = Request([post(self, head, dest, tag)])
            for each in buffers:
                made.parts.append(_post(lambda given: send(self, given, dest, tag), each))
        return made if _name[0] == "i" else made.wait()

    def _received(self, source: int, tag: int, status: Status | None) -> Any:
        """The buffers of an object come from the same rank as its pickle."""
        known = Status()
        head = super()._received(source, tag, known)
        if head is None:
            fill(status, known)
            return None
        data, sizes = head
        buffers = [Memory.allocate(size) for size in sizes]
        for each in buffers:
            _post(lambda given: self.Recv(given, known.source, known.tag), each)
        value = _own().pickle.loads_oob(data, buffers)
        fill(status, _counted(known, data, sizes))
        return value

    def irecv(self, *_: Any, **__: Any) -> NoReturn:
        """How many messages an object is, is known only when the first has come."""
        raise RuntimeError("unsupported")

    def _swap(self, name: str, kind: Any, out: Way, into: Way, status: Status | None) -> Any:
        if name != "sendrecv":
            return super()._swap(name, kind, out, into, status)
        sent: Request = self.isend(*out)
        received = self.recv(*into, status)
        sent.wait()
        return received

    @calls("mprobe", "improbe")
    def _mprobe_parts(self, *given: Any, _name: str = "", **named: Any) -> Any:
        """An object, to be received by nobody else."""
        look = Message.probe if _name == "mprobe" else Message.iprobe
        return look(self, *given, **named)

    def _object(self, name: str, obj: Any, root: Any = None, op: Any = None) -> Plan:
        """In a collective call, an object goes with its buffers."""
        if op is not None:
            return super()._object(name, obj, root, op)
        bare = name.removeprefix("i")
        given = _each(_closed, obj) if KINDS[bare].in_parts else _closed(obj)
        plan = super()._object(name, given, root)
        opened = _opened if bare in ("bcast", "scatter") else _all_opened
        return plan._replace(done=lambda got: opened(plan.done(got)))


def _closed(obj: Any) -> tuple[bytes, list[bytes]]:
    data, buffers = _own().pickle.dumps_oob(obj)
    return data, [bytes(memoryview(each)) for each in buffers]


def _opened(packed: Any) -> Any:
    if packed is None:
        return None
    data, buffers = packed
    return _own().pickle.loads_oob(data, [Memory(bytearray(each)) for each in buffers])


def _all_opened(packed: Any) -> Any:
    return _each(_opened, packed)


def _each(call: Callable[[Any], Any], objects: Any) -> Any:
    return None if objects is None else [call(each) for each in objects]


class Intracomm(Comm, plain.Intracomm):
    """A communicator of one group that sends objects so."""


class Intercomm(Comm, intercomm.Intercomm):
    """A communicator of two groups that sends objects so."""


CLASSES = (Comm, Intracomm, Intercomm, Request, Message)
for _class in CLASSES:
    _class.__module__ = NAME


def names(mpi: ModuleType) -> dict[str, Any]:
    """What the module has."""
    numbers = {
        "ANY_SOURCE": ANY_SOURCE,
        "ANY_TAG": ANY_TAG,
        "PROC_NULL": PROC_NULL,
        "ROOT": ROOT,
    }
    kept = {"Status": Status, "Pickle": Pickle, "pickle": unread_pickle(), "_BigMPI": BigMPI}
    return {
        "__doc__": "Pickle-based communication using protocol 5.",
        **{each.__name__: each for each in CLASSES},
        **numbers,
        **kept,
    }


def own(shared: ModuleType) -> ModuleType:
    """The module as one rank has it: how it pickles is the rank's own."""
    made = ModuleType(NAME, shared.__doc__)
    made.__dict__.update(vars(shared), pickle=unread_pickle(), _bigmpi=BigMPI())
    return made
