"""MaceTransport: each historic bug by its scenario, and the same steps without the bug."""

from typing import get_args

import pytest
from systems.driving import Story

from presage import check
from presage.systems.catalogue import C2, UnknownProfile
from presage.systems.mace_transport import BugName, system
from presage.systems.mace_transport.bugs import BUGS, PROFILES

LIKELY = ("retransmit",)  # in calm times nothing takes too long
BY_ID = {bug.id: bug for bug in BUGS}


class Talk(Story):
    """n0 talks to n1."""

    def submit(self, times=1):
        for _ in range(times):
            self.do("action", "n0", "submit('n1')")

    def data(self, seq):
        return self.do("deliver", "n1", "Data", lambda data: data.piece.seq == seq)

    def ack(self, seq):
        return self.do("deliver", "n0", "Ack", lambda ack: ack.seq == seq)

    def refuse(self, seq):
        return self.do("deliver", "n0", "Reset", lambda reset: reset.seq == seq)

    def late(self, seq):
        return self.do("timer", "n0", f"retransmit('n1', {seq}", choices=(0,))

    def too_late(self, seq):
        return self.do("timer", "n0", f"retransmit('n1', {seq}", choices=(1,))

    def opened(self, items):
        """The first of `items` has arrived; the next two are in flight."""
        self.submit(items)
        self.data(1001)
        self.ack(1001)

    def live(self, walks, claim=None, steps=60, enough=None):
        return self.recoveries(walks, steps, claim, LIKELY, enough)


# Each plays all but the last step, and gives that as a function.


def mt_1(talk):
    talk.submit()
    talk.late(1001)
    talk.data(1001)
    return lambda: talk.data(1001)


def mt_1_plain(talk):
    talk.submit(3)
    talk.late(1001)
    talk.data(1001)
    talk.ack(1001)
    talk.data(1002)
    talk.ack(1002)
    return lambda: talk.data(1001)


def mt_2(talk):
    talk.opened(3)
    return lambda: talk.too_late(1002)


def mt_3(talk):
    talk.submit()
    talk.too_late(1001)
    talk.submit(2)
    talk.data(3001)
    talk.data(1001)
    return lambda: talk.ack(3001)


def mt_3_strict(talk):
    talk.submit()
    talk.too_late(1001)
    talk.submit()
    talk.data(3001)
    return lambda: talk.data(1001)


def mt_4(talk):
    talk.opened(3)
    talk.data(1003)
    talk.late(1003)
    talk.data(1002)
    talk.ack(1002)
    return lambda: talk.data(1003)


def mt_5(talk):
    talk.submit(2)
    talk.data(1001)
    talk.late(1001)
    talk.data(1001)
    talk.ack(1001)
    talk.do("drop", "n1", "Data", lambda data: data.piece.seq == 1002)
    return lambda: talk.ack(1002)


def mt_6(talk):
    talk.opened(3)
    talk.data(1003)
    talk.data(1002)
    talk.late(1003)
    return lambda: talk.ack(1003)


def mt_7(talk):
    talk.opened(3)
    talk.do("reset", "n1")
    talk.data(1002)
    talk.data(1003)
    talk.refuse(1002)
    talk.submit()
    return lambda: talk.refuse(1003)


def mt_8(talk):
    talk.opened(1)
    talk.data(1003)
    talk.late(1003)
    talk.ack(1001)
    talk.data(1003)
    return lambda: talk.data(1002)


def mt_10(talk):
    talk.opened(3)
    talk.too_late(1002)
    for seq in (3001, 3002):
        talk.submit()
        talk.data(seq)
        talk.ack(seq)
    talk.submit()
    return lambda: talk.do("timer", "n0", "cleared")


def mt_11(talk):
    last = mt_1_plain(talk)
    talk.do("reset", "n1")
    return last


def mt_12(talk):
    talk.opened(5)
    for seq in (1003, 1004):
        talk.data(seq)
        talk.ack(1001)
    talk.data(1005)
    return lambda: talk.ack(1001)


SCENARIOS = {
    "MT-1": mt_1,
    "MT-1-plain": mt_1_plain,
    "MT-2": mt_2,
    "MT-3": mt_3,
    "MT-3-strict": mt_3_strict,
    "MT-4": mt_4,
    "MT-5": mt_5,
    "MT-6": mt_6,
    "MT-7": mt_7,
    "MT-8": mt_8,
    "MT-10": mt_10,
    "MT-11": mt_11,
    "MT-12": mt_12,
}
SAFETY = [name for name in SCENARIOS if BY_ID[name].kind == "safety"]
LIVENESS = [name for name in SCENARIOS if BY_ID[name].kind == "liveness"]


@pytest.mark.parametrize("name", SAFETY)
def test_a_safety_bug_is_seen_after_its_last_step_and_not_before(name):
    bug = BY_ID[name]
    talk = Talk(system(**bug.parameters))
    last = SCENARIOS[name](talk)
    assert talk.broken() is None
    assert last() == bug.critical
    assert talk.broken() == bug.property


@pytest.mark.parametrize("name", LIVENESS)
def test_nothing_recovers_after_the_critical_transition_and_something_does_before(name):
    bug = BY_ID[name]
    talk = Talk(system(**bug.parameters))
    last = SCENARIOS[name](talk)
    assert talk.live(60, enough=1)
    assert last() == bug.critical
    assert talk.live(40, bug.property) == 0


@pytest.mark.parametrize("name", SCENARIOS)
def test_without_the_bug_the_same_steps_lead_to_a_state_that_recovers(name):
    talk = Talk(system(**(dict(BY_ID[name].parameters) | {"bug": "none"})), lenient=True)
    SCENARIOS[name](talk)()
    assert talk.broken() is None
    assert talk.live(20, steps=200) == 20


def crossing(bug):
    """Both ends give up twice, and open anew."""
    story = Story(system(**(dict(BY_ID["MT-13"].parameters) | {"bug": bug})))
    for _ in range(2):
        for node, peer in (("n0", "n1"), ("n1", "n0")):
            story.do("action", node, "submit")
            seq = story[node].out[peer].inflight[0].seq
            story.do("timer", node, f"retransmit('{peer}', {seq}", choices=(1,))
    for node in ("n0", "n1"):
        story.do("action", node, "submit")
    return story


@pytest.mark.slow
def test_two_connections_that_undo_each_other_recover_seldom_but_can():
    assert BY_ID["MT-13"].critical == C2
    assert crossing("none").recoveries(20, 100, None, LIKELY) == 20
    early = crossing("MT-13").recoveries(20, 100, None, LIKELY)
    late = crossing("MT-13").recoveries(20, 400, None, LIKELY)
    assert early < late < 10


@pytest.mark.parametrize(
    ("parameters", "depth"),
    [
        ({}, 16),
        ({"messages": 3, "driver": "strict", "drops": 1}, 15),
        ({"messages": 2, "driver": "strict", "resets": 1, "traffic": "both"}, 11),
        ({"messages": 2, "fragments": 2, "paced": True, "drops": 1}, 15),
    ],
)
def test_the_correct_transport_is_safe_to_a_stated_depth(parameters, depth):
    report = check(system(**parameters), depth=depth, liveness="rest")
    assert not report.violations and report.depth == depth


def test_every_profile_can_be_named_and_others_are_refused_with_a_list():
    assert get_args(BugName) == ("none", *PROFILES)
    assert {bug.parameters["bug"] for bug in BUGS} == set(PROFILES)
    with pytest.raises(UnknownProfile, match="there are none, MT-1, MT-2"):
        system(bug="MT-9")


def test_every_bug_names_a_property_of_its_system():
    for bug in BUGS:
        names = {claim.name for claim in system(**bug.parameters).properties}
        assert bug.property in names | {"no_exception"}, bug.id
