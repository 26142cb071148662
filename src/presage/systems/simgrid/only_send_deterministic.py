"""One process receives from all others, in any order; each of the others always does the same.

After SimGrid's MPI example `only_send_deterministic`. It is also Listing 4.3 of the paper "SimGrid
MC: Verification Support for a Multi-API Simulation Platform": with `last`, rank 0 asserts that the
message of the highest rank comes last.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Mailbox


def receiver(ranks: int, last: bool) -> None:
    """Rank 0."""
    got = 0
    for _ in range(ranks - 1):
        got = Mailbox.by_name("rank 0").get()
    assert not last or got == ranks - 1, f"rank {got} was last"


def sender(rank: int) -> None:
    """Every other rank."""
    Mailbox.by_name("rank 0").put(rank)


def program(*, ranks: int = 3, last: bool = False) -> Program:
    """As many processes as there are ranks.

    ranks: how many processes, the receiver too.
    last: assert that the highest rank comes last.
    """
    senders = {f"rank {rank}": Process(sender, rank) for rank in range(1, ranks)}
    return Program({"rank 0": Process(receiver, ranks, last), **senders}, name="only_send")
