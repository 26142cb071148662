"""Groups of three that have nothing to do with each other: one receives from the other two.

Listing 4.4 of the paper "SimGrid MC: Verification Support for a Multi-API Simulation Platform": a
reduction needs one order of the groups, and two orders within each.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Mailbox


def member(rank: int) -> None:
    """Receives twice, or sends to the one that does."""
    head = rank - rank % 3
    mailbox = Mailbox.by_name(f"rank {head}")
    if rank == head:
        mailbox.get()
        mailbox.get()
    else:
        mailbox.put(rank)


def program(*, ranks: int = 6) -> Program:
    """As many processes as there are ranks.

    ranks: how many processes, a multiple of three.
    """
    members = {f"rank {rank}": Process(member, rank) for rank in range(ranks)}
    return Program(members, name="groups_of_three")
