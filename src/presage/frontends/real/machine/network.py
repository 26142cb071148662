"""The functions of `socket`, `select` and `selectors` that a simulated process is answered.

They are leaves of the one table (`presage.process.leaves`): outside of a simulated process each is
the original. `socket.socket` stays the class it is; only its `__new__` asks who runs.
"""

from __future__ import annotations

import errno
import select
import selectors
import socket
from collections.abc import Callable
from functools import wraps
from typing import Any

from presage.frontends.real.machine import assigned, names, polling
from presage.frontends.real.machine.arguments import small
from presage.frontends.real.machine.descriptors import failure
from presage.frontends.real.machine.originals import AsOriginal
from presage.frontends.real.machine.pairs import UnixEnd, join
from presage.frontends.real.machine.process import Part
from presage.frontends.real.machine.shared import ClassStandIn
from presage.frontends.real.machine.sockets import FLAG_BITS, Real, Simulated
from presage.frontends.real.machine.stack import Stack, here
from presage.process.leaves import Leaf, extend

_derived: dict[type, type] = {}


def simulated_class(kind: type) -> type:
    """`kind`, which derives from `socket.socket`, with the simulated one behind it."""
    if kind is Real or kind is Simulated:
        return Simulated
    if Simulated in kind.__mro__:
        return kind
    made = _derived.get(kind)
    if made is None:
        bases = (kind, Simulated)
        made = AsOriginal(kind.__name__, bases, {"__module__": kind.__module__})
        _derived[kind] = made
    return made


def pair(
    family: int | None = None, type: int = socket.SOCK_STREAM, proto: int = 0
) -> tuple[socket.socket, socket.socket]:
    """`socket.socketpair`."""
    if family not in (None, socket.AF_UNIX):
        raise failure(errno.EOPNOTSUPP)
    stack, kind = here(), int(type) & ~FLAG_BITS
    ends = UnixEnd(kind, stack.names), UnixEnd(kind, stack.names)
    join(*ends)
    one, other = (Real(fileno=stack.descriptors.add(end)) for end in ends)
    return one, other


def _make(kind: type, *_: Any, **__: Any) -> Any:
    made = simulated_class(kind)
    return _new(made)


_new: Any = socket.socket.__new__


def _of_host(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def ask(*args: Any, **named: Any) -> Any:
        return function(here().host, *args, **named)

    return ask


def _close(number: int) -> None:
    here().descriptors.close(small(number))


def _dup(number: int) -> int:
    return here().descriptors.dup(number)


def _set_default_timeout(timeout: float | None) -> None:
    if timeout is not None and timeout < 0:
        raise ValueError("Timeout value out of range")
    here().default_timeout = timeout


def _not_permitted(name: Any) -> None:
    raise failure(errno.EPERM)


ANSWERS: dict[tuple[Any, str], Callable[..., Any]] = {
    (socket.socket, "__new__"): _make,
    (socket, "socketpair"): pair,
    (socket, "close"): _close,
    (socket, "dup"): _dup,
    (socket, "getdefaulttimeout"): lambda: here().default_timeout,
    (socket, "setdefaulttimeout"): _set_default_timeout,
    (socket, "getaddrinfo"): _of_host(names.getaddrinfo),
    (socket, "sethostname"): _not_permitted,
    (socket, "gethostname"): _of_host(names.gethostname),
    (socket, "gethostbyname"): _of_host(names.gethostbyname),
    (socket, "gethostbyname_ex"): _of_host(names.gethostbyname_ex),
    (socket, "gethostbyaddr"): _of_host(names.gethostbyaddr),
    (socket, "getnameinfo"): _of_host(names.getnameinfo),
    (socket, "if_nameindex"): _of_host(names.if_nameindex),
    (socket, "if_nametoindex"): _of_host(names.if_nametoindex),
    (socket, "if_indextoname"): _of_host(names.if_indextoname),
    **{(socket, name): answer for name, answer in assigned.ANSWERS.items()},
    (select, "select"): polling.select,
    (select, "poll"): polling.Poll,
    (selectors.SelectSelector, "_select"): polling.select,
    (selectors.PollSelector, "_selector_cls"): polling.Poll,
    (selectors.EpollSelector, "_selector_cls"): polling.Epoll,
}


def _title(owner: Any, name: str) -> str:
    module = getattr(owner, "__module__", owner.__name__)
    return "socket.socket" if name == "__new__" else f"{module}.{name}"


STAND_INS = {(select, "epoll"): ClassStandIn(select.epoll, polling.Epoll)}
extend(
    [Leaf(owner, name, "network", _title(owner, name)) for owner, name in ANSWERS],
    ANSWERS,
    STAND_INS,
)
Part(
    "stack",
    lambda process: Stack(process, split=process.options.split, coalesce=process.options.coalesce),
)
