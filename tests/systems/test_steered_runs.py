"""Scripted live runs of the paper's systems: each breaks without steering, and does not with it."""

from collections import Counter

import pytest
from systems.churned import Churned
from systems.test_live_runs import Cluster, chosen, play
from unit.runtime.ahead import moved, one_token, tokens

from presage.execution.replay import replay
from presage.runtime.foreseeing import SteeredCluster
from presage.runtime.foresight import Foresight
from presage.runtime.merge import merged
from presage.runtime.shaping import Shape
from presage.runtime.steer_options import SteerOptions
from presage.runtime.virtual import VirtualCluster
from presage.systems import mace_paxos, randtree
from presage.systems.mace_paxos import scenario

CHECK = SteerOptions(predicts=False)
WARM = 20.0  # seconds before the scenario, as nodes that have run for a while

# By bug: nodes, degree, whom each knows, seed, seconds between two kills.
RUNS = {
    "CB-RT1": (8, 2, "next", 17, 2.0),
    "CB-RT2": (6, 2, "root", 30, 2.0),
    "CB-RT4": (8, 2, "root", 6, 2.0),
    "CB-RT7": (6, 3, "prev", 1, 3.0),
    "RT-15": (5, 1, "next", 6, 3.0),
    "RT-m3": (5, 1, "root", 0, 3.0),
}


def churned(bug, options=None, foresight=None):
    nodes, degree, peers, seed, every = RUNS[bug]
    system = randtree.system(nodes=nodes, degree=degree, peers=peers, bug=bug, recovery="unclaimed")
    return Churned(system, seed, 60.0, options, foresight and foresight(system), every=every)


@pytest.mark.parametrize("bug", RUNS)
def test_a_tree_under_churn_breaks_without_the_check_and_not_with_it(bug):
    assert churned(bug).preventable
    checked = churned(bug, CHECK)
    assert checked.preventable == Counter()
    counts = checked.counts()
    assert counts["refused"] > 0
    assert counts["rounds"] == counts["filtered"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("bug", RUNS)
def test_a_tree_under_churn_does_not_break_with_predictions_and_the_check(bug):
    with_predictions = []

    def foresight(system):
        with_predictions.append(Foresight(system).__enter__())
        return with_predictions[0]

    options = SteerOptions(deadline=0.05)
    run = churned(bug, options, foresight)
    with_predictions[0].__exit__()
    assert run.preventable == Counter() and run.counts()["rounds"] > 20


@pytest.mark.parametrize("seed", range(3))
def test_a_steered_run_is_one_of_the_model_with_faults(seed):
    system = randtree.system(nodes=5, degree=1, peers="root", bug="RT-m3", recovery="unclaimed")
    run = Churned(system, seed, 40.0, CHECK, silent=0.0)
    assert run.counts()["refused"]
    found = merged(system, run.cluster.logs())
    assert len(replay(found.system, found.trace).steps) == len(found.trace.steps)
    locals_ = found.world.save().locals
    for name, node in run.cluster.states().items():
        live = [node.automaton.codec.decode(value) for value in node.local[1:]]
        world = map(found.system.codec.decode, locals_[found.system.index(name)][1:])
        assert list(world) == live


# -- Paxos -----------------------------------------------------------------------------------


def paxos(bug, gap, options, foresight=None):
    """The scenario after a while; the steering of all processes."""
    system = mace_paxos.system(bug=bug)
    cluster = Cluster(system, shape=Shape(delay=0.065, jitter=0.01))
    steered = SteeredCluster(cluster, foresight and foresight(system), options)
    acts = scenario(gap=gap, reset=bug == "PX-bug2")
    play(cluster, [type(act)(act.at + WARM, act.do, act.args) for act in acts])
    values = set().union(*chosen(cluster).values())
    total = Counter()
    for lookout in steered.every:
        total.update(vars(lookout.steering.counts))
    return values, total


@pytest.mark.parametrize("gap", [0.0, 0.1, 7.5, 20.0])
@pytest.mark.parametrize("bug", ["PX-bug1", "PX-bug2"])
def test_the_check_keeps_paxos_to_one_value_whatever_the_gap(bug, gap):
    values, counts = paxos(bug, gap, CHECK)
    assert values == {0} and counts["refused"] > 0
    assert counts["resets"] == 0  # datagrams are lost, and nothing else is


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["PX-bug1", "PX-bug2"])
def test_a_filter_keeps_paxos_to_one_value_where_the_gap_leaves_time(bug):
    made = []

    def foresight(system):
        made.append(Foresight(system).__enter__())
        return made[0]

    values, counts = paxos(bug, 20.0, SteerOptions(deadline=5.0, checks=False), foresight)
    made[0].__exit__()
    assert len(values) == 1 and counts["installed"] > 0


# -- the liveness guard ----------------------------------------------------------------------


def token_run(*properties):
    system = tokens(properties=properties)
    cluster = VirtualCluster(system, shape=Shape(delay=0.02))
    with Foresight(system) as foresight:
        options = SteerOptions(every=0.4, deadline=5.0, checks=False)
        steered = SteeredCluster(cluster, foresight, options)
        cluster.run(6.0)
    total = Counter()
    for lookout in steered.every:
        total.update(vars(lookout.steering.counts))
    automaton = cluster.automata[1]
    got = automaton.codec.decode(cluster.node("b").local[automaton.positions["got"]])
    return got, total


def test_a_filter_keeps_the_token_where_it_is():
    got, counts = token_run(one_token)
    assert got == 0 and counts["installed"] + counts["handed_over"] > 0


def test_a_filter_that_would_starve_somebody_is_not_put_in_force():
    got, counts = token_run(one_token, moved)
    assert got == 1 and counts["kills_progress"] > 0
    assert counts["installed"] == counts["filtered"] == 0
