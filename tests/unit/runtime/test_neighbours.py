"""Nodes of a virtual cluster gather their neighbours, and what they find is a consistent cut."""

import random
from collections import Counter
from pathlib import Path

import pytest
from unit.cli.command import run

from presage.model.service.stream import Lost
from presage.model.world.system import System
from presage.model.world.world import World
from presage.runtime.checkpoint import Checkpoints
from presage.runtime.gather import Gathered
from presage.runtime.neighbours import Neighbours
from presage.runtime.pairing import Inconsistent
from presage.runtime.shaping import Shape
from presage.runtime.snapshot import as_trace, assemble
from presage.runtime.station import Station
from presage.runtime.step import Record
from presage.runtime.virtual import VirtualCluster
from presage.systems.randtree import system as randtree
from presage.trace import codec

ROUND_TRIP = 0.13


class Watched:
    """A cluster of 25 nodes; every step is noted with the number of the node's checkpoints."""

    def __init__(self, system: System, seed: int) -> None:
        self.chance = random.Random(seed)
        self.neighbours: dict[str, Neighbours] = {}
        self.found: list[tuple[Neighbours, Gathered]] = []
        self.sent: list[tuple[str, str, int, int, bytes]] = []  # from, to, process, number, body
        self.handled: list[tuple[str, str, int, int, bytes]] = []  # at, from, process, number, body
        self.cluster = VirtualCluster(system, seed=seed, shape=Shape(delay=0.06, jitter=0.02))
        self.cluster.on_boot.append(self._boot)
        self.cluster.on_commit.append(self._commit)

    def _boot(self, station: Station) -> None:
        assert station.host is not None
        fields = ["children", "parent"]
        self.neighbours[station.name] = Neighbours(station.host, pushed=fields)

    def _commit(self, name: str, record: Record) -> None:
        node = self.cluster.node(name)
        at = (node.life, self.neighbours[name].checkpoints.number)
        for to, body in record.flows:
            if body is not None:
                self.sent.append((name, to, *at, body))
        if record.body is not None and not isinstance(record.stimulus[2], Lost):
            source = self.cluster.system.names[record.stimulus[1]]
            self.handled.append((name, source, *at, record.body))

    def gather(self, name: str) -> None:
        station = self.cluster.stations[name]
        if station.up and not self.neighbours[name].gatherer.busy:
            self.neighbours[name].gather()
            self.cluster.turn(name)

    def restart(self, name: str) -> None:
        self.cluster.kill(name)
        self.cluster.at(self.cluster.now + self.chance.random(), lambda: self.cluster.start(name))

    def go(self, seconds: float, gatherings: int, restarts: int) -> None:
        names = self.cluster.system.names
        for _ in range(gatherings):
            name = self.chance.choice(names)
            self.cluster.at(self.chance.random() * seconds, lambda name=name: self.gather(name))
        for _ in range(restarts):
            name = self.chance.choice(names)
            self.cluster.at(self.chance.random() * seconds, lambda name=name: self.restart(name))
        seen: dict[str, Gathered | None] = {}
        while self.cluster.now < seconds and self.cluster.step():
            for name, each in self.neighbours.items():
                if each.gathered is not seen.get(name):
                    seen[name] = each.gathered
                    if each.gathered is not None:
                        self.found.append((each, each.gathered))

    def before(self, events: list[tuple[str, str, int, int, bytes]], found: Gathered) -> Counter:
        """Of (node, peer, body), those before the checkpoint of the node."""
        members = found.members
        return Counter(
            (node, peer, body)
            for node, peer, process, number, body in events
            if node in members
            and peer in members
            and (process, number) < (members[node].process, members[node].number)
        )


def checked(watched: Watched) -> Counter:
    """What was gathered, once it is known to be consistent."""
    seen: Counter = Counter()
    for each, found in watched.found:
        codec_ = each.node.automaton.codec
        assembled = assemble(
            each.node.system, found.members, stale=found.stale, codec=codec_, round_trip=ROUND_TRIP
        )
        streams = assembled.snapshot.transport.streams
        seen.update(members=len(found.members), open=len(streams[1]), stale=len(found.stale))
        seen["queued"] += sum(len(queue) for _, queue in streams[0])
        if found.stale:
            continue
        world = World(each.node.system)
        world.restore(assembled.snapshot)
        assert world.save() == assembled.snapshot
        sent = watched.before(watched.sent, found)
        handled = watched.before(watched.handled, found)
        for (node, peer, body), count in handled.items():
            assert count <= sent[peer, node, body], "received, and not sent"
    return seen


def test_a_cluster_of_25_nodes_gives_exact_snapshots() -> None:
    """Without restarts and closes, all that was sent and not handled is under way."""
    watched = Watched(randtree(nodes=25, degree=5, peers="root"), seed=1)
    watched.go(seconds=6, gatherings=40, restarts=0)
    seen = checked(watched)
    assert seen["queued"] and seen["members"] > 60
    for each, found in watched.found:
        assembled = each.node.system, found.members
        streams = assemble(*assembled, codec=each.node.automaton.codec).snapshot.transport.streams
        lengths = {(a, b): len(queue) for (a, b), queue in streams[0]}
        under_way: Counter = Counter()
        for (node, peer, _), count in watched.before(watched.sent, found).items():
            under_way[each.node.system.index(node), each.node.system.index(peer)] += count
        for (node, peer, _), count in watched.before(watched.handled, found).items():
            under_way[each.node.system.index(peer), each.node.system.index(node)] -= count
        assert lengths == {pair: count for pair, count in under_way.items() if count}


def test_pushes_keep_neighbours_fresh() -> None:
    watched = Watched(randtree(nodes=25, degree=5, peers="root"), seed=2)
    watched.go(seconds=4, gatherings=30, restarts=0)
    pushed = sum(len(each.gatherer.asked) for each in watched.neighbours.values())
    assert pushed and sum(len(each.latest) for each in watched.neighbours.values()) > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_snapshots_stay_consistent_while_nodes_are_killed_and_started(seed: int) -> None:
    watched = Watched(randtree(nodes=25, degree=5, peers="root"), seed)
    watched.go(seconds=60, gatherings=200, restarts=20)
    seen = checked(watched)
    assert len(watched.found) > 100 and seen["open"] > 200
    assert max(station.store.stored.bound for station in watched.cluster.stations.values()) > 0


@pytest.mark.slow
def test_without_forced_checkpoints_they_contradict_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Checkpoints, "seen", lambda self, number: None)
    with pytest.raises((Inconsistent, AssertionError)):
        for seed in range(4):
            watched = Watched(randtree(nodes=25, degree=5, peers="root"), seed)
            watched.go(seconds=20, gatherings=200, restarts=5)
            checked(watched)


def test_a_snapshot_is_a_file_that_predict_and_debug_open(tmp_path: Path) -> None:
    parameters = {"nodes": 5}
    watched = Watched(randtree(nodes=5), seed=3)
    watched.go(seconds=3, gatherings=10, restarts=0)
    each, _ = watched.found[-1]
    assembled = each.snapshot(ROUND_TRIP)
    assert assembled is not None
    trace = as_trace(each.node.system, assembled, "randtree", parameters)
    path = codec.write(trace, tmp_path / "live.trace")
    predicted = run("predict", str(path), "--seconds", "1", "--threads", "1")
    assert predicted.returncode in (0, 1), predicted.stderr
    assert "from" in predicted.stdout
    shown = run("debug", str(path), "--do", "state n0")
    assert shown.returncode == 0 and "children" in shown.stdout, shown.stderr
