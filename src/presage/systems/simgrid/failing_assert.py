"""A server that overwrites what it got, and expects the last worker's message to be left.

After SimGrid's example `mc-failing-assert`; with as many workers as you like.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Mailbox, this_actor


def server(workers: int) -> None:
    """Keeps the last message."""
    kept = None
    for _ in range(workers):
        kept = Mailbox.by_name("server").get()
    assert kept == workers, f"worker {kept} was last"
    this_actor.info("OK")


def worker(rank: int) -> None:
    """Sends its rank."""
    Mailbox.by_name("server").put(rank, 1)
    this_actor.info("sent")


def program(*, workers: int = 2) -> Program:
    """One server, and its workers.

    workers: how many; each sends one message.
    """
    ranks = {f"worker {rank}": Process(worker, rank) for rank in range(1, workers + 1)}
    return Program({"server": Process(server, workers), **ranks}, name="failing_assert")
