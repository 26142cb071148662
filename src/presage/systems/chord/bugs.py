"""The bugs of Chord: which fixes are missing, and where each shows.

The comments in Mace's source number some of them, up to Chord18; CB are CrystalBall's, Z are those
that Zave found in the published protocol. Left out: bugs of which only the number is known
(CrystalBall's third), and Zave's nodes that come back under the same identifier, which only ever
did harm as CB-CH1 here.

CH-13 kills in two steps: after the reset walks still recover now and then, as long as somebody
knows who was lost; the last to hear of it is the critical one.

Recovery, the push to an old predecessor and more ways to learn of others came later and mask
CH-succ, CH-2 and CH-8, which therefore belong to the era of 2006.
"""

from __future__ import annotations

from presage.systems.catalogue import C2, Bug

PROFILES: dict[str, frozenset[str]] = {
    "CH-succ": frozenset({"learn_pred"}),
    "CH-2": frozenset({"closer_pred"}),
    "CH-8": frozenset({"joiner_learns"}),
    "CH-13": frozenset({"answer", "learn_source", "learn_successor"}),
    "CH-17": frozenset({"clear_pred"}),
    "CH-18": frozenset({"hop_alone"}),
    "CH-HP1": frozenset({"closed_range"}),
    "CH-HP2": frozenset({"not_own_successor"}),
    "CH-1132": frozenset({"alone_again"}),
    "CH-rec": frozenset({"recovery"}),
    "CH-Aimin": frozenset({"exact_finger"}),
    "CB-CH1": frozenset({"no_update_to_self"}),
    "CB-CH2": frozenset({"order"}),
    "CH-Z1": frozenset({"ask_first"}),
    "CH-Z2": frozenset({"recovery"}),
    "CH-Z3": frozenset({"list_order"}),
}

COMMENT = "a comment in Mace's source"
HISTORY = "Mace's history, August 2010"
CRYSTALBALL = "Yabandeh et al., CrystalBall, 2009"
ZAVE = "Zave, Reasoning about identifier spaces: how to make Chord correct, 2017"

BUGS: tuple[Bug, ...] = (
    Bug(
        "CH-succ",
        "a node takes a new predecessor, but does not learn of it as a node of the ring: who"
        " began the ring keeps itself as successor, and is never heard of again",
        "liveness",
        "all_nodes",
        {"bug": "CH-succ", "era": "2006"},
        C2,  # no execution is ever live, so that nothing tells a dead one from a slow one
        "Killian et al., Life, death, and the critical transition, 2007",
    ),
    Bug(
        "CH-2",
        "a predecessor gives way to nobody, also not to who is nearer",
        "liveness",
        "successor_reflexive",
        {"bug": "CH-2", "era": "2006"},
        "UpdatePred n5 -> n1",
        COMMENT,
    ),
    Bug(
        "CH-8",
        "who joins knows the node before it as predecessor only: told that itself comes next, it"
        " has no successor",
        "liveness",
        "all_nodes",
        {"bug": "CH-8", "era": "2006", "nodes": 2, "silent_resets": 1, "victims": "joiners"},
        "FindPredReply n1 -> n5",
        COMMENT,
    ),
    Bug(
        "CH-13",
        "a node that asks for its own place, to heal a partition, learns nothing from the answer",
        "liveness",
        "all_nodes",
        {"bug": "CH-13", "resets": 1},
        "connection to n1",
        COMMENT,
        others=("reset",),  # where everybody who knew it has heard of it before
    ),
    Bug(
        "CH-17",
        "a node that was alone and hears of another remains its own predecessor",
        "safety",
        "succ_pred",
        {"bug": "CH-17", "nodes": 2, "resets": 1},
        "FindPredReply n1 -> n5",
        COMMENT,
    ),
    Bug(
        "CH-18",
        "whose neighbours are all gone has no next hop, not even itself",
        "safety",
        "no_exception",
        {"bug": "CH-18", "resets": 1},
        "FindPred n9 -> n1",
        COMMENT,
    ),
    Bug(
        "CH-HP1",
        "what a node owns ends before its own identifier",
        "safety",
        "self_routing",
        {"bug": "CH-HP1", "nodes": 2},
        "FindPredReply n1 -> n5",
        HISTORY,
    ),
    Bug(
        "CH-HP2",
        "a node takes itself among its successors",
        "safety",
        "not_in_successor_list",
        {"bug": "CH-HP2", "nodes": 2},
        "GetPredReply n1 -> n5",
        HISTORY,
    ),
    Bug(
        "CH-1132",
        "the last node of a ring does not become its own predecessor again",
        "liveness",
        "pred_non_null",
        {"bug": "CH-1132", "nodes": 2, "crashes": 1},
        "connection to n5",
        HISTORY,
    ),
    Bug(
        "CH-rec",
        "nobody ever asks again through whom it joined, so that partitions stay",
        "liveness",
        "all_nodes",
        {"bug": "CH-rec", "nodes": 2, "cuts": 1},
        "connection to n5",
        COMMENT,
    ),
    Bug(
        "CH-Aimin",
        "a finger that begins exactly at its node is replaced by nodes further away",
        "safety",
        "fingers_improve",
        {"bug": "CH-Aimin"},
        "UpdatePred n9 -> n1",
        COMMENT,
    ),
    Bug(
        "CB-CH1",
        "a node tells itself that it may be its predecessor",
        "safety",
        "succ_pred",
        {"bug": "CB-CH1", "nodes": 4, "resets": 2, "cuts": 1, "idle_closes": 1},
        "UpdatePred n9 -> n9",
        CRYSTALBALL,
    ),
    Bug(
        "CB-CH2",
        "a successor is learned that lies between predecessor and node, and the predecessor kept",
        "safety",
        "node_ordering",
        {"bug": "CB-CH2"},
        "FindPredReply n5 -> n9",
        CRYSTALBALL,
    ),
    Bug(
        "CH-Z1",
        "nodes believe each other that a third is there, which has been down for long",
        "liveness",
        "successor_reflexive",
        {"bug": "CH-Z1", "era": "2017", "crashes": 1},
        "GetPred n1 -> n5",
        ZAVE,
    ),
    Bug(
        "CH-Z2",
        "who joins between two nodes that go down before it knows of others has lost the ring",
        "liveness",
        "all_nodes",
        {"bug": "CH-Z2", "era": "2017", "nodes": 4, "keeps": 1, "crashes": 2},
        "crash",
        ZAVE,
    ),
    Bug(
        "CH-Z3",
        "successors are kept as they come, in no order and without end",
        "safety",
        "valid_successor_list",
        {"bug": "CH-Z3"},
        "GetPredReply n1 -> n5",
        ZAVE,
    ),
)
