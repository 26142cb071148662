"""The bugs of RandTree: which fixes are missing, and where each shows.

RT-* are MaceMC's and those that comments in Mace's source number; CB-RT* are CrystalBall's; RT-m*
are mutations, most of them mendings that look right. Three mendings are ours, and missing where
they mask a bug: a parent notices a child which does not behave as one (`strange_child`), parents
and children compare their views from time to time (`compare`), and a child that is forgotten
because of its farewell is told (`farewell`).

A farewell that crosses an acceptance (RT-m1) need not be critical itself: a probe, or another
request to join, may still mend it. Then that step is which takes the last such way, such as the
acceptance by which the forgotten child is content with another parent.

The hunt may see another property first: a node that is wrongly taken for a child is never accepted
(`all_joined`, RT-init), one that was forgotten never hears of a new root (`root_match`, RT-m1 and
RT-m2).
"""

from __future__ import annotations

from presage.systems.catalogue import Bug

PROFILES: dict[str, frozenset[str]] = {
    "RT-init": frozenset({"reply_in_init", "strange_child", "compare"}),
    "RT-timer": frozenset({"arm_early"}),
    "RT-10": frozenset({"remove_always", "strange_child", "compare"}),
    "RT-15": frozenset({"root_is_me"}),
    "CB-RT1": frozenset({"siblings_drop"}),
    "CB-RT2": frozenset({"reply_drop"}),
    "CB-RT4": frozenset({"accept_drop"}),
    "CB-RT5": frozenset({"arm_alone"}),
    "CB-RT6": frozenset({"root_drop"}),
    "CB-RT7": frozenset({"clear_siblings"}),
    "RT-m1": frozenset({"ignore_child", "strange_child", "compare", "farewell"}),
    "RT-m2": frozenset({"drop_rejoins", "strange_child", "compare"}),
    "RT-m3": frozenset({"full"}),
}

PAPER = "MaceMC paper, section "
CRYSTALBALL = "CrystalBall paper"
JOURNAL = "CrystalBall, journal version"
COMMENT = "a comment in Mace's source"

BUGS: tuple[Bug, ...] = (
    Bug(
        "RT-init",
        "a node that was reset ignores that it was accepted in its former life",
        "liveness",
        "kids_match",
        {"bug": "RT-init", "nodes": 4, "degree": 3, "resets": 1},
        "JoinReply n0 -> n2",
        PAPER + "6",
    ),
    Bug(
        "RT-timer",
        "the timer that looks for other trees is armed when a node is accepted, not when it becomes"
        " a root",
        "liveness",
        "one_root",
        {"bug": "RT-timer", "peers": "prev", "recovery": "unclaimed"},
        "Join n2 -> n1",
        PAPER + "2",
    ),
    Bug(
        "RT-timer-safety",
        "the same, seen by the claim that the timer is armed",
        "safety",
        "timers",
        {"bug": "RT-timer", "peers": "prev"},
        "join_overlay",
        PAPER + "2",
    ),
    Bug(
        "RT-10",
        "a child's farewell is heard only by a parent that has joined itself",
        "liveness",
        "kids_match",
        {"bug": "RT-10", "nodes": 4, "degree": 3},
        "Remove n3 -> n2",
        COMMENT,
    ),
    Bug(
        "RT-15",
        "a node that joins again keeps its old root meanwhile",
        "safety",
        "no_exception",
        {"bug": "RT-15", "degree": 1, "resets": 1},
        "JoinReply n2 -> n1",
        COMMENT,
    ),
    Bug(
        "CB-RT1",
        "a child that is named as a sibling stays a child",
        "safety",
        "children_siblings_disjoint",
        {"bug": "CB-RT1", "silent": 1},
        "UpdateSiblings n0 -> n1",
        CRYSTALBALL,
    ),
    Bug(
        "CB-RT2",
        "the same where the sibling is named by the new parent",
        "safety",
        "children_siblings_disjoint",
        {"bug": "CB-RT2", "silent": 1},
        "JoinReply n0 -> n1",
        CRYSTALBALL + ", one of the variations in other handlers",
    ),
    Bug(
        "CB-RT4",
        "a sibling that becomes a child stays a sibling",
        "safety",
        "children_siblings_disjoint",
        {"bug": "CB-RT4", "nodes": 6, "peers": "root", "resets": 1},
        "Join n1 -> n3",
        CRYSTALBALL + ", one of the variations in other handlers",
    ),
    Bug(
        "CB-RT5",
        "the timer that looks for other trees is not armed by a node that starts alone",
        "safety",
        "timers_with_peers",
        {"bug": "CB-RT5", "nodes": 2, "peers": "empty", "recovery": "peers"},
        "Join n0 -> n1",
        CRYSTALBALL,
    ),
    Bug(
        "CB-RT6",
        "a new root is taken over although it is a child",
        "safety",
        "root_not_child_or_sibling",
        {"bug": "CB-RT6", "nodes": 4, "degree": 1, "resets": 1, "silent": 1},
        "NewRoot n2 -> n3",
        JOURNAL,
    ),
    Bug(
        "CB-RT7",
        "a node that becomes the root keeps its siblings",
        "safety",
        "root_has_no_siblings",
        {"bug": "CB-RT7", "nodes": 4, "peers": "prev", "degree": 3, "resets": 2},
        "Join n3 -> n2",
        JOURNAL,
    ),
    Bug(
        "RT-m1",
        "a child that asks again is accepted again, and its farewell crosses that",
        "liveness",
        "kids_match",
        {"bug": "RT-m1", "nodes": 4, "degree": 3, "resets": 1},
        "Remove n2 -> n0",
        "mutation",
        others=("JoinReply",),
    ),
    Bug(
        "RT-m2",
        "a child is given up without a word",
        "liveness",
        "kids_match",
        {"bug": "RT-m2"},
        "Join n1 -> n0",
        "mutation: CrystalBall's suggested mending of CB-RT1",
    ),
    Bug(
        "RT-m3",
        "children are taken beyond the degree",
        "safety",
        "degree_bound",
        {"bug": "RT-m3", "peers": "root", "degree": 1},
        "Join n2 -> n0",
        "mutation",
    ),
)
