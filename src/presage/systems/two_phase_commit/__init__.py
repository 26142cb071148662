"""Two-phase commit: a transaction manager and resource managers that must all decide alike.

After Gray and Lamport, "Consensus on Transaction Commit", 2006, section 3, without the messages
by which the manager asks to prepare: a resource manager prepares, or gives up, by itself. Messages
once sent stay, and may be delivered again; so a delivery that changes nothing is a transition
too, as in the published specification, whose state counts this reproduces.
"""

from __future__ import annotations

from presage import System
from presage.systems.two_phase_commit.messages import Abort, Commit, Prepared
from presage.systems.two_phase_commit.properties import (
    abort_agreement,
    commit_agreement,
    consistent,
)
from presage.systems.two_phase_commit.service import ResourceManager, TransactionManager

__all__ = [
    "Abort",
    "Commit",
    "Prepared",
    "ResourceManager",
    "TransactionManager",
    "abort_agreement",
    "commit_agreement",
    "consistent",
    "system",
]


def system(*, rms: int = 3) -> System:
    """One transaction manager `tm` and resource managers `rm0`, `rm1`, ...

    rms: how many resource managers.
    """
    names = tuple(f"rm{i}" for i in range(rms))
    return System(
        nodes={
            "tm": TransactionManager(rms=names),
            **{name: ResourceManager(tm="tm") for name in names},
        },
        network="duplicating",
        properties=[consistent, commit_agreement, abort_agreement],
        skip_noops=False,
        symmetric=[names],
        name="two-phase commit",
    )
