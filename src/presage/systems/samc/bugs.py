"""The twelve bugs of the paper's Table 2: how to see them here, and what the paper counts.

Of the paper are the number of events, crashes and reboots in the execution that shows the bug, and
how many executions each search needs until it does, of at most 5,000.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from presage.systems.catalogue import Bug

CUT = 5_000  # the paper stops there


class Budget(NamedTuple):
    """What happens in the execution that the paper shows a bug by."""

    events: int
    crashes: int
    reboots: int


class Counts(NamedTuple):
    """Executions until the bug; None: more than `CUT`."""

    dpor: int | None  # black-box DPOR, "bDP"
    random: int | None  # "RND"
    random_dpor: int | None  # random, then DPOR from there, "rDP"
    samc: int


PAPER: dict[str, tuple[Budget, Counts]] = {
    "ZK-335": (Budget(120, 3, 3), Counts(None, 1_057, None, 117)),
    "ZK-790": (Budget(21, 1, 1), Counts(14, 225, 82, 7)),
    "ZK-975": (Budget(21, 1, 1), Counts(967, 71, 163, 53)),
    "ZK-1075": (Budget(25, 3, 2), Counts(1_081, 86, 250, 16)),
    "ZK-1419": (Budget(25, 3, 2), Counts(924, 2_514, 987, 100)),
    "ZK-1492": (Budget(31, 1, 0), Counts(None, None, None, 576)),
    "ZK-1653": (Budget(60, 1, 1), Counts(945, 3_756, 3_462, 11)),
    "MR-4748": (Budget(25, 1, 0), Counts(22, 6, 6, 4)),
    "MR-5489": (Budget(20, 2, 1), Counts(None, None, None, 53)),
    "MR-5505": (Budget(40, 1, 1), Counts(1_212, None, 1_210, 40)),
    "CASS-3395": (Budget(25, 1, 1), Counts(2_552, 191, 550, 104)),
    "CASS-3626": (Budget(15, 2, 1), Counts(None, None, None, 96)),
}


@dataclass(frozen=True, kw_only=True)
class DeepBug(Bug):
    """A bug, its model, and the same system with the bug mended."""

    model: str
    mended: Mapping[str, Any]  # for `system(...)`: the same budget, the same steps, no bug

    @builtins.property
    def budget(self) -> Budget:
        return PAPER[self.id][0]

    @builtins.property
    def paper(self) -> Counts:
        return PAPER[self.id][1]


# In the order of the paper.
BUGS: tuple[DeepBug, ...] = (
    DeepBug(
        id="ZK-335",
        summary="a new leader uses the epoch of another again, for other transactions",
        kind="safety",
        property="one_transaction_per_number",
        model="zab31",
        parameters={"bug": "ZK-335"},
        mended={},
    ),
    DeepBug(
        id="ZK-790",
        summary="who falsely leads takes a new epoch, and then refuses the real leader for ever",
        kind="safety",
        property="joins_again",
        model="zle",
        parameters={"bug": "ZK-790"},
        mended={"bug": "ZK-790", "fixed": True},
    ),
    DeepBug(
        id="ZK-975",
        summary="who joins gets old votes of all, and leads beside the ensemble that is there",
        kind="safety",
        property="no_second_leader",
        model="zle",
        parameters={"bug": "ZK-975"},
        mended={"bug": "ZK-975", "fixed": True},
    ),
    DeepBug(
        id="ZK-1075",
        summary="nobody can join a leader that has lost its majority",
        kind="safety",
        property="can_join",
        model="zle",
        parameters={"bug": "ZK-1075"},
        mended={"bug": "ZK-1075", "fixed": True},
    ),
    DeepBug(
        id="ZK-1419",
        summary="the order of votes is no order, and two servers exchange theirs for ever",
        kind="safety",
        property="settles",
        model="zle",
        parameters={"bug": "ZK-1419"},
        mended={"bug": "ZK-1419", "fixed": True},
    ),
    DeepBug(
        id="ZK-1492",
        summary="a leader without majority goes on, as an observer counts",
        kind="safety",
        property="leaves_without_majority",
        model="zle",
        parameters={"bug": "ZK-1492"},
        mended={"bug": "ZK-1492", "fixed": True},
    ),
    DeepBug(
        id="ZK-1653",
        summary="a snapshot of a new epoch is on disk before its number is",
        kind="safety",
        property="starts_again",
        model="zab34",
        parameters={"bug": "ZK-1653"},
        mended={},
    ),
    DeepBug(
        id="MR-4748",
        summary="both attempts of a task succeed, for which the task has no transition",
        kind="safety",
        property="no_invalid_transition",
        model="speculation",
        parameters={"bug": "MR-4748"},
        mended={},
    ),
    DeepBug(
        id="MR-5489",
        summary="a master keeps its blacklist to itself, and is granted bad nodes for ever",
        kind="safety",
        property="few_grants_are_refused",
        model="yarn",
        parameters={"bug": "MR-5489"},
        mended={"bad": True, "polls": 0},
    ),
    DeepBug(
        id="MR-5505",
        summary="a job that has ended is removed from the store too late, and runs again",
        kind="safety",
        property="ended_jobs_stay_ended",
        model="yarn",
        parameters={"bug": "MR-5505"},
        mended={},
    ),
    DeepBug(
        id="CASS-3395",
        summary="a read that merges answers returns more than was asked for, also what is deleted",
        kind="safety",
        property="reads_are_current",
        model="hints",
        parameters={"bug": "CASS-3395"},
        mended={},
    ),
    DeepBug(
        id="CASS-3626",
        summary="a node heard of for the first time is up, and unknown to the failure detector",
        kind="safety",
        property="dead_can_be_convicted",
        model="gossip",
        parameters={"bug": "CASS-3626"},
        mended={},
    ),
)
