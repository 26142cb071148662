"""Chord: each historic bug, by its shortest trace or its story, and the same without the bug."""

from typing import get_args

import pytest
from systems.rings import Ring, surveyed

from presage import check
from presage.systems.catalogue import C2, UnknownProfile
from presage.systems.chord import BugName, system
from presage.systems.chord.bugs import BUGS, PROFILES

BY_ID = {bug.id: bug for bug in BUGS}
A, B, C, D = "n1", "n5", "n9", "n14"


class Chord(Ring):
    def join(self, node, via):
        return self.do("action", node, f"join('{via}')")

    def enter(self, node, via):
        """`node` joins through `via`, which comes before it."""
        self.join(node, via)
        self.get("FindPred", node, via)
        return self.get("FindPredReply", via, node)

    def two(self):
        self.join(A, A)
        self.enter(B, A)
        self.get("UpdatePred", B, A)


# Each plays all but the critical step, and gives that as a function.


def ch_2(ring):
    ring.join(A, A)
    ring.enter(B, A)
    ring.enter(C, B)
    return lambda: ring.get("UpdatePred", B, A)


def ch_8(ring):
    ring.two()
    ring.do("silent", B)
    ring.join(B, A)
    ring.get("FindPred", B, A)
    return lambda: ring.get("FindPredReply", A, B)


def ch_13(ring):
    ring.settle()
    return lambda: ring.do("reset", A)


def ch_1132(ring):
    ring.two()
    ring.do("crash", B)
    return lambda: ring.lose(A, B)


def ch_rec(ring):
    ring.two()
    ring.do("cut", A, f"{A} - {B}")
    return lambda: ring.lose(A, B)


def cb_ch1(ring):
    ring.settle()
    ring.do("idle", A, f"close {A} - {C}")
    ring.do("reset", B)
    ring.lose(A, B)
    ring.do("reset", C)
    ring.enter(C, A)
    ring.do("cut", A, f"{A} - {C}")
    ring.lose(C, A)
    return lambda: ring.get("UpdatePred", C, C)


def ch_z1(ring):
    ring.settle()
    ring.do("crash", C)
    ring.lose(A, C)
    ring.do("timer", A, "stabilize")
    return lambda: ring.get("GetPred", A, B)


def ch_z2(ring):
    ring.join(A, A)
    for node in (B, D):
        ring.join(node, A)
        ring.drain()
    ring.join(C, A)
    ring.get("FindPred", C, A)
    ring.get("FindPred", A, B)
    ring.get("FindPredReply", B, C)
    ring.do("crash", B)
    ring.lose(C, B)
    return lambda: ring.do("crash", D)


LIVELY = {"CH-2": ch_2, "CH-8": ch_8, "CH-13": ch_13, "CH-1132": ch_1132}
LIVELY |= {"CH-rec": ch_rec, "CH-Z1": ch_z1, "CH-Z2": ch_z2}


@pytest.mark.parametrize("name", LIVELY)
def test_after_the_critical_step_nothing_recovers(name):
    bug = BY_ID[name]
    ring = Chord(system(**bug.parameters))
    last = LIVELY[name](ring)
    assert ring.holds(bug.property) or ring.recoveries(60, 100, bug.property, enough=1)
    assert last() in bug.expected
    assert not ring.holds(bug.property)
    assert ring.recoveries(15, 120, bug.property) == 0


@pytest.mark.parametrize("name", LIVELY)
def test_the_correct_version_recovers_from_the_same_steps(name):
    ring = Chord(system(**{**BY_ID[name].parameters, "bug": "none"}))
    LIVELY[name](ring)()
    assert ring.recoveries(5, 500) == 5


def test_a_node_that_tells_itself_of_itself_is_its_own_predecessor_among_others():
    bug = BY_ID["CB-CH1"]
    ring = Chord(system(**bug.parameters))
    last = cb_ch1(ring)
    assert ring.broken() is None
    assert (last(), ring.broken()) == (bug.critical, bug.property)
    assert (ring[C].pred, ring[C].successor) == (C, D)


def test_without_telling_itself_it_waits_for_a_predecessor():
    ring = Chord(system(**{**BY_ID["CB-CH1"].parameters, "bug": "none"}))
    with pytest.raises(AssertionError, match=f"UpdatePred {C} -> {C}' at {C} is not among"):
        cb_ch1(ring)()
    assert (ring[C].pred, ring.broken()) == (None, None)
    assert ring.recoveries(5, 500) == 5


def test_who_began_the_ring_is_never_part_of_it_if_it_does_not_learn_of_its_predecessor():
    """Nothing ever recovers, so no step is critical: the paper reports (0, C2)."""
    bug = BY_ID["CH-succ"]
    assert bug.critical == C2
    ring = Chord(system(**bug.parameters))
    assert ring.recoveries(20, 100, bug.property) == 0
    ring.two()
    assert (ring[A].pred, ring[A].successor) == (B, A)
    assert Chord(system(era="2006")).recoveries(20, 100) == 20


def test_every_profile_is_in_the_catalogue_and_every_name_is_offered():
    assert set(BY_ID) == set(PROFILES)
    assert get_args(BugName) == ("none", *PROFILES)
    assert {*LIVELY, "CH-succ"} == {bug.id for bug in BUGS if bug.kind == "liveness"}
    with pytest.raises(UnknownProfile, match="there is no bug `CH-99`; there are none, CH-succ"):
        system(bug="CH-99")


@pytest.mark.parametrize(
    ("parameters", "depth"),
    [
        ({"nodes": 2, "resets": 1, "cuts": 1}, 15),
        ({"nodes": 3, "resets": 1, "cuts": 1}, 13),
        ({"nodes": 4, "resets": 2, "cuts": 1}, 11),
        ({"nodes": 3, "era": "2006"}, 14),
        ({"nodes": 3, "era": "2017", "crashes": 1}, 13),
    ],
)
def test_the_correct_version_is_clean_as_far_as_all_of_it_can_be_searched(parameters, depth):
    report = check(system(**parameters), depth=depth, liveness="rest", traces=None)
    report.assert_holds(allow_partial=True)


@pytest.mark.parametrize(
    "parameters",
    [
        {"nodes": 2, "resets": 1, "silent_resets": 1, "cuts": 1, "idle_closes": 1},
        {"nodes": 3, "era": "2006"},
        {"nodes": 2, "era": "2017", "crashes": 1, "cuts": 1, "idle_closes": 1},
    ],
)
def test_no_state_of_the_correct_version_is_dead_where_queues_are_short(parameters):
    report = surveyed(system(**parameters, queue=1))
    assert {claim.dead for claim in report.liveness.values()} == {0}


def test_where_queues_are_short_every_state_is_dead_or_the_critical_step_exact():
    nowhere = surveyed(system(bug="CH-succ", era="2006", queue=1))
    assert nowhere.liveness["all_nodes"].live == 0
    bug = BY_ID["CH-1132"]
    lost = surveyed(system(**bug.parameters, queue=1))
    [found] = [each for each in lost.violations if each.prop == bug.property]
    assert found.dead and found.trace.steps[found.critical - 1].label == bug.critical
