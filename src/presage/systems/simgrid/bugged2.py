"""A server that takes the first two messages to come from different clients.

After SimGrid's example `mc-bugged2`: each client sends two messages, and both of the second client
may come first.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Mailbox, this_actor


def server() -> None:
    """Gets two pairs of messages."""
    mailbox = Mailbox.by_name("server")
    first, second = mailbox.get(), mailbox.get()
    this_actor.info(f"first pair: {first} {second}")
    assert min(first, second) == 1, "client 2 has sent both"
    this_actor.info(f"second pair: {mailbox.get()} {mailbox.get()}")


def client(number: int) -> None:
    """Sends its number twice."""
    for _ in range(2):
        Mailbox.by_name("server").put(number, 10_000)


def program() -> Program:
    """One server, two clients."""
    return Program(
        {
            "server": server,
            "client 1": Process(client, 1),
            "client 2": Process(client, 2),
        },
        name="bugged2",
    )
