"""Steering on a virtual clock: the same run with it and without."""

import pytest
from unit.runtime.ahead import Holder, Manager, one_token

from presage import System
from presage.runtime.foreseeing import SteeredCluster
from presage.runtime.foresight import Foresight
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
