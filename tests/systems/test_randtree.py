"""RandTree: each historic bug by its scenario, and the same steps without the bug."""

from typing import get_args

import pytest
from systems.driving import Story

from presage import check
from presage.systems.catalogue import UnknownProfile
from presage.systems.randtree import BugName, system
from presage.systems.randtree.bugs import BUGS, PROFILES

BY_ID = {bug.id: bug for bug in BUGS}
STEPS = 200


class Grove(Story):
    """Nodes that join, one message after the other."""

    def join(self, node):
        return self.do("action", node, "join_overlay")

    def get(self, what, source, node, choices=()):
        return self.do("receive", node, f"{what} {source} -> ", choices=choices)

    def talk(self, *messages):
        """`what source node` each: messages that are received, in order."""
        for message in messages:
            self.get(*message.split())

    def fire(self, timer, node):
        return self.do("timer", node, timer)

    def calm_down(self):
        """Everything under way is received, in the order of the nodes."""
        while ready := [event for event in self.world.enabled() if event.kind == "receive"]:
            self.world.apply(ready[0], self.world.runs(ready[0])[0])

    def live(self, walks, claim=None, enough=None):
        return self.recoveries(walks, STEPS, claim, (), enough)


# Each plays all but the last step, and gives that as a function.


def rt_timer(grove):
    grove.join("n1")
    grove.get("Join", "n1", "n0")  # which has not joined, and ignores it
    grove.join("n0")
    grove.join("n2")
    return lambda: grove.get("Join", "n2", "n1")


def far_child(grove):
    """n0 takes n2, which n3 has sent to it; and n2 is reset before it hears of that."""
    grove.join("n0")
    grove.join("n3")
    grove.talk("Join n3 n0", "JoinReply n0 n3")
    grove.join("n2")
    grove.talk("Join n2 n3", "Join n3 n0")
    grove.do("reset", "n2")


def rt_init(grove):
    far_child(grove)
    return lambda: grove.get("JoinReply", "n0", "n2")


def rt_m1(grove):
    far_child(grove)
    grove.talk("JoinReply n0 n2")
    grove.join("n2")
    grove.talk("UpdateSiblings n0 n2", "UpdateSiblings n0 n3")
    grove.do("broken", "n3")
    grove.talk("Join n2 n3", "Join n3 n0", "JoinReply n0 n2")
    return lambda: grove.get("Remove", "n2", "n0")


def rt_10(grove):
    grove.join("n3")
    grove.get("Join", "n3", "n0")
    grove.join("n2")
    grove.talk("Join n2 n3", "JoinReply n3 n2", "Join n3 n2")
    grove.join("n0")
    grove.fire("join", "n3")
    grove.talk("Join n3 n0", "JoinReply n0 n3", "JoinReply n2 n3")
    grove.get("Join", "n0", "n1")
    grove.join("n1")
    grove.talk("Join n1 n2", "JoinReply n2 n1", "Join n2 n1")
    return lambda: grove.get("Remove", "n3", "n2")


def rt_15(grove):
    grove.join("n0")
    grove.get("Join", "n0", "n1")
    grove.join("n2")
    grove.talk("Join n2 n0", "JoinReply n0 n2", "UpdateSiblings n0 n2")
    grove.join("n1")
    grove.talk("Join n1 n2", "Join n2 n0", "Join n0 n2", "JoinReply n2 n1")
    grove.do("reset", "n2")
    grove.do("broken", "n1")
    grove.join("n2")
    grove.fire("join", "n1")
    grove.get("Join", "n1", "n2")
    return lambda: grove.get("JoinReply", "n2", "n1")


def chain_of_two(grove):
    """n2 is a child of n1; n0 has not joined, and ignored n2."""
    grove.join("n2")
    grove.get("Join", "n2", "n0")
    grove.join("n1")
    grove.talk("Join n1 n2", "JoinReply n2 n1", "Join n2 n1", "JoinReply n1 n2")
    grove.get("UpdateSiblings", "n1", "n2")


def cb_rt1(grove):
    chain_of_two(grove)
    grove.join("n0")
    grove.talk("Join n0 n1", "JoinReply n1 n0", "Join n1 n0", "JoinReply n0 n1")
    grove.talk("UpdateSiblings n0 n1", "NewRoot n1 n2")
    grove.do("silent", "n2")
    grove.join("n2")
    grove.get("Join", "n2", "n0")
    return lambda: grove.get("UpdateSiblings", "n0", "n1")


def cb_rt2(grove):
    chain_of_two(grove)
    grove.do("silent", "n2")
    grove.join("n0")
    grove.join("n2")
    grove.talk("Join n2 n0", "Join n0 n1", "JoinReply n1 n0", "Join n1 n0")
    return lambda: grove.get("JoinReply", "n0", "n1")


def cb_rt4(grove):
    grove.join("n0")
    for node in ("n1", "n5"):
        grove.join(node)
        grove.calm_down()
    for node in ("n2", "n3"):  # passed down to n1
        grove.join(node)
        grove.calm_down()
    grove.do("reset", "n2")
    grove.do("broken", "n0")
    grove.do("broken", "n1")
    grove.join("n4")
    grove.calm_down()
    grove.join("n2")
    grove.get("Join", "n2", "n0", choices=(0,))
    grove.get("Join", "n0", "n1", choices=(0,))
    return lambda: grove.get("Join", "n1", "n3")


def cb_rt5(grove):
    grove.join("n1")
    grove.join("n0")
    return lambda: grove.get("Join", "n0", "n1")


def cb_rt6(grove):
    grove.join("n3")
    grove.join("n2")
    grove.talk("Join n2 n3", "JoinReply n3 n2", "Join n3 n2", "JoinReply n2 n3")
    grove.join("n0")
    grove.talk("Join n0 n1", "Join n3 n0", "UpdateSiblings n2 n3", "JoinReply n0 n3")
    grove.get("Remove", "n3", "n0")
    grove.fire("recovery", "n3")
    grove.calm_down()  # n2 learns of n0, and joins it
    grove.join("n1")
    grove.calm_down()  # it is passed down to n3
    grove.do("reset", "n0")
    grove.do("broken", "n2")
    grove.calm_down()
    grove.do("silent", "n1")
    grove.join("n1")
    grove.talk("Join n1 n2", "JoinReply n2 n1", "Join n2 n1", "JoinReply n1 n2")
    return lambda: grove.get("NewRoot", "n2", "n3")


def cb_rt7(grove):
    for node in ("n0", "n1", "n2"):
        grove.join(node)
        grove.calm_down()
    grove.do("reset", "n0")
    grove.do("reset", "n1")
    grove.do("broken", "n2", "connection to n0")
    grove.join("n3")
    return lambda: grove.get("Join", "n3", "n2")


def rt_m2(grove):
    grove.join("n2")
    grove.join("n1")
    grove.talk("Join n1 n2", "JoinReply n2 n1", "Join n2 n1", "JoinReply n1 n2")
    grove.join("n0")
    grove.talk("Join n2 n0", "Join n0 n1", "JoinReply n1 n0")
    return lambda: grove.get("Join", "n1", "n0")


def rt_m3(grove):
    for node in ("n0", "n1"):
        grove.join(node)
        grove.calm_down()
    grove.join("n2")
    return lambda: grove.get("Join", "n2", "n0")


SCENARIOS = {
    "RT-init": rt_init,
    "RT-timer": rt_timer,
    "RT-timer-safety": lambda grove: lambda: grove.join("n0"),
    "RT-10": rt_10,
    "RT-15": rt_15,
    "CB-RT1": cb_rt1,
    "CB-RT2": cb_rt2,
    "CB-RT4": cb_rt4,
    "CB-RT5": cb_rt5,
    "CB-RT6": cb_rt6,
    "CB-RT7": cb_rt7,
    "RT-m1": rt_m1,
    "RT-m2": rt_m2,
    "RT-m3": rt_m3,
}
SAFETY = [name for name in SCENARIOS if BY_ID[name].kind == "safety"]
LIVENESS = [name for name in SCENARIOS if BY_ID[name].kind == "liveness"]


@pytest.mark.parametrize("name", SAFETY)
def test_a_safety_bug_is_seen_after_its_last_step_and_not_before(name):
    bug = BY_ID[name]
    grove = Grove(system(**bug.parameters))
    last = SCENARIOS[name](grove)
    assert grove.broken() is None
    assert last() == bug.critical
    assert grove.broken() == bug.property


@pytest.mark.parametrize("name", LIVENESS)
def test_nothing_recovers_after_the_critical_transition_and_something_does_before(name):
    bug = BY_ID[name]
    grove = Grove(system(**bug.parameters))
    last = SCENARIOS[name](grove)
    # Before RT-m1's last step all is well, and yet that step cannot be escaped.
    assert grove.live(60, bug.property if name == "RT-m1" else None, enough=1)
    assert last() == bug.critical
    assert grove.live(20, bug.property) == 0


@pytest.mark.parametrize("name", SCENARIOS)
def test_without_the_bug_the_same_steps_lead_to_a_state_that_recovers(name):
    grove = Grove(system(**(dict(BY_ID[name].parameters) | {"bug": "none"})), lenient=True)
    SCENARIOS[name](grove)()
    assert grove.broken() is None
    assert grove.live(10) == 10


@pytest.mark.parametrize(
    ("parameters", "depth"),
    [
        ({}, 15),
        ({"nodes": 4, "degree": 3, "resets": 1}, 12),
        ({"silent": 1, "cuts": 1}, 12),
        ({"peers": "prev", "resets": 1}, 16),
    ],
)
def test_the_correct_tree_is_safe_to_a_stated_depth(parameters, depth):
    report = check(system(**parameters), depth=depth, liveness="rest")
    assert not report.violations and report.depth == depth


def test_every_profile_can_be_named_and_others_are_refused_with_a_list():
    assert get_args(BugName) == ("none", *PROFILES)
    assert {bug.parameters["bug"] for bug in BUGS} == set(PROFILES)
    with pytest.raises(UnknownProfile, match="there are none, RT-init, RT-timer"):
        system(bug="RT-2")


def test_every_bug_has_a_scenario_and_names_a_property_of_its_system():
    assert set(SCENARIOS) == set(BY_ID)
    for bug in BUGS:
        names = {claim.name for claim in system(**bug.parameters).properties}
        assert bug.property in names | {"no_exception"}, bug.id
