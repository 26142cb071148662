"""The operations of a process: what it can ask of the world, and what the world can answer.

Everything that processes use to communicate, mailboxes, MPI or sockets, is made of `Send`, `Recv`,
`WaitAny` and `TestAny`. A post (`Send`, `Recv`) takes a *slot* of its process, the smallest that is
free; whoever waits names slots. A slot is free again once a wait or a test has returned it.

A mailbox is one of two kinds. An ordinary one keeps all offers in the order of posting. One *of
channels* keeps order only among offers whose keys begin with the same number; a receive that takes
from any channel decides by `Pick` from which. There, a test is a `Poll`, which decides what it
says, and then a wait for what it said.

Invariant: what an operation does to the world depends on its fields and the world alone; what the
process does next depends on the responses it got, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

ANY: Final = -1  # in `want`: fits every number
NONE: Final = -1  # the choice of a test that found nothing, or of a wait that timed out

Key: TypeAlias = tuple[int, int]


class Send(msgspec.Struct, frozen=True):
    """Offer `payload` at a mailbox. `buffered`: complete for the sender at once.

    `may_wait`: it is buffered if there is room, and there may be none. `channelled`: the mailbox is
    one of channels, and the first number of the key is the channel.
    """

    mailbox: str
    payload: Any
    key: Key = (0, 0)
    buffered: bool = False
    size: float = 0.0  # bytes, for simulation
    may_wait: bool = False
    channelled: bool = False


class Recv(msgspec.Struct, frozen=True):
    """Ask for the first offer at a mailbox whose key fits `want`.

    `claim`, at one of channels: the channel that it takes from; NONE: it is going to get nothing.
    """

    mailbox: str
    want: Key = (ANY, ANY)
    claim: int | None = None


class WaitAny(msgspec.Struct, frozen=True):
    """Wait until some of `slots` is complete; answers which one. With a timeout, it may give up.

    With `rivals` it was guessed that this one, the only one, would be first. Each rival is a group
    of slots; one that is complete while this one never is proves the guess wrong. `polled`: a test
    said that it is complete, and might have said otherwise.
    """

    slots: tuple[int, ...]
    timeout: float | None = None
    rivals: tuple[tuple[int, ...], ...] | None = None
    polled: bool = False


class TestAny(msgspec.Struct, frozen=True):
    """Whether some of `slots` is complete, and which."""

    __test__ = False  # not a test case, whatever its name says

    slots: tuple[int, ...]


class Probe(msgspec.Struct, frozen=True):
    """Whether an offer is pending that fits; it stays there.

    `claim`, at a mailbox of channels: wait for an offer of that channel. `polled` as for `WaitAny`.
    """

    mailbox: str
    want: Key = (ANY, ANY)
    blocking: bool = False
    claim: int | None = None
    polled: bool = False


class Pick(msgspec.Struct, frozen=True):
    """Decide from which of `channels` a receive or probe takes its offer; NONE: from none.

    `polls`: for a probe that may find nothing. A search tries each channel that may have an offer.
    """

    mailbox: str
    want: Key
    channels: int
    polls: bool = False


class Poll(msgspec.Struct, frozen=True):
    """Decide what a test says: which of `n` is complete, or NONE."""

    n: int


class Cancel(msgspec.Struct, frozen=True):
    """Withdraw a post that nothing has matched yet."""

    slot: int


class Choose(msgspec.Struct, frozen=True):
    """One of `n`; a search tries each."""

    n: int


class Switch(Choose, frozen=True):
    """Choose which stack of the process goes on, if it has several: they are called so."""

    names: tuple[str, ...] = ()


class Sleep(msgspec.Struct, frozen=True):
    """Let time pass. To a search, others may do anything meanwhile."""

    seconds: float = 0.0
    flops: float = 0.0  # work to be done by the host, for simulation


class Create(msgspec.Struct, frozen=True):
    name: str
    body: Callable[..., Any]
    args: tuple[Any, ...] = ()
    daemon: bool = False
    host: str | None = None  # for simulation; None: where its creator runs


class Join(msgspec.Struct, frozen=True):
    name: str


class Kill(msgspec.Struct, frozen=True):
    """End a process, wherever it is."""

    name: str


class Publish(msgspec.Struct, frozen=True):
    """Let properties see a value of this process."""

    field: str
    value: Any


class Done(msgspec.Struct, frozen=True):
    """The process has returned."""

    value: Any = None


class Failed(msgspec.Struct, frozen=True):
    """An exception left the process."""

    kind: str  # of violation: exception, or what the exception says it is
    brief: str  # what tells it from others, the same in every run
    text: str  # what happened and where


Op: TypeAlias = (
    Send
    | Recv
    | WaitAny
    | TestAny
    | Probe
    | Cancel
    | Choose
    | Sleep
    | Create
    | Join
    | Kill
    | Publish
    | Pick
    | Poll
)
End: TypeAlias = Done | Failed


class Response(msgspec.Struct, frozen=True):
    """What the world answers an operation."""

    choice: int = 0  # waits and tests: index into the slots, or NONE; else as the operation says
    payload: Any = None  # of the offer that a receive got, or a probe saw
    key: Key = (0, 0)  # of that offer


class Exit(BaseException):
    """Raised in a process, it ends it in good order, from wherever it is."""


class Misuse(Exception):
    """Raised by the libraries above when a process uses them wrongly; `kind` names the violation.

    It is an exception of the checked code: a finding, not an error of presage.
    """

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)
