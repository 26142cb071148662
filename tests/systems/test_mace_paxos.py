"""Paxos in which every node learns: the scenario of the paper, its two bugs, and neither mended."""

from typing import get_args

import pytest

from presage import Call, Faults, System, World, check
from presage.search.predict import predict
from presage.systems.catalogue import UnknownProfile
from presage.systems.mace_paxos import NAMES, ROUND, BugName, scenario, system
from presage.systems.mace_paxos.bugs import BUGS, PROFILES
from presage.systems.mace_paxos.messages import Learn
from presage.systems.mace_paxos.service import Paxos


class Driver:
    """Drives a world through a scenario: between two moments, whatever can arrive does."""

    def __init__(self, target, acts):
        self.world = World.initial(target)
        self.apart, self.lossy, self.lost = set(), set(), []
        self.steps = []
        moments = sorted({act.at for act in acts})
        for moment in moments:
            for act in acts:
                if act.at == moment:
                    getattr(self, act.do)(*act.args)
                    self.settle()

    def settle(self):
        while mail := [event for event in self.world.enabled() if self.arrives(event)]:
            self.apply(mail[0])

    def arrives(self, event):
        if event.kind != "deliver" or event in self.lost:
            return False
        lossy = (type(event.message), event.source, event.node) in self.lossy
        if lossy or {event.source, event.node} & self.apart:
            self.lost.append(event)
            return False
        return True

    def apply(self, event):
        self.world.apply(event)
        self.steps.append(f"{event.kind} {event}")

    def happen(self, kind, node):
        [event] = [e for e in self.world.enabled() if (e.kind, e.node) == (kind, node)]
        self.apply(event)

    def cut(self, node):
        self.apart.add(node)

    def heal(self, node):
        self.apart.discard(node)

    def lose(self, *what):
        self.lossy.add(what)

    def keep(self, *what):
        self.lossy.discard(what)

    def kill(self, node):
        self.happen("crash", node)

    def start(self, node):
        self.happen("restart", node)

    def call(self, node, method, value):
        assert (method, value) == ("propose", NAMES.index(node))
        self.happen("call", node)


def driven(bug, reset):
    return Driver(system(bug=bug, crashes=int(reset)), scenario(gap=7, reset=reset))


def chosen(driver):
    view = driver.world.view()
    return {name: set(view[name].chosen) for name in NAMES}


@pytest.mark.parametrize(("bug", "reset"), [("PX-bug1", False), ("PX-bug2", True)])
def test_the_scenario_of_the_paper_breaks_the_two_bugs_by_the_last_learn(bug, reset):
    driver = driven(bug, reset)
    assert chosen(driver) == {"a": {0}, "b": {1}, "c": {1}}
    assert driver.steps[-1] == "deliver Learn c -> b"


@pytest.mark.parametrize("reset", [False, True])
def test_the_scenario_of_the_paper_is_harmless_where_nothing_is_missing(reset):
    assert chosen(driven("none", reset)) == {"a": {0}, "b": {0}, "c": {0}}


def between_rounds(bug, reset):
    """The system, and the world as it is when `c` is connected again."""
    target = system(bug=bug, crashes=int(reset))
    first = [act for act in scenario(gap=7, reset=reset) if act.at <= ROUND]
    return target, Driver(target, first).world


@pytest.mark.parametrize(("bug", "reset"), [("PX-bug1", False), ("PX-bug2", True)])
def test_the_violation_is_predicted_between_the_rounds(bug, reset):
    target, world = between_rounds(bug, reset)
    prediction = predict(target, world.save(), seconds=60)
    assert prediction.path.prop.name == "one_value"
    assert prediction.found_by in ("k = 1", "k = 2", "no bound")
    assert str(prediction.path.steps[-1].event).startswith(("Learn", "Accept"))


@pytest.mark.parametrize("reset", [False, True])
def test_nothing_is_predicted_between_the_rounds_where_nothing_is_missing(reset):
    target, world = between_rounds("none", reset)
    prediction = predict(target, world.save(), seconds=60, faults=Faults())
    assert (prediction.path, prediction.exhausted) == (None, True)


class ForgetsPromise(Paxos):
    promised: int = 0


def test_losing_the_promise_alone_does_not_break_the_scenario():
    target = System(
        {name: ForgetsPromise(members=NAMES) for name in NAMES},
        faults=Faults(crash=1, restart=1),
        calls={"a": [Call("propose", 0)], "b": [Call("propose", 1)]},
    )
    driver = Driver(target, scenario(gap=7, reset=True))
    assert chosen(driver) == {"a": {0}, "b": {0}, "c": {0}}


def test_a_scenario_is_told_by_moments_and_has_the_gap_it_is_given():
    acts = scenario(gap=20, reset=True)
    assert [act.at for act in acts] == sorted(act.at for act in acts)
    assert [act.at for act in acts if act.do == "call"] == [0, ROUND + 20]
    assert [act.do for act in acts if act.do in ("kill", "start")] == ["kill", "start"]
    assert ("lose", (Learn, "a", "b")) in [(act.do, act.args) for act in acts]


def test_two_proposers_agree_whatever_happens():
    report = check(system())
    assert report.exhausted
    assert report.unique == 329_963
    report.assert_holds()


@pytest.mark.slow
def test_one_proposer_that_tries_again_agrees_with_itself_across_crashes():
    report = check(system(proposers=1, crashes=1, retries=1), states=3_000_000)
    assert not report.violations


@pytest.mark.slow
def test_acceptances_of_several_rounds_are_not_a_majority():
    target = system(bug="PX-learn", retries=1)
    [found] = check(target, search="hunt", walks=2**32 - 1, seconds=300).violations
    assert found.prop == "one_value"


def test_every_profile_can_be_asked_for_and_is_shown_by_a_bug():
    assert {bug.parameters["bug"] for bug in BUGS} == set(PROFILES)
    assert set(get_args(BugName)) == {"none", *PROFILES}
    with pytest.raises(UnknownProfile, match="PX-bug1"):
        system(bug="PX-bug9")
