"""Steering on a virtual clock: the same run with it and without."""

import pytest
from unit.runtime.ahead import Holder, Manager, one_token
from unit.runtime.steered import Scripted, seen, talkers

from presage import System
from presage.execution.replay import replay
from presage.model.world.filters import Filter
from presage.runtime.foreseeing import SteeredCluster
from presage.runtime.foresight import Foresight
from presage.runtime.merge import merged
from presage.runtime.shaping import Shape
from presage.runtime.steer_options import SteerOptions
from presage.runtime.virtual import VirtualCluster

ALL = ("a", "b", "m")


class Acquainted(Holder):
    def neighbours(self):
        return ALL


class AcquaintedManager(Manager):
    def neighbours(self):
        return ALL


def greedy_system():
    nodes = {"a": Acquainted(greedy=True, holds=True), "b": Acquainted(), "m": AcquaintedManager()}
    return System(nodes, properties=[one_token])


@pytest.mark.parametrize(("mode", "holders"), [("off", 2), ("watch", 2), ("on", 1)])
def test_only_steering_keeps_out_of_what_is_ahead(mode, holders):
    system = greedy_system()
    cluster = VirtualCluster(system, seed=1)
    with Foresight(system) as foresight:
        steered = SteeredCluster(cluster, foresight, SteerOptions(mode=mode, every=0.3))
        cluster.run(5.0)
    states = [cluster.node(name) for name in ("a", "b")]
    places = [node.automaton.positions["holds"] for node in states]
    held = [
        node.automaton.codec.decode(node.local[at]) for node, at in zip(states, places, strict=True)
    ]
    assert sum(held) == holders
    counts = [each.steering.counts for each in steered.every]
    assert any(each.predicted for each in counts) == (mode != "off")
    assert any(each.refused or each.filtered for each in counts) == (mode == "on")


def bounded_run(seed):
    system = greedy_system()
    cluster = VirtualCluster(system, seed=seed, logged=True)
    with Foresight(system, kernels=10, states=20) as foresight:
        options = SteerOptions(mode="on", every=0.3, deadline=60.0, checks=False)
        steered = SteeredCluster(cluster, foresight, options)
        cluster.run(5.0)
    return cluster.logs(), [vars(lookout.steering.counts) for lookout in steered.every]


@pytest.mark.parametrize("seed", [1, 2])
def test_predictions_that_are_bounded_by_states_make_one_run_of_one_seed(seed):
    logs, counts = bounded_run(seed)
    assert sum(each["installed"] for each in counts) > 0
    assert sum(each["filtered"] for each in counts) > 0
    assert bounded_run(seed) == (logs, counts)


@pytest.mark.parametrize(("who", "at"), [("b", 9.8), ("b", 9.9), ("a", 9.85), ("b", 10.1)])
def test_the_end_of_a_node_while_a_path_is_handed_over_costs_that_path_at_most(who, at):
    system, chosen = talkers(), Filter("b", "deliver", "Data", "a")
    cluster = VirtualCluster(system, shape=Shape(delay=0.05), logged=True)
    answers = [seen(system, "handed over", chosen) for _ in range(2)]
    foresight = Scripted(a=answers, b=[seen(system, "filter", chosen)])
    steered = SteeredCluster(cluster, foresight, SteerOptions(round_trip=0.1))
    for time in (at, at + 20):  # the first rounds of `a` end at 9.8 s, and at 29.8 s if it lives
        cluster.at(time, lambda: cluster.kill(who))
        cluster.at(time + 0.3, lambda: cluster.start(who))
    cluster.run(60.0)
    assert sum(each.steering.counts.handed_over for each in steered.every) == 2
    assert sum(each.steering.counts.taken_over for each in steered.every) <= 2
    assert not any(each._handed for each in steered.lookouts.values())
    assert min(map(len, foresight.questions.values())) >= 5  # rounds go on
    run = merged(system, cluster.logs())
    assert len(replay(run.system, run.trace).steps) == len(run.trace.steps)
