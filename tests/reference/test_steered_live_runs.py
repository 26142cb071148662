"""Random systems, run live and steered: what steering does, a network or a clock could have done.

Each is looked ahead of from where it is, filters are put in force, and steps are refused. Every
step that is committed equals `Automaton.step`, and the merged logs replay on a `World`.
"""

from collections import Counter

import pytest
from reference.batches import batches
from reference.live_runs import failed, live_run
from reference.test_live_runs import KINDS

from presage.errors import LogsDiffer
from presage.execution.replay import replay
from presage.runtime.foreseeing import SteeredCluster
from presage.runtime.foresight import Foresight
from presage.runtime.merge import merged
from presage.runtime.steer_options import SteerOptions

BATCH = 10
OPTIONS = SteerOptions(every=0.7, deadline=60.0, hold=0.1, round_trip=0.1)
QUICK = ("streamed", "featured and wired")


def steered(system, seed):
    """A cluster that has run, how many steps were compared, and what steering did."""
    clusters = []
    with Foresight(system, kernels=10, states=100) as foresight:
        cluster, compared = live_run(
            system, seed, prepare=lambda it: clusters.append(SteeredCluster(it, foresight, OPTIONS))
        )
    counts = Counter()
    for lookout in clusters[0].every:
        counts.update(vars(lookout.steering.counts))
    return cluster, compared.steps, counts


def compare(kind, seeds):
    steps, differed, counts = 0, 0, Counter()
    for seed in seeds:
        system = KINDS[kind](seed)
        cluster, compared, did = steered(system, seed)
        steps += compared
        counts += did
        try:
            run = merged(system, cluster.logs())
        except LogsDiffer:
            assert any(failed(cluster, name) for name in system.names), f"{kind}, seed {seed}"
            differed += 1
            continue
        assert len(replay(run.system, run.trace).steps) == len(run.trace.steps)
    assert differed <= 1 and steps > 5 * len(seeds)
    return counts


def test_steered_runs_are_runs_of_the_model():
    counts = Counter()
    for kind in QUICK:
        counts += compare(kind, range(5))
    assert min(counts[each] for each in ("predicted", "refused", "filtered", "starving")) > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", batches(0, 1))
def test_more_steered_runs_are_runs_of_the_model(kind, batch):
    compare(kind, range(batch * BATCH + 5, (batch + 1) * BATCH + 5))
