"""The bugs of Pastry: which fixes are missing, and where each shows.

The comments in Mace's source name "Pastry4-5". Left out: nodes that take others among their leaves
without asking whether they are there. With maintenance as it is, that makes joining slow, but no
execution was found that does not recover.
"""

from __future__ import annotations

from presage.systems.catalogue import Bug

PROFILES: dict[str, frozenset[str]] = {
    "PA-4": frozenset({"remove"}),
    "PA-5": frozenset({"remove"}),
    "PA-tie": frozenset({"tie"}),
    "PA-rec": frozenset({"recovery"}),
    "PA-size": frozenset({"one_side"}),
    "PA-lu": frozenset({"recovery", "maintenance"}),
}

PAPER = "Killian et al., Life, death, and the critical transition, 2007"
COMMENT = "a comment in Mace's source"

BUGS: tuple[Bug, ...] = (
    Bug(
        "PA-4",
        "a node that has not joined keeps for later a request to join that was forwarded to it, so"
        " that who sends it its own requests, as if it were still there, never learns it is new",
        "liveness",
        "nodes_joined",
        {"bug": "PA-4", "nodes": 4, "resets": 2},
        "RowInfo n302 -> n021",  # brings back who has been reset
        PAPER,
    ),
    Bug(
        "PA-5",
        "the same, where the request of a third is forwarded to it, too: both wait for ever",
        "liveness",
        "nodes_joined",
        {"bug": "PA-5", "nodes": 4, "resets": 2, "idle_closes": 1},
        "reset",
        COMMENT,
    ),
    Bug(
        "PA-tie",
        "of a gap that has no middle, two neighbours leave out what lies in between",
        "liveness",
        "key_match_right",
        {"bug": "PA-tie", "nodes": 2},
        "LeafsetInfo n021 -> n110",
        COMMENT,
    ),
    Bug(
        "PA-rec",
        "nobody ever asks again through whom it joined, so that partitions stay",
        "liveness",
        "all_nodes",
        {"bug": "PA-rec", "nodes": 2, "cuts": 1},
        "connection to n110",
        COMMENT,
    ),
    Bug(
        "PA-size",
        "in a ring of two a node is both left and right leaf of the other",
        "safety",
        "size_match",
        {"bug": "PA-size", "nodes": 2},
        "LeafsetInfo n021 -> n110",
        PAPER,
    ),
    Bug(
        "PA-lu",
        "two join next to each other at once, and without maintenance never hear of each other",
        "liveness",
        "all_nodes",
        {"bug": "PA-lu", "nodes": 3},
        "RowInfo n021 -> n302",
        "Lu, Formal verification of the Pastry protocol, 2013",
    ),
)
