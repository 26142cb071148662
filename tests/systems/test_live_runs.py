"""Shipped systems run live, all nodes in one process: what the paper's experiments are made of."""

from collections.abc import Callable

import pytest

from presage.runtime.shaping import Shape
from presage.runtime.virtual import VirtualCluster
from presage.systems import bullet, mace_paxos, randtree
from presage.systems.mace_paxos import NAMES, scenario


class Cluster(VirtualCluster):
    """One that can lose the messages of one class between two nodes."""

    def __init__(self, system, **more):
        super().__init__(system, **more)
        self.lossy = set()

    def throw(self, source, to, frame):
        message = self.automata[0].codec.decode(frame.body)
        if (type(message), source, to) not in self.lossy:
            super().throw(source, to, frame)


def play(cluster: Cluster, acts) -> None:
    """Let what a scenario says happen when it says so."""

    def all_others(do: Callable[[str, str], None], node: str) -> None:
        for other in cluster.system.names:
            if other != node:
                do(node, other)

    commands = {
        "cut": lambda node: all_others(cluster.cut, node),
        "heal": lambda node: all_others(cluster.heal, node),
        "lose": lambda *what: cluster.lossy.add(what),
        "keep": lambda *what: cluster.lossy.discard(what),
        "call": cluster.call,
        "kill": cluster.kill,
        "start": cluster.start,
    }
    for act in acts:
        cluster.run(act.at)
        commands[act.do](*act.args)
    cluster.run(cluster.now + mace_paxos.ROUND)


def chosen(cluster):
    at = cluster.automata[0].positions["chosen"]
    decode = cluster.automata[0].codec.decode
    return {name: set(decode(cluster.node(name).local[at])) for name in NAMES}


@pytest.mark.parametrize("gap", [0, 7.5, 20])
@pytest.mark.parametrize(("bug", "reset"), [("PX-bug1", False), ("PX-bug2", True)])
def test_the_scenario_breaks_the_paxos_of_the_paper_live(bug, reset, gap):
    cluster = Cluster(mace_paxos.system(bug=bug), shape=Shape(delay=0.065, jitter=0.01))
    play(cluster, scenario(gap=gap, reset=reset))
    assert chosen(cluster) == {"a": {0}, "b": {1}, "c": {1}}


@pytest.mark.parametrize("reset", [False, True])
def test_the_scenario_is_harmless_live_where_nothing_is_missing(reset):
    cluster = Cluster(mace_paxos.system(), shape=Shape(delay=0.065, jitter=0.01))
    play(cluster, scenario(gap=7.5, reset=reset))
    assert chosen(cluster) == {"a": {0}, "b": {0}, "c": {0}}


@pytest.mark.parametrize("keep", [True, False])
def test_bullet_spreads_a_file_live(keep):
    parameters = {"nodes": 8, "blocks": 24, "size": 500, "children": 3, "limit": 4, "window": 3}
    target = bullet.system(**parameters, queue=4, keep=keep)
    cluster = VirtualCluster(target, shape=Shape(delay=0.065, jitter=0.01))
    cluster.run(120)
    file = {block: bytes([block]) * 500 for block in range(24)}
    for automaton in cluster.automata:
        local = [automaton.codec.decode(value) for value in cluster.node(automaton.name).local]
        assert local[automaton.positions["have"]] == (1 << 24) - 1
        assert local[automaton.positions["contents"]] == (file if keep else {})


def test_a_tree_forms_live_by_the_delays_of_its_timers():
    cluster = VirtualCluster(randtree.system(nodes=10, degree=3), shape=Shape(delay=0.065))
    cluster.run(300)
    at = cluster.automata[0].positions
    locals_ = {
        name: [cluster.automata[0].codec.decode(value) for value in node.local]
        for name, node in cluster.states().items()
    }
    assert {local[at["phase"]] for local in locals_.values()} == {"joined"}
    assert {local[at["root"]] for local in locals_.values()} == {"n0"}
    assert (
        set(cluster.node("n0").automaton.neighbours(locals_["n0"])) == locals_["n0"][at["children"]]
    )
