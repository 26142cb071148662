"""Live nodes mean what the model means.

Random systems run live, on a virtual clock and a network that loses and breaks; every step equals
`Automaton.step` (compared while they run). The logs of all nodes, merged, replay on a `World`.
"""

import random

import pytest
from reference.batches import batches
from reference.live_runs import failed, live_run
from reference.random_features import featured_system
from reference.random_streams import linked_system, streamed_system
from reference.random_systems import random_system

from presage.errors import LogsDiffer
from presage.execution.replay import replay
from presage.runtime.log import Digests, retrace
from presage.runtime.merge import lenient, merged
from presage.runtime.virtual import VirtualCluster
from presage.runtime.vocabulary import teach
from presage.systems import randtree

KINDS = {
    "plain": random_system,
    "wired": lambda seed: random_system(seed, wired=True),
    "featured": featured_system,
    "featured and wired": lambda seed: featured_system(seed, wired=True),
    "streamed": streamed_system,
    "linked": linked_system,
}
BATCH = 10


def seeds(batch):
    return range(batch * BATCH, (batch + 1) * BATCH)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", batches(1, 13))
def test_every_step_is_one_of_the_model_and_merged_logs_replay(kind, batch):
    compared = differed = 0
    for seed in seeds(batch):
        system = KINDS[kind](seed)
        cluster, steps = live_run(system, seed)
        compared += steps.steps
        try:
            run = merged(system, cluster.logs())
        except LogsDiffer:
            # The peers of a failed node lose their connections; in the model they do not.
            assert any(failed(cluster, name) for name in system.names), f"{kind}, seed {seed}"
            differed += 1
            continue
        assert len(replay(run.system, run.trace).steps) == len(run.trace.steps)
    assert compared > 5 * BATCH
    assert differed <= 1


@pytest.mark.parametrize("kind", ["streamed", "linked"])
@pytest.mark.parametrize("batch", batches(1, 12))
def test_runs_in_which_nodes_lose_their_power_replay(kind, batch):
    differed = 0
    for seed in seeds(batch):
        system = KINDS[kind](seed)
        cluster, _ = live_run(system, seed, silently=True)
        try:
            run = merged(system, cluster.logs())
        except LogsDiffer:
            assert any(failed(cluster, name) for name in system.names), f"{kind}, seed {seed}"
            differed += 1
            continue
        assert len(replay(run.system, run.trace).steps) == len(run.trace.steps)
    assert differed <= 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_loss_of_power_is_a_silent_reset(seed):
    system = randtree.system(nodes=4, peers="root")
    cluster = VirtualCluster(system, seed=seed, logged=True)
    for at, end, name in ((15, cluster.vanish, "n1"), (22, cluster.kill, "n2")):
        cluster.at(at, lambda end=end, name=name: end(name))
        cluster.at(at + 0.3, lambda name=name: cluster.start(name))
    cluster.run(40)
    run = merged(system, cluster.logs())
    replay(run.system, run.trace)
    kinds = [step.kind for step in run.trace.steps]
    assert kinds.count("silent") == 1 and kinds.count("crash") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_replays_alone(kind):
    for seed in range(2):
        system = KINDS[kind](seed)
        cluster, _ = live_run(system, seed)
        for name, entries in cluster.logs().items():
            calls = lenient(system, {name: entries})
            teach(system, calls.codec)
            local = retrace(calls, entries)
            digests = Digests(calls, calls.automata[system.index(name)])
            assert digests.of(local) == entries[-1].digest


def test_one_seed_gives_one_run():
    def run():
        cluster, _ = live_run(featured_system(5, wired=True), 5)
        return cluster.now, cluster.logs()

    assert run() == run()


def test_a_log_that_lacks_a_step_does_not_merge():
    refused = 0
    for seed in range(12):
        system = linked_system(seed)
        cluster, _ = live_run(system, seed)
        chance, logs = random.Random(seed), cluster.logs()
        steps = [(name, at) for name in logs for at in range(1, len(logs[name]))]
        steps = [(name, at) for name, at in steps if not logs[name][at].idle]
        if not steps:
            continue
        name, at = chance.choice(steps)
        del logs[name][at]
        try:
            run = merged(system, logs)
        except LogsDiffer:
            refused += 1
        else:
            replay(run.system, run.trace)
    assert refused > 4
