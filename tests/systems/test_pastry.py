"""Pastry: each historic bug, by its shortest trace or its story, and the same without the bug."""

from typing import get_args

import pytest
from systems.rings import Ring, surveyed

from presage import check
from presage.systems.catalogue import UnknownProfile
from presage.systems.pastry import BugName, system
from presage.systems.pastry.bugs import BUGS, PROFILES

BY_ID = {bug.id: bug for bug in BUGS}
Z, A, C, B = "n021", "n110", "n302", "n132"  # Z begins; on the ring: Z, A, B, C


class Pastry(Ring):
    def join(self, node):
        return self.do("action", node, "join")

    def ask_for_row(self):
        """C sends Z what it knows."""
        self.fire(Z, "table_maintenance", C)
        self.get("RowRequest", Z, C)


# Each plays all but the critical step, and gives that as a function.


def pa_4(ring):
    ring.settle()
    ring.ask_for_row()
    ring.do("reset", B)
    ring.lose(Z, B)
    ring.join(B)
    return lambda: ring.get("RowInfo", C, Z)


def pa_5(ring):
    ring.settle()
    ring.do("reset", A)
    for node in (Z, B, C):
        ring.lose(node, A)
    ring.drain()
    assert B in ring[Z].leaves
    ring.do("idle", Z, f"close {Z} - {B}")
    return lambda: ring.do("reset", B)


def pa_rec(ring):
    ring.settle()
    ring.do("cut", Z, f"{Z} - {A}")
    return lambda: ring.lose(Z, A)


def pa_lu(ring):
    ring.join(Z)
    for node in (A, C):
        ring.join(node)
        ring.get("Join", node, Z)
    for message in ["LeafsetInfo", "RowInfo", "RowInfo"]:
        ring.get(message, Z, A)
        ring.get(message, Z, C)
    ring.get("RowInfo", Z, A)
    return lambda: ring.get("RowInfo", Z, C)


def pa_tie(ring):
    ring.join(Z)
    ring.join(A)
    ring.get("Join", A, Z)
    return lambda: ring.get("LeafsetInfo", Z, A)


LIVELY = {"PA-4": pa_4, "PA-5": pa_5, "PA-rec": pa_rec, "PA-lu": pa_lu, "PA-tie": pa_tie}


@pytest.mark.parametrize("name", LIVELY)
def test_after_the_critical_step_nothing_recovers(name):
    bug = BY_ID[name]
    ring = Pastry(system(**bug.parameters))
    last = LIVELY[name](ring)
    assert ring.holds(bug.property) or ring.recoveries(60, 100, bug.property, enough=1)
    assert last() == bug.critical
    assert not ring.holds(bug.property)
    assert ring.recoveries(10, 150, bug.property) == 0


@pytest.mark.parametrize("name", LIVELY)
def test_the_correct_version_recovers_from_the_same_steps(name):
    ring = Pastry(system(**{**BY_ID[name].parameters, "bug": "none"}))
    LIVELY[name](ring)()
    assert ring.recoveries(5, 500) == 5


def test_who_comes_back_is_sent_its_own_request_to_join():
    ring = Pastry(system(**BY_ID["PA-4"].parameters))
    pa_4(ring)()
    ring.get("Join", B, Z)
    ring.get("RowInfo", Z, B)
    assert ring.get("Join", Z, B)
    assert ring[B].phase == "joining"


def test_two_who_come_back_are_both_sent_to_one_of_them():
    ring = Pastry(system(**BY_ID["PA-5"].parameters))
    pa_5(ring)()
    ring.join(A)
    ring.get("Join", A, Z)
    assert ring.get("Join", Z, B)
    ring.join(B)
    ring.get("Join", B, Z)
    ring.get("RowInfo", Z, B)
    assert ring.get("Join", Z, B)
    assert {ring[A].phase, ring[B].phase} == {"joining"}


def test_every_profile_is_in_the_catalogue_and_every_name_is_offered():
    assert set(BY_ID) == set(PROFILES)
    assert get_args(BugName) == ("none", *PROFILES)
    assert set(LIVELY) == {bug.id for bug in BUGS if bug.kind == "liveness"}
    with pytest.raises(UnknownProfile, match="there is no bug `PA-99`; there are none, PA-4"):
        system(bug="PA-99")


@pytest.mark.parametrize(
    ("parameters", "depth"),
    [
        ({"nodes": 2, "resets": 1, "cuts": 1}, 15),
        ({"nodes": 3, "resets": 1, "cuts": 1}, 13),
        ({"nodes": 4, "half": 2, "resets": 2, "cuts": 1}, 12),
        ({"nodes": 3, "crashes": 1}, 13),
    ],
)
def test_the_correct_version_is_clean_as_far_as_all_of_it_can_be_searched(parameters, depth):
    report = check(system(**parameters), depth=depth, liveness="rest", traces=None)
    report.assert_holds(allow_partial=True)


def test_no_state_of_the_correct_version_is_dead_where_queues_are_short():
    report = surveyed(system(nodes=2, queue=2, resets=1, cuts=1, idle_closes=1))
    assert {claim.dead for claim in report.liveness.values()} == {0}
