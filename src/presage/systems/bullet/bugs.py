"""The bugs of Bullet': which rules are missing, and where each shows.

CrystalBall found three bugs in Mace's Bullet' (Yabandeh et al., NSDI 2009, Table 1), and describes
one: CB-BU1. CB-BU1a is the older form of it that the paper mentions. The other two are not known;
BU-m* are mutations in their place, each a rule of the same protocol that can be forgotten.
"""

from __future__ import annotations

from presage.systems.catalogue import Bug

PROFILES: dict[str, frozenset[str]] = {
    "CB-BU1": frozenset({"shadow_kept"}),
    "CB-BU1a": frozenset({"shadow_kept", "retry"}),
    "BU-m1": frozenset({"accept_queued"}),
    "BU-m2": frozenset({"request_dropped"}),
    "BU-m3": frozenset({"view_dropped"}),
    "BU-m4": frozenset({"register_early"}),
    "BU-m5": frozenset({"stale_view"}),
}

CRYSTALBALL = "CrystalBall paper, section 4.2.3"

BUGS: tuple[Bug, ...] = (
    Bug(
        "CB-BU1",
        "the shadow map is cleared although the stream refused the diff",
        "safety",
        "file_map",
        {"bug": "CB-BU1"},
        "diff",
        CRYSTALBALL,
    ),
    Bug(
        "CB-BU1a",
        "the same in its first form: nobody tries again",
        "safety",
        "file_map",
        {"bug": "CB-BU1a"},
        "diff",
        CRYSTALBALL,
    ),
    Bug(
        "BU-m1",
        "a receiver is recorded although the stream refused the answer",
        "safety",
        "file_map",
        {"bug": "BU-m1"},
        "PeerRequest n2 -> n1",
        "mutation",
    ),
    Bug(
        "BU-m2",
        "what a lost sender was asked for is asked of nobody else",
        "liveness",
        "all_have",
        {"bug": "BU-m2", "cuts": 1},
        "n0 - n2",
        "mutation",
    ),
    Bug(
        "BU-m3",
        "what a lost sender had announced is still believed",
        "safety",
        "file_map",
        {"bug": "BU-m3", "resets": 1},
        "BlockRequest n2 -> n1",
        "mutation",
    ),
    Bug(
        "BU-m4",
        "a receiver is recorded at its first request, not when it is accepted",
        "safety",
        "file_map",
        {"bug": "BU-m4"},
        "Block n0 -> n1",
        "mutation",
    ),
    Bug(
        "BU-m5",
        "a sender that was reset silently, and asks to be sent to, is believed to have what it had",
        "safety",
        "file_map",
        {"bug": "BU-m5", "silent": 1},
        "PeerRequest n1 -> n2",
        "this reconstruction, before presage found it",
    ),
)
