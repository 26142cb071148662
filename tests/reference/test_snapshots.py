"""A snapshot of live nodes is the world that one gets by replaying what came before it.

Random executions on a world, each node with links, datagrams and checkpoints fed by the same
events. Some node gathers at some time, and events go on while it does. What is assembled equals the
replayed cut, with two exceptions, each checked:

- what an end with an error to hear of has queued is left out: hearing of it discards it;
- an end whose peer has restarted may be half open in one and have an error in the other: neither
  of the two nodes knows whether the news is under way.
"""

import random
from collections import Counter

import pytest
from reference.batches import batches
from reference.live_cluster import Cluster
from reference.live_hosts import FOREVER, Identified
from reference.random_streams import linked_system, streamed_system
from reference.random_systems import random_system
from reference.random_talk import talking_system
from reference.replayed_cut import ReplayedCut

from presage.model.world.connections import Connections
from presage.model.world.event import Crash, Cut, Reset, SilentReset
from presage.model.world.network import NETWORKS, Flying
from presage.runtime.checkpoint import Gone, checkpointed, restored
from presage.runtime.pairing import Inconsistent
from presage.runtime.snapshot import assemble

MAKERS = (
    talking_system,
    linked_system,
    talking_system,
    streamed_system,
    talking_system,
    lambda seed: random_system(seed, wired=True),
)


def execution(seed, **mistake):
    """A cluster at the end of an execution, and the checkpoints that were gathered on the way."""
    chance = random.Random(seed)
    cluster = Cluster(MAKERS[seed % len(MAKERS)](seed), seed, **mistake)
    for _ in range(chance.randrange(40)):
        cluster.jitter()
        if not cluster.step():
            break
    if seed % 2:  # something has just gone wrong
        cluster.step(*chance.choice([(SilentReset,), (Reset, Crash), (Cut,)]))
    return cluster, gathered(cluster, chance)


def gathered(cluster, chance):
    """Checkpoints of one number, while the execution goes on; again if one of them is gone."""
    number, found = 0, {}
    for _ in range(3):
        up = [host for host in cluster.hosts.values() if host is not None]
        number = max([number, *(host.checkpoints.number for host in up[:1])]) + 1
        found, gone = {}, 0
        for name in chance.sample(cluster.system.names, len(cluster.system.names)):
            for _ in range(chance.randrange(12)):
                cluster.jitter()
                cluster.step()
            host = cluster.hosts[name]
            answer = None if host is None else host.checkpoints.at_least(number)
            if isinstance(answer, Gone):
                gone = max(gone, answer.number)
            elif answer is not None:
                found[name] = answer
        if not gone:
            break
        number = gone
    return found


def differences(cluster, checkpoints, seen=None):
    """In what the snapshot differs from the replayed cut; `seen` counts what there was."""
    system = cluster.system
    cut = ReplayedCut(cluster, checkpoints)
    codec = Identified(system.codec)
    snapshot = assemble(system, checkpoints, round_trip=FOREVER, codec=codec).snapshot
    found = []
    for name in checkpoints:
        automaton = system.automata[system.index(name)]
        local = checkpointed(automaton, cut.locals[name], system.codec)
        if snapshot.locals[automaton.index] != restored(automaton, local, system.codec):
            found.append(f"the state of {name}")
    streams = Connections()
    streams.restore(snapshot.transport.streams)
    for one in checkpoints:
        for other in checkpoints:
            end = (system.index(one), system.index(other))
            found += _differ(end, cut, streams, codec, seen)
    network = NETWORKS[system.network](system.codec)
    for each in cut.datagrams():
        source, to = system.index(each.source), system.index(each.to)
        message = codec.decode(each.body)
        network.send(Flying(source, to, system.codec.encode((source, to, message))))
    if network.frozen() != snapshot.transport.network:
        found.append(f"datagrams {network.frozen()} {snapshot.transport.network}")
    if seen is not None:
        seen["datagrams"] += bool(network.flying())
    return found


def _differ(end, cut, streams, codec, seen):
    back = end[::-1]
    was_open, was_error, was_queue = cut.connections.end(*end)
    is_open, is_error, is_queue = streams.end(*end)
    half = was_open and not cut.connections.end(*back)[0]
    if half or end in cut.resets:
        same = is_error or (is_open and not streams.end(*back)[0])
        seen and seen.update(["half"])
    else:
        same = (was_open, was_error) == (is_open, is_error)
    if was_error or is_error:
        same_queue = not is_queue
    else:
        encode = cut.system.codec.encode
        expected = [encode((*end, codec.decode(each.encoded))) for each in was_queue]
        same_queue = expected == [each.encoded for each in is_queue]
    if seen is not None:
        seen.update(["error"] * was_error + ["open"] * was_open + ["queue"] * bool(was_queue))
    flags = f"{end} open {was_open} {is_open} error {was_error} {is_error}"
    queues = f"{end} queue {was_queue} {is_queue}"
    return [flags] * (not same) + [queues] * (not same_queue)


@pytest.mark.parametrize("batch", batches(1, 13))
def test_snapshots_are_the_replayed_cut(batch):
    seen = Counter()
    for seed in range(batch * 40, batch * 40 + 40):
        cluster, checkpoints = execution(seed)
        assert differences(cluster, checkpoints, seen) == [], seed
    assert min(seen[what] for what in ("queue", "open", "datagrams")) > 5
    assert seen["error"] + seen["half"] > 0


@pytest.mark.parametrize(
    ("mistake", "seeds"),
    [({"rule": "late"}, range(40)), ({"reserves": False}, range(80, 120))],
    ids=["acknowledgements first", "numbers from 0 after a restart"],
)
@pytest.mark.slow
def test_without_one_of_the_rules_snapshots_are_wrong(mistake, seeds):
    assert any(_wrong(seed, mistake) for seed in seeds)


def test_without_forced_checkpoints_snapshots_are_wrong():
    assert any(_wrong(seed, {"rule": "never"}) for seed in range(20))


def _wrong(seed, mistake):
    """Whether the snapshot is refused, differs from the cut, or the cut has no order of events."""
    cluster, checkpoints = execution(seed, **mistake)
    try:
        return bool(differences(cluster, checkpoints))
    except (Inconsistent, AssertionError, KeyError):
        return True
