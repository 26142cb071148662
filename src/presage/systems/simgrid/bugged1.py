"""A server that takes the last of several messages to be that of the last client.

After SimGrid's example `mc-bugged1`: nothing orders what different clients send, so any of them
can be last.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Mailbox, this_actor


def server(clients: int) -> None:
    """Gets one message of each client."""
    mailbox = Mailbox.by_name("server")
    last = 0
    for _ in range(clients):
        last = mailbox.get()
    assert last == clients, f"the last message is that of client {last}"
    this_actor.info("OK")


def client(number: int) -> None:
    """Sends its number."""
    Mailbox.by_name("server").put(number, 10_000)
    this_actor.info("sent")


def program(*, clients: int = 3) -> Program:
    """One server, and its clients.

    clients: how many; each sends one message.
    """
    senders = {f"client {n}": Process(client, n) for n in range(1, clients + 1)}
    return Program({"server": Process(server, clients), **senders}, name="bugged1")
