"""The bugs of Paxos: which rules are missing, and where each shows.

PX-bug1 and PX-bug2 are those that CrystalBall's authors put into Mace's Paxos for their experiments
(Yabandeh et al., NSDI 2009, section 4.4.2). What each does is certain; which lines it changed is
not published. The first was found in a real system by the WiDS checker (Liu et al., NSDI 2007); the
second is after Chandra et al., "Paxos Made Live", 2007. PX-bug2 loses the promise and what was
accepted: losing the promise alone does not break the scenario of the paper.

PX-maj and PX-resp are from the history of EventWave, Mace's successor; the others are mutations.
"""

from __future__ import annotations

from presage.systems.catalogue import Bug
from presage.systems.mace_paxos.messages import Vote
from presage.systems.mace_paxos.service import Paxos


class NoDisk(Paxos):
    """Does not write down what it promised and accepted."""

    promised: int = 0
    accepted: Vote | None = None


PROFILES: dict[str, frozenset[str]] = {
    "PX-bug1": frozenset({"highest_promise"}),
    "PX-bug2": frozenset({"disk"}),
    "PX-maj": frozenset({"majority"}),
    "PX-resp": frozenset({"fresh_promises"}),
    "PX-acc": frozenset({"promise_kept"}),
    "PX-learn": frozenset({"learn_rounds"}),
}

CRYSTALBALL = "CrystalBall paper, section 4.4.2"
EVENTWAVE = "the history of EventWave's source"

BUGS: tuple[Bug, ...] = (
    Bug(
        "PX-bug1",
        "the leader proposes the value of the last promise, not that of the highest round",
        "safety",
        "one_value",
        {"bug": "PX-bug1"},
        "Learn c -> b",
        CRYSTALBALL,
        others=("Learn",),
    ),
    Bug(
        "PX-bug2",
        "an acceptor does not write to disk what it promised and accepted",
        "safety",
        "one_value",
        {"bug": "PX-bug2", "crashes": 1},
        "Learn c -> b",
        CRYSTALBALL,
        others=("Learn", "Accept"),
    ),
    Bug(
        "PX-maj",
        "half of the nodes count as a majority",
        "safety",
        "one_value",
        {"bug": "PX-maj"},
        "propose(1)",
        EVENTWAVE,
    ),
    Bug(
        "PX-resp",
        "promises of an earlier round count for a later one",
        "safety",
        "one_value",
        {"bug": "PX-resp", "retries": 1},
        "Learn",
        EVENTWAVE,
        others=("Accept",),
    ),
    Bug(
        "PX-acc",
        "an acceptor accepts whatever it has promised",
        "safety",
        "one_value",
        {"bug": "PX-acc"},
        "Learn b -> a",
        "mutation",
    ),
    Bug(
        "PX-learn",
        "acceptances of one value count together, whatever their rounds",
        "safety",
        "one_value",
        {"bug": "PX-learn", "retries": 1},
        "Accept",
        "mutation",
        others=("Learn",),
    ),
)
