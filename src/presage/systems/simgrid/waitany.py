"""A process waits for whichever of two messages comes first, and may take it for the other.

After SimGrid's MPI examples `mc-waitany-ok` and `mc-waitany-bugged`.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import ActivitySet, Mailbox


def receiver(bug: bool) -> None:
    """Compares the two messages: when both are there, or too early."""
    x = Mailbox.by_name("from one").get_async()
    y = Mailbox.by_name("from two").get_async()
    got = {x: 0, y: 0}
    under_way = ActivitySet([x, y])
    for _ in range(2):
        comm = under_way.wait_any()
        got[comm] = comm.get_payload()
        if bug:
            assert got[x] <= got[y], "the second message is not there yet"
    assert got[x] <= got[y]


def sender(mailbox: str, value: int) -> None:
    """Sends one number."""
    Mailbox.by_name(mailbox).put(value)


def program(*, bug: bool = False) -> Program:
    """One receiver, two senders.

    bug: compare before both messages are there.
    """
    return Program(
        {
            "receiver": Process(receiver, bug),
            "one": Process(sender, "from one", 1),
            "two": Process(sender, "from two", 2),
        },
        name="waitany",
    )
