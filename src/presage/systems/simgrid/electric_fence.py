"""Two requests are under way when two clients send: no order is wrong here.

After SimGrid's example `mc-electric-fence`, which tests that a reduction does not lose an order.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Comm, Mailbox, this_actor


def server() -> None:
    """Asks for two messages, then waits for both."""
    mailbox = Mailbox.by_name("server")
    comms = [mailbox.get_async(), mailbox.get_async()]
    Comm.wait_all(comms)
    got = sorted(comm.get_payload() for comm in comms)
    assert got == [1, 2], got
    this_actor.info("OK")


def client(number: int) -> None:
    """Sends its number."""
    Mailbox.by_name("server").put(number, 10_000)


def program() -> Program:
    """One server, two clients."""
    return Program(
        {
            "server": server,
            "client 1": Process(client, 1),
            "client 2": Process(client, 2),
        },
        name="electric_fence",
    )
