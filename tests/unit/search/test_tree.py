"""`check --search tree` of systems: how many executions there are, what is found and refused."""

from dataclasses import dataclass
from math import factorial

import pytest

from presage import (
    UNLIMITED,
    Call,
    Faults,
    Partition,
    Seal,
    Service,
    Streams,
    System,
    Timed,
    action,
    always,
    check,
    eventually,
    on,
    replay,
    sometimes,
    timer,
)
from presage.errors import BadSystem
from presage.systems import paxos, two_phase_commit


@dataclass(frozen=True)
class Word:
    n: int


class Talker(Service):
    """Sends its number to one node when it feels like it."""

    to: str
    n: int = 0
    said: bool = False

    @action(when=lambda self: not self.said)
    def say(self):
        self.said = True
        self.send(self.to, Word(self.n))


class Listener(Service):
    heard: tuple[int, ...] = ()

    @on(Word)
    def hear(self, word):
        self.heard += (word.n,)


def many_to_one(talkers, **more):
    nodes = {f"t{n}": Talker(to="listener", n=n) for n in range(talkers)}
    return System(nodes={"listener": Listener(), **nodes}, **more)


def explored(system, reduction="odpor", **more):
    report = check(system, search="tree", reduction=reduction, traces=None, **more)
    assert (report.search, report.reduction) == ("tree", reduction)
    return report


@pytest.mark.parametrize("talkers", [1, 2, 3, 4])
def test_orders_at_the_receiver_are_all_that_matters(talkers):
    report = explored(many_to_one(talkers))
    assert (report.traces, report.executions) == (factorial(talkers), factorial(talkers))
    assert report.exhausted
    every = explored(many_to_one(talkers), "none")
    assert every.traces == factorial(2 * talkers) // 2**talkers


def test_who_talks_to_different_listeners_does_so_in_one_order():
    pairs = {f"t{n}": Talker(to=f"l{n}", n=n) for n in range(4)}
    pairs |= {f"l{n}": Listener() for n in range(4)}
    assert explored(System(nodes=pairs)).traces == 1


class Coordinator(Service):
    others: tuple[str, ...]
    votes: tuple[int, ...] = ()

    def start(self):
        for other in self.others:
            self.send(other, Word(0))

    @on(Word)
    def vote(self, word):
        self.votes += (word.n,)
        if len(self.votes) == len(self.others):
            for other in self.others:
                self.send(other, Word(2 + all(self.votes)))


class Participant(Service):
    done: int = -1

    @on(Word)
    def asked(self, word, source):
        self.done = word.n
        if word.n == 0:
            self.send(source, Word(self.choose([0, 1])))


@pytest.mark.parametrize("others", [1, 2, 3])
def test_votes_and_their_orders_are_what_tells_two_phase_commits_apart(others):
    names = tuple(f"p{n}" for n in range(others))
    nodes = {"c": Coordinator(others=names)} | {name: Participant() for name in names}
    assert explored(System(nodes=nodes)).traces == 2**others * factorial(others)


@pytest.mark.parametrize("reduction", ["none", "dpor", "sdpor", "odpor"])
def test_a_violation_is_found_and_its_trace_replays(reduction):
    @eventually
    def third_last(world):
        return world["listener"].heard[-1] == 2

    system = many_to_one(3, properties=[third_last])
    report = explored(system, reduction)
    assert report.properties["third_last"] == "violated"
    assert replay(system, report.violations[0].trace).message is not None


def test_a_state_that_only_another_order_passes_is_judged_and_its_trace_replays():
    @always
    def not_only_first(world):
        return (world["a"].said, world["b"].said) != (False, True)

    nodes = {"a": Talker(to="l"), "b": Talker(to="m"), "l": Listener(), "m": Listener()}
    system = System(nodes=nodes, properties=[not_only_first])
    report = explored(system, keep_going=True)
    assert (report.traces, len(report.violations)) == (1, 1)
    assert replay(system, report.violations[0].trace).message is not None


def test_a_report_says_that_order_was_kept_where_an_execution_has_too_many_cuts():
    @always
    def looks_at_all(world):
        return all(world[f"t{n}"].said for n in range(17)) or True

    pairs = {f"t{n}": Talker(to=f"l{n}", n=n) for n in range(17)}
    pairs |= {f"l{n}": Listener() for n in range(17)}
    report = explored(System(nodes=pairs, properties=[looks_at_all]), walks=2)
    assert any("too many consistent cuts" in note for note in report.notes)
    assert report.stopped_by == "runs"


def test_what_is_never_reached_is_said_once_every_class_was_looked_at():
    @sometimes
    def silence(world):
        return len(world["listener"].heard) > 2

    report = explored(many_to_one(2, properties=[silence]))
    assert report.violations[0].kind == "unreached"
    assert "2 executions" in report.violations[0].message


class Door(Service):
    """Listens until it is shut."""

    heard: tuple[int, ...] = ()
    shut: bool = False

    def start(self):
        self.arm("bell")

    @on(Word, when=lambda self, word: not self.shut)
    def hear(self, word):
        self.heard += (word.n,)
        self.disarm("bell")

    @timer
    def bell(self):
        self.shut = True


@pytest.mark.parametrize("reduction", ["none", "dpor", "sdpor", "odpor"])
@pytest.mark.parametrize("network", ["unordered", "ordered"])
def test_what_is_disabled_before_it_happens_is_tried_first(reduction, network):
    @eventually
    def shut(world):
        return world["door"].shut

    @eventually
    def open_still(world):
        return not world["door"].shut

    nodes = {"door": Door(), "t": Talker(to="door")}
    system = System(nodes=nodes, network=network, properties=[shut, open_still])
    report = explored(system, reduction, keep_going=True)
    assert report.properties == {"shut": "violated", "open_still": "violated"}


@pytest.mark.parametrize("reduction", ["none", "dpor", "sdpor", "odpor"])
@pytest.mark.parametrize(
    ("faults", "heard"),
    [
        (Faults(drop=1), {(), (0,), (1,), (0, 1), (1, 0)} - {()}),
        (Faults(drop=2), {(), (0,), (1,), (0, 1), (1, 0)}),
        (Faults(duplicate=1), {(0, 1), (0, 0, 1), (1, 0, 1), (0, 1, 1)}),
        (Faults(crash=1, nodes=["listener"]), {(), (0, 1)}),
    ],
)
def test_faults_lead_where_they_lead_in_a_search_of_states(reduction, faults, heard):
    claims = [
        eventually(lambda world, end=end: world["listener"].heard != end, name=str(end))
        for end in heard
    ]
    system = many_to_one(2, faults=faults, properties=claims)
    report = explored(system, reduction, keep_going=True)
    assert set(report.properties.values()) == {"violated"}
    assert all(replay(system, found.trace).message for found in report.violations)
    assert all(report.faults.values())


def test_systems_that_are_shipped_hold_in_every_execution():
    report = explored(paxos.system(clients=1))
    assert report.exhausted and not report.violations
    assert report.traces < explored(paxos.system(clients=1), "none").traces
    assert explored(two_phase_commit.system(rms=2)).exhausted


def test_an_execution_without_end_is_cut_and_that_is_said():
    class Clock(Service):
        n: int = 0

        @timer(periodic=True)
        def tick(self):
            self.n = (self.n + 1) % 3

        def start(self):
            self.arm("tick")

    report = explored(System(nodes={"c": Clock()}), depth=7)
    assert (report.exhausted, report.stopped_by, report.depth) == (False, "depth", 7)


def test_a_reduction_of_executions_implies_the_tree():
    report = check(many_to_one(2), reduction="odpor", traces=None)
    assert (report.search, report.traces) == ("tree", 2)
    assert check(many_to_one(2), search="tree", traces=None).reduction == "odpor"
    assert check(many_to_one(3), search="tree", walks=2, traces=None).stopped_by == "runs"


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ({"streams": Streams(queue_size=2)}, "streams whose queues have a size"),
        (
            {"streams": Streams(), "faults": Faults(reset=UNLIMITED)},
            "streams and unlimited resets",
        ),
        (
            {"streams": Streams(), "faults": Faults(silent_reset=UNLIMITED)},
            "streams and unlimited resets",
        ),
        ({"clock": Timed()}, "clocks"),
        ({"network": "ordered", "faults": Faults(drop=1)}, "drops"),
        ({"network": "duplicating", "faults": Faults(drop=1)}, "drops"),
        ({"faults": Faults(duplicate=UNLIMITED)}, "unlimited duplicates"),
        (
            {
                "faults": Faults(
                    partition=1,
                    partitions=[Partition({"left": ["t0"], "right": ["listener"]})],
                )
            },
            "partitions",
        ),
    ],
)
def test_what_is_not_known_to_be_sound_is_refused(how, what):
    with pytest.raises(BadSystem, match=f"with {what}"):
        check(many_to_one(1, **how), search="tree", traces=None)


def test_streams_with_seals_are_refused():
    seal = Seal(when=lambda world: False, only="mail", name="never")
    system = many_to_one(1, streams=Streams(), seals=[seal])
    with pytest.raises(BadSystem, match="with streams and seals"):
        check(system, search="tree", reduction="none", traces=None)


class Caller(Service):
    """Talks over a stream at once."""

    to: str
    heard: int = 0

    def start(self):
        self.stream.send(self.to, Word(1))

    @on(Word)
    def hear(self, word):
        self.heard += word.n


def test_nodes_that_talk_over_streams_do_not_wait_for_each_other():
    nodes = {name: Caller(to=to) for name, to in ("ab", "ba", "cd", "dc")}
    system = System(nodes=nodes, streams=Streams())
    assert explored(system).traces == 1
    assert explored(system, "none").traces == 24


class Shouter(Service):
    """Sends many messages in one step."""

    words: tuple[int, ...]

    def start(self):
        for n in self.words:
            self.send("listener", Word(n))


def shouting(words, *, properties=(), **faults):
    nodes = {"listener": Listener(), "shouter": Shouter(words=tuple(words))}
    return System(nodes=nodes, faults=Faults(**faults), properties=properties)


def heard(zeros, ones):
    """Violated where an execution ends with just so many heard."""

    def other(world):
        said = world["listener"].heard
        return (said.count(0), said.count(1)) != (zeros, ones)

    return eventually(other, name=f"{zeros} and {ones}")


@pytest.mark.usefixtures("no_good_runs")
@pytest.mark.parametrize("words", [(0, 0), (0, 1), (0, 0, 1)])
@pytest.mark.parametrize("drop", range(3))
@pytest.mark.parametrize("duplicate", range(3))
def test_losses_of_one_step_lead_where_losses_one_by_one_lead(words, drop, duplicate):
    counts = [heard(zeros, ones) for zeros in range(5) for ones in range(4)]
    system = shouting(words, properties=counts, drop=drop, duplicate=duplicate)
    states = check(system, keep_going=True, liveness="rest", traces=None)
    executions = check(system, search="tree", keep_going=True, traces=None)
    assert states.exhausted and executions.exhausted
    assert executions.properties == states.properties
    assert executions.properties["0 and 0"] == ("violated" if drop >= len(words) else "held")


def test_a_small_budget_keeps_the_ways_of_a_large_step_few():
    kept = check(shouting(range(16), drop=1), search="tree", traces=None, walks=20)
    assert (kept.executions, kept.stopped_by) == (20, "runs")


def test_a_step_with_more_ways_than_can_be_counted_is_refused_with_a_way_out():
    with pytest.raises(BadSystem, match="more than 16,384 ways") as refused:
        check(shouting(range(15), drop=15), search="tree", traces=None)
    assert "use `bfs`" in str(refused.value)


@pytest.mark.parametrize(
    "options",
    [
        {"symmetry": True},
        {"calm": True},
        {"states": 5},
        {"reduction": "sleep"},
    ],
)
def test_options_of_searches_of_states_are_refused(options):
    with pytest.raises(BadSystem, match="search `tree`"):
        check(many_to_one(1), search="tree", traces=None, **options)


def test_a_queue_of_reversals_is_for_one_thread():
    with pytest.raises(BadSystem, match="`reversals=queue` is given with 2 threads"):
        check(many_to_one(1), search="tree", reduction="dpor", reversals="queue", threads=2)


@pytest.mark.parametrize("reduction", ["odpor", "sdpor", "dpor", "none"])
def test_two_threads_report_what_one_does(reduction):
    alone, both = (
        check(many_to_one(4), search="tree", reduction=reduction, threads=threads, traces=None)
        for threads in (1, 2)
    )
    assert (both.traces, both.executions, both.unique) == (
        alone.traces,
        alone.executions,
        alone.unique,
    )


def test_calls_are_steps_of_their_node():
    class Worker(Service):
        done: int = 0

        def work(self):
            self.done += 1

    nodes, calls = {"a": Worker(), "b": Worker()}, {name: [Call("work")] * 2 for name in "ab"}
    assert explored(System(nodes=nodes, calls=calls)).traces == 1
    assert explored(System(nodes=nodes, calls=calls), "none").traces == 6
