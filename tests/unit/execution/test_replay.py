"""Replaying a trace on live code: every state the same, or a clear word where it departs."""

from dataclasses import dataclass

import pytest

from presage import Faults, Service, System, always, check, durable, on, replay, timer
from presage.errors import BadChoice, BadTrace, Impure, PresageError
from presage.systems import counter, paxos
from presage.trace import codec


@dataclass(frozen=True)
class Offer:
    names: frozenset[str]


class Trader(Service):
    peer: str
    stock: set[str] = durable(factory=set)
    deals: int = 0

    def start(self):
        if not self.stock:
            self.stock = {self.choose(["salt", "silk"]), "tea"}
        self.arm("offer", self.choose([1, 2]))

    @timer
    def offer(self, rounds):
        self.send(self.peer, Offer(frozenset(self.stock)))
        if rounds > 1:
            self.arm("offer", rounds - 1)

    @on(Offer)
    def take(self, offer):
        self.stock |= offer.names
        self.deals += 1


@always
def few_deals(world):
    return sum(node.deals for node in world.nodes) < 3


def trading(service=Trader, **arguments):
    nodes = {"a": service(peer="b"), "b": service(peer="a")}
    arguments.setdefault("properties", [few_deals])
    return System(nodes, faults=Faults(crash=1, restart=1, drop=1), **arguments)


def violation_of(system, **options):
    [violation] = check(system, traces=None, **options).violations
    return violation


@pytest.mark.parametrize("search", ["bfs", "dfs", "walk"])
def test_a_saved_trace_replays_to_the_same_states(search, tmp_path):
    trace = violation_of(trading(), search=search).trace
    read = codec.read(codec.save(trace, tmp_path))
    assert read == trace
    replayed = replay(trading(), read)  # a system made anew, as in another process
    assert [taken.fingerprint for taken in replayed.steps] == [
        taken.fingerprint for taken in trace.steps
    ]
    assert replayed.message == trace.message
    assert [taken.choices for taken in replayed.steps] == [taken.choices for taken in trace.steps]


@pytest.mark.parametrize(
    "system",
    [
        lambda: paxos.system(clients=2, bug="last_promise"),
        lambda: paxos.system(clients=2, bug="no_disk"),
        lambda: counter.system(threads=2),
    ],
    ids=["last_promise", "no_disk", "counter"],
)
def test_every_violation_of_a_shipped_system_replays(system):
    trace = violation_of(system()).trace
    assert replay(system(), trace).message == trace.message


def test_the_beginning_of_a_trace_breaks_nothing_yet():
    trace = violation_of(trading()).trace
    replayed = replay(trading(), trace.prefix(len(trace.steps) - 1))
    assert (replayed.message, len(replayed.steps)) == (None, len(trace.steps) - 1)


def test_a_corrected_property_is_told_as_not_broken():
    @always(name="few_deals")
    def lenient(world):
        return True

    trace = violation_of(trading()).trace
    assert replay(trading(properties=[lenient]), trace).message is None


def refuses(error, said, system):
    trace = violation_of(trading()).trace
    with pytest.raises(error, match=said) as refused:
        replay(system, trace)
    assert refused.value.exit_status == 2


def test_a_step_that_leads_elsewhere_is_named():
    class Counting(Trader):
        @on(Offer)
        def take(self, offer):
            self.stock |= offer.names
            self.deals += 2

    refuses(
        PresageError,
        r"step \d+ \(`Offer [ab] -> [ab]` at [ab]\) leads to another",
        trading(Counting),
    )


def test_a_step_that_is_not_possible_any_more_is_named():
    class Quiet(Trader):
        @timer
        def offer(self, rounds):
            pass

    refuses(PresageError, r"step \d+ \(`", trading(Quiet))


def test_other_initial_states_are_noticed():
    class Richer(Trader):
        deals: int = 1

    refuses(PresageError, "the initial state leads to another", trading(Richer))


def test_choices_that_are_not_asked_for_are_noticed():
    class Decided(Trader):
        def start(self):
            self.stock = {"tea", "salt"}
            self.arm("offer", 1)

    refuses(BadChoice, "choice", trading(Decided))


def test_a_property_that_is_gone_is_named():
    refuses(BadTrace, "the system has no property `few_deals`", trading(properties=[]))


def test_a_replay_is_fenced_as_a_search_is():
    class Timely(Trader):
        @timer
        def offer(self, rounds):
            import time

            time.time()

    trace = violation_of(trading()).trace
    with pytest.raises(Impure, match="`time.time`"):
        replay(trading(Timely), trace)


def test_a_failure_in_a_start_replays():
    class Broken(Service):
        def start(self):
            raise ValueError(self.choose(["red", "blue"]))

    system = System({"a": Broken()})
    trace = violation_of(system).trace
    assert (trace.steps, trace.choices) == ((), (0,))
    replayed = replay(System({"a": Broken()}), trace)
    assert "ValueError: red" in replayed.message
