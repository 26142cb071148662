"""All nodes in one process: time, an emulated network, kills, cuts; and the merged logs."""

from dataclasses import dataclass

import pytest

from presage import Moment, Service, Streams, System, broken, durable, on, state, timer
from presage.errors import BadSystem
from presage.execution.replay import replay
from presage.runtime.chance import Chance
from presage.runtime.clock import Clock
from presage.runtime.merge import merged
from presage.runtime.shaping import Shape, Shaper
from presage.runtime.step import Options
from presage.runtime.virtual import ALIVE_MAX, VirtualCluster
from presage.systems import randtree


@dataclass(frozen=True)
class Ask:
    n: int


class Peer(Service):
    """Asks the other once a second, on a stream and by a datagram; counts what it hears."""

    asked: int = durable(0)
    heard: list[int] = state(list)
    datagrams: int = 0
    lost: int = 0

    def start(self):
        self.arm("ask")

    @timer(periodic=True, after=1)
    def ask(self):
        self.asked += 1
        other = "b" if self.name == "a" else "a"
        self.stream.send(other, Ask(self.asked))
        self.send(other, self.asked)

    @on(Ask)
    def answer(self, message):
        self.heard.append(message.n)

    @on(int)
    def note(self, message):
        self.datagrams += 1

    @broken
    def gone(self, peer):
        self.lost += 1


def pair(**more):
    return VirtualCluster(System({"a": Peer(), "b": Peer()}, streams=Streams()), **more)


def fields(cluster, name):
    node = cluster.node(name)
    decoded = map(node.automaton.codec.decode, node.local[1:])
    return dict(zip(node.automaton.fields, decoded, strict=True))


def test_streams_keep_their_order_and_lose_nothing():
    cluster = pair(shape=Shape(delay=0.1, jitter=0.7, loss=0.3), seed=4)
    cluster.run(60)
    heard = fields(cluster, "b")["heard"]
    assert heard == list(range(1, len(heard) + 1))
    assert len(heard) > 50
    assert 20 < fields(cluster, "b")["datagrams"] < 50


def test_a_killed_node_keeps_what_is_durable_and_its_peer_hears_of_it():
    cluster = pair(shape=Shape(delay=0.1))
    cluster.run(5.5)
    cluster.kill("a")
    cluster.run(7.5)
    assert fields(cluster, "b")["lost"] > 0
    cluster.start("a")
    cluster.run(12.3)
    assert fields(cluster, "a")["asked"] == 5 + 4
    assert fields(cluster, "a")["heard"][-1] == fields(cluster, "b")["asked"]
    assert cluster.node("a").life == 2


def test_a_cut_that_heals_soon_is_only_a_delay():
    cluster = pair(shape=Shape(delay=0.1))
    cluster.run(3.5)
    cluster.cut("a", "b")
    cluster.run(8.5)
    assert fields(cluster, "b")["heard"] == [1, 2, 3]
    datagrams = fields(cluster, "b")["datagrams"]
    cluster.heal("a", "b")
    cluster.run(9.0)
    assert fields(cluster, "b")["heard"] == list(range(1, 9))
    assert (fields(cluster, "b")["datagrams"], fields(cluster, "b")["lost"]) == (datagrams, 0)


def test_a_cut_that_lasts_breaks_the_connection_at_both_ends():
    cluster = pair(shape=Shape(delay=0.1))
    cluster.run(3.5)
    cluster.cut("a", "b")
    cluster.run(3.6 + ALIVE_MAX)
    assert [fields(cluster, name)["lost"] for name in "ab"] == [1, 1]


def test_a_reset_loses_what_is_under_way():
    cluster = pair(shape=Shape(delay=0.4))
    cluster.run(4.1)
    cluster.reset("a", "b")
    cluster.run(8)
    assert [fields(cluster, name)["lost"] for name in "ab"] == [1, 1]
    assert 4 not in fields(cluster, "b")["heard"]
    assert fields(cluster, "b")["heard"][-1] == 7


def test_a_call_is_made_at_once():
    cluster = pair()
    cluster.run(1)
    cluster.call("a", "ask", request="now")
    assert cluster.stations["a"].replies[0][0] == "now"
    assert fields(cluster, "a")["asked"] == 2


def tree(cluster):
    return {name: fields(cluster, name) for name in cluster.states()}


def churned(seconds, nodes, seed, **more):
    """RandTree under churn: every 30 s a node is killed, and started 5 s later."""
    system = randtree.system(nodes=nodes, degree=5, peers="root")
    shape = Shape(delay=0.065, jitter=0.02, loss=0.003)
    options = Options(delays={"join": 5.0, "recovery": 5.0})
    cluster = VirtualCluster(system, seed=seed, shape=shape, options=options, **more)
    chance = Chance(seed, "churn", 0)
    for time in range(30, seconds - 60, 30):
        name = chance.one_of(system.names[1:])
        cluster.at(time, lambda name=name: cluster.kill(name))
        cluster.at(time + 5, lambda name=name: cluster.start(name))
    cluster.run(seconds)
    return cluster


@pytest.mark.parametrize("seconds", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_randtree_is_a_tree_after_churn(seconds):
    nodes = tree(churned(seconds, 25, 1))
    assert len(nodes) == 25
    assert {each["root"] for each in nodes.values()} == {"n00"}
    for name, each in nodes.items():
        assert each["phase"] == "joined"
        assert all(nodes[child]["parent"] == name for child in each["children"])


def test_the_merged_logs_of_a_churned_tree_are_a_trace():
    cluster = churned(150, 4, 2, logged=True)
    run = merged(cluster.system, cluster.logs())
    kinds = {step.kind for step in run.trace.steps}
    assert {"crash", "restart", "receive", "timer"} <= kinds
    assert len(replay(run.system, run.trace).steps) == len(run.trace.steps)
    locals_ = run.world.save().locals
    for name, node in cluster.states().items():
        live = [node.automaton.codec.decode(value) for value in node.local[1:]]
        world = map(run.system.codec.decode, locals_[run.system.index(name)][1:])
        assert list(world) == live


def test_a_run_without_faults_is_a_trace_of_the_system_itself():
    cluster = pair(logged=True, shape=Shape(delay=0.1))
    cluster.run(5)
    run = merged(cluster.system, cluster.logs())
    assert run.system is cluster.system
    assert replay(cluster.system, run.trace).message == run.trace.message


# -- the parts -------------------------------------------------------------------------------


def test_frames_of_a_stream_arrive_in_order_and_are_never_lost():
    shaper = Shaper(Shape(delay=0.1, jitter=0.5, loss=0.4), seed=1)
    times = [shaper.stream("a", "b", 100, now / 100) for now in range(200)]
    assert times == sorted(times)
    lost = [shaper.datagram("a", "b", 100, 0.0) is None for _ in range(1000)]
    assert 300 < sum(lost) < 500


def test_a_rate_is_shared_by_what_one_node_sends_to_another():
    shaper = Shaper(Shape(delay=1.0, rate=1000.0))
    assert [shaper.stream("a", "b", 500, 0.0) for _ in range(3)] == [1.5, 2.0, 2.5]
    assert shaper.stream("b", "a", 500, 0.0) == 1.5


def test_one_direction_may_be_another_than_the_rest():
    shaper = Shaper(Shape(delay=1.0))
    shaper.between("a", "b", Shape(delay=3.0))
    assert (shaper.delay("a", "b"), shaper.delay("b", "a")) == (3.0, 1.0)


@pytest.mark.parametrize("wrong", [{"delay": -1}, {"loss": 1.0}, {"rate": 0}])
def test_a_shape_that_is_none_is_refused(wrong):
    with pytest.raises(BadSystem, match="is not a network"):
        Shape(**wrong)


def test_draws_follow_weights():
    chance = Chance(1, "a", 1)
    drawn = [chance.draw(3, (0.0, 1.0, 3.0)) for _ in range(400)]
    assert drawn.count(0) == 0
    assert 60 < drawn.count(1) < 140


def test_a_timer_armed_again_has_one_deadline():
    clock = Clock(lambda: 0.0)
    clock.arm(("t",), 5.0)
    clock.arm(("t",), 9.0)
    assert (clock.next(), len(clock)) == (9.0, 1)
    clock.disarm(("t",))
    assert (clock.next(), clock.pop()) == (None, None)


def test_timers_armed_again_and_again_take_no_more_room():
    time = 0.0
    clock = Clock(lambda: time)
    for at in range(1000):
        time = float(at)
        for name in ("a", "b", "c"):
            clock.arm((name,), 3600.0)
    clock.arm(("d",), 0.5)
    assert len(clock._heap) < 100 and len(clock) == 4
    time = 5000.0
    assert [clock.pop() for _ in range(5)] == [("d",), ("a",), ("b",), ("c",), None]


class Watchful(Service):
    """Counts, once a second, and how often the clock was set back."""

    last: Moment | None = None
    ticks: int = 0
    back: int = 0

    def start(self):
        self.arm("tick")

    @timer(after=1)
    def tick(self):
        now = self.now()
        self.ticks += 1
        if self.last is not None and now.before(self.last):
            self.back += 1
        self.last = now
        self.arm("tick")


def test_a_clock_that_is_set_back_moves_no_timer_and_its_run_replays():
    system = System({"n": Watchful()})
    cluster = VirtualCluster(system, logged=True)

    def set_back(station):
        clock = station.host.node.clock
        clock.wall = lambda: cluster.now - 3600.0 * (5 < cluster.now < 8)

    cluster.on_boot.append(set_back)
    cluster.run(10.5)
    [automaton], local = cluster.automata, cluster.node("n").local
    counts = [
        automaton.codec.decode(local[automaton.positions[each]]) for each in ("ticks", "back")
    ]
    assert counts == [10, 1]
    run = merged(system, cluster.logs())
    assert len(replay(run.system, run.trace).steps) == 10
