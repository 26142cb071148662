"""One process receives from all others, in any order; each of the others always does the same.

After SimGrid's MPI example `only_send_deterministic`. It is also Listing 4.3 of the paper "SimGrid
MC: Verification Support for a Multi-API Simulation Platform": with `last`, rank 0 asserts that the
message of the highest rank comes last. Rank 0 says what its future depends on, so that it does not
have to be run again for every order in which it got its messages, only for every number of them.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Mailbox, mark


def receiver(ranks: int, last: bool, marked: bool) -> None:
    """Rank 0."""
    got = 0
    for left in range(ranks - 1, 0, -1):
        if marked:
            mark((left, got if last else 0))
        got = Mailbox.by_name("rank 0").get()
    assert not last or got == ranks - 1, f"rank {got} was last"


def sender(rank: int) -> None:
    """Every other rank."""
    Mailbox.by_name("rank 0").put(rank)


def program(*, ranks: int = 3, last: bool = False, marked: bool = True) -> Program:
    """As many processes as there are ranks.

    ranks: how many processes, the receiver too.
    last: assert that the highest rank comes last.
    marked: rank 0 says what its future depends on.
    """
    senders = {f"rank {rank}": Process(sender, rank) for rank in range(1, ranks)}
    return Program({"rank 0": Process(receiver, ranks, last, marked), **senders}, name="only_send")
