"""The bugs of MaceTransport: which fixes are missing, and where each shows.

The comments in Mace's source number them MT1 to MT11; nothing is left of number 9. The last two are
not historic fixes: MT-12 is a mutation, MT-13 what Mace does to this day.

Which step is critical depends on what else is under way: with MT-6 it is the timer by which a piece
is taken back, if all that can still be acknowledged is higher than what is left in flight.

The fix of MT-11, by which a receiver gives up a connection with a gap that is never filled, masks
MT-3 and most of MT-1 and MT-5; so it is missing in their profiles, too.
"""

from __future__ import annotations

from presage import Hunt
from presage.systems.catalogue import C2, Bug

PROFILES: dict[str, frozenset[str]] = {
    "MT-1": frozenset({"same_syn", "fast_reset"}),
    "MT-2": frozenset({"close_timers"}),
    "MT-3": frozenset({"syn_ids", "fast_reset"}),
    "MT-4": frozenset({"skip_early"}),
    "MT-5": frozenset({"old_ack", "fast_reset"}),
    "MT-6": frozenset({"all_acked_at_once"}),
    "MT-7": frozenset({"reset_syn"}),
    "MT-8": frozenset({"count_once"}),
    "MT-10": frozenset({"close_cleared"}),
    "MT-11": frozenset({"fast_reset"}),
    "MT-12": frozenset({"fast_timer"}),
    "MT-13": frozenset({"echo_established"}),
}

COMMENT = "a comment in Mace's source"
SYN_AGAIN = "Data n0 -> n1"  # the piece that opens a connection, once more
ACK = "Ack n1 -> n0"

BUGS: tuple[Bug, ...] = (
    Bug(
        "MT-1",
        "any piece that opens a connection opens it anew, also a copy of the one that did",
        "safety",
        "no_exception",
        {"bug": "MT-1", "driver": "strict", "messages": 3},
        SYN_AGAIN,
        COMMENT,
    ),
    Bug(
        "MT-1-plain",
        "the same; the receiver goes back to a gap that the sender will not fill again",
        "liveness",
        "all_acked",
        {"bug": "MT-1", "messages": 3},
        SYN_AGAIN,
        COMMENT,
    ),
    Bug(
        "MT-2",
        "closing a connection leaves the timers of its pieces in flight armed",
        "safety",
        "timer_count",
        {"bug": "MT-2", "messages": 3},
        "retransmit('n1', 1002, 0)",
        COMMENT,
    ),
    Bug(
        "MT-3",
        "a connection is known only by its first number, and any other opens it anew, also an old"
        " one",
        "liveness",
        "all_acked",
        {"bug": "MT-3", "messages": 2},
        ACK,
        "MaceMC paper, section 5; " + COMMENT,
    ),
    Bug(
        "MT-3-strict",
        "the same; what the old connection carried is delivered after the new",
        "safety",
        "no_exception",
        {"bug": "MT-3", "driver": "strict", "messages": 2},
        SYN_AGAIN,
        "MaceMC paper, section 5; " + COMMENT,
    ),
    Bug(
        "MT-4",
        "a gap that is filled moves the next expected number by one, not past what came early",
        "safety",
        "no_exception",
        {"bug": "MT-4", "messages": 3},
        "Data n0 -> n1",
        COMMENT,
    ),
    Bug(
        "MT-5",
        "the acknowledgement of an old copy is one too high",
        "liveness",
        "all_delivered",
        {"bug": "MT-5", "messages": 2, "drops": 1},
        ACK,
        COMMENT,
    ),
    Bug(
        "MT-6",
        "an acknowledgement higher than all that is in flight is ignored",
        "liveness",
        "all_acked",
        {"bug": "MT-6", "messages": 3},
        ACK,
        COMMENT,
        others=("retransmit",),
    ),
    Bug(
        "MT-7",
        "a reset does not say which connection it means, so an old one closes a new connection",
        "safety",
        "resets_are_meant",
        {"bug": "MT-7", "messages": 3, "resets": 1},
        "Reset n1 -> n0",
        COMMENT,
    ),
    Bug(
        "MT-8",
        "a copy of a piece that came early is counted twice towards its item",
        "safety",
        "no_exception",
        {"bug": "MT-8", "messages": 1, "fragments": 4},
        "Data n0 -> n1",
        COMMENT,
    ),
    Bug(
        "MT-10",
        "a promise of room to send outlives its connection",
        "safety",
        "within_count",
        {"bug": "MT-10", "messages": 3, "paced": True},
        "cleared('n1')",
        COMMENT,
    ),
    Bug(
        "MT-11",
        "a receiver never gives up a connection with a gap that is not filled",
        "liveness",
        "all_acked",
        {"bug": "MT-11", "messages": 3, "resets": 1},
        SYN_AGAIN,
        COMMENT,
    ),
    Bug(
        "MT-12",
        "a piece that is sent again early keeps its old timer, too",
        "safety",
        "timer_count",
        {"bug": "MT-12", "messages": 5},
        ACK,
        "mutation",
    ),
    Bug(
        "MT-13",
        "both ends open anew at once, and each takes the other's echo for a loss, again and again",
        "liveness",
        "network_empty",
        {"bug": "MT-13", "messages": 1, "traffic": "both", "reorder": False},
        C2,
        "what Mace does",
        # It ends by chance, after thousands of steps; the correct version takes a few hundred.
        hunt=Hunt(walk_length=1_000, recovery_walks=10, samples=0),
    ),
)
