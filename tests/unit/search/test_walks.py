"""Weighted and calm walks: what they choose, and that a seed says it all."""

from dataclasses import dataclass

import pytest
from reference.explorer import TooLarge, explore
from reference.random_features import featured_system

from presage import (
    Call,
    Faults,
    Partition,
    Service,
    Streams,
    System,
    Weights,
    action,
    always,
    broken,
    check,
    on,
    sometimes,
    timer,
)
from presage._core import FAULTS
from presage.errors import BadSystem
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.model.choice import Chooser as Toss
from presage.model.weights import UNIT
from presage.model.world.faults import PROGRAM_FAULTS
from presage.search.check import build
from presage.search.kernel.bridge import Bridge
from presage.search.walks import kernel_weights


class Chooser(Service):
    """Takes one of two steps, once."""

    took: str = ""

    @action(when=lambda self: not self.took, weight=3)
    def often(self) -> None:
        self.took = "often"

    @action(when=lambda self: not self.took, weight=1)
    def seldom(self) -> None:
        self.took = "seldom"

    @action(when=lambda self: not self.took, weight=0)
    def never(self) -> None:
        self.took = "never"


def took(what: str):
    return sometimes(lambda world: world["n"].took == what, name=what)


@pytest.mark.slow
def test_an_event_comes_as_often_as_its_weight_says():
    seldom = sum(_took(seed) == "seldom" for seed in range(200))
    assert 35 <= seldom <= 65  # a quarter of 200; these seeds, always the same


def _took(seed: int) -> str:
    """Where the one walk of this seed went."""
    claims = [took("often"), took("seldom"), took("never")]
    system = System(nodes={"n": Chooser()}, properties=claims, weights=Weights())
    report = check(system, search="walk", walks=1, seed=seed, depth=2, traces=None)
    (reached,) = [name for name, said in report.properties.items() if said == "reached"]
    return reached


def test_weight_zero_is_never_in_a_weighted_walk_and_always_in_a_search():
    claims = [took("often"), took("seldom"), took("never")]
    system = System(nodes={"n": Chooser()}, properties=claims)
    calm = check(system, search="walk", calm=True, walks=200, traces=None)
    assert list(calm.properties.values()) == ["reached", "reached", "unreached"]
    check(system, traces=None).assert_holds()
    plain = check(system, search="walk", walks=200, traces=None)
    assert list(plain.properties.values()) == ["reached"] * 3


@dataclass(frozen=True)
class Ask:
    pass


class Frail(Service):
    heard: bool = False

    def start(self) -> None:
        self.arm("give_up")
        self.send(self.name, Ask())

    @on(Ask)
    def ask(self, ask: Ask) -> None:
        self.heard = True

    @timer(weight=0)
    def give_up(self) -> None:
        self.heard = False


@always
def runs(world) -> bool:
    return world["n"].up and not world["n"].timers == frozenset()


def test_a_calm_walk_has_no_faults_and_says_so():
    faults = Faults(crash=1, drop=1, duplicate=1, slow=1)
    system = System(nodes={"n": Frail()}, faults=faults, properties=[runs])
    calm = check(system, search="walk", calm=True, walks=100, traces=None)
    calm.assert_holds()
    assert (calm.unique, calm.faults, calm.to_json()["calm"]) == (2, {}, True)
    assert any("no faults" in note for note in calm.notes)
    wild = check(system, search="walk", walks=100, keep_going=True, traces=None)
    assert all(wild.faults[fault] for fault in ("crash", "drop", "duplicate", "slow"))


def test_weights_let_faults_be_rare_or_absent():
    def faults(weight: float) -> dict[str, int]:
        system = System(nodes={"n": Frail()}, faults=Faults(drop=1), weights=Weights(fault=weight))
        return check(system, search="walk", walks=200, traces=None).faults

    assert faults(0) == {"drop": 0}
    assert 0 < faults(1)["drop"] < faults(100)["drop"]


def test_of_all_faults_a_calm_walk_knows_only_those_that_end_others():
    system = System(nodes={"n": Frail()})
    calm = kernel_weights(system, calm=True)
    weights = dict(zip(FAULTS, calm.faults, strict=True))
    assert {fault: weight for fault, weight in weights.items() if weight} == {
        "restart": 40 * UNIT,
        "heal": 40 * UNIT,
    }
    assert calm.lost == [8 * UNIT, 2 * UNIT, UNIT]
    assert kernel_weights(system, calm=False) is None


def walked(system: System, *possible: str, walks: int = 200, depth: int = 30) -> dict[str, int]:
    """How often each fault happened in walks that are calm but for the faults in `possible`."""
    weights = kernel_weights(system, calm=True)
    for fault in possible:
        weights.faults[FAULTS.index(fault)] = UNIT
    with Sandbox(10, None) as sandbox:
        kernel = build(system, Bridge(system, sandbox))
        limits = Limits(depth=depth, keep_going=True, seed=1, walks=walks, weights=weights)
        outcome = kernel.search("walk", limits)
    return {fault: times for fault, times in zip(FAULTS, outcome.faults, strict=True) if times}


def test_what_is_down_or_apart_recovers_in_a_calm_walk_as_often_as_budgets_allow():
    ways = [Partition({"left": ["a"], "right": ["b"]})]
    faults = Faults(crash=2, restart=1, partition=1, heal=1, partitions=ways, drop=1, slow=1)
    system = System(nodes={"a": Frail(), "b": Frail()}, faults=faults)
    assert walked(system) == {}
    happened = walked(system, "crash", "partition")
    assert set(happened) == {"crash", "partition", "restart", "heal"}
    assert happened["restart"] <= 200 < happened["crash"]
    assert happened["heal"] == happened["partition"]


class Tosser(Service):
    drawn: int = -1

    def start(self) -> None:
        self.arm("toss")

    @timer
    def toss(self) -> None:
        self.drawn = self.choose([0, 1, 2], weights=[1, 0, 3])


def test_weights_of_choices_count_in_calm_walks_only():
    claims = [sometimes(lambda w, k=k: w["n"].drawn == k, name=f"drew{k}") for k in range(3)]
    system = System(nodes={"n": Tosser()}, properties=claims)
    calm = check(system, search="walk", calm=True, walks=100, traces=None)
    assert list(calm.properties.values()) == ["reached", "unreached", "reached"]
    plain = check(system, search="walk", walks=100, traces=None)
    assert list(plain.properties.values()) == ["reached"] * 3
    check(system, traces=None).assert_holds()


@pytest.mark.parametrize("weights", [[1, 2], [0, 0, 0], [1, -1, 1], ["a", 1, 1], [1, 1, 1, 1]])
def test_weights_that_do_not_fit_are_refused(weights):
    class Wrong(Service):
        def start(self) -> None:
            self.choose([0, 1, 2], weights=weights)

    with pytest.raises(BadSystem, match="weight"):
        check(System(nodes={"n": Wrong()}), traces=None)


@pytest.mark.parametrize("weight", [-1, 2_000_000, float("nan"), "heavy", True])
def test_a_weight_is_a_number_from_zero(weight):
    with pytest.raises(BadSystem, match="is not a weight"):
        Weights(timer=weight)
    with pytest.raises(BadSystem, match="is not a weight"):
        timer(weight=weight)
    with pytest.raises(BadSystem, match="is not a weight"):
        action(weight=weight)


def test_weights_are_weights():
    with pytest.raises(BadSystem, match="`weights` is a `dict`"):
        System(nodes={"n": Frail()}, weights={"timer": 3})  # type: ignore[arg-type]


@pytest.mark.parametrize("search", ["bfs", "dfs"])
def test_only_walks_can_be_calm(search):
    with pytest.raises(BadSystem, match="`calm` is given for the search"):
        check(System(nodes={"n": Frail()}), search=search, calm=True)


def told(system: System, threads: int, *, calm: bool):
    report = check(
        system,
        search="walk",
        calm=calm,
        walks=60,
        depth=40,
        threads=threads,
        seed=5,
        keep_going=True,
        traces=None,
    )
    broken = {violation.prop for violation in report.violations}
    return report.unique, report.generated, report.depth, broken


@pytest.mark.usefixtures("no_good_runs")
@pytest.mark.parametrize("calm", [False, True])
def test_a_seed_visits_the_same_states_however_many_threads_share_the_walks(calm):
    for seed in range(800_000, 800_006):
        system = featured_system(seed, weights=Weights(timer=2))
        first = told(system, 1, calm=calm)
        assert told(system, 3, calm=calm) == first, seed
        assert told(system, 2, calm=calm) == first, seed


@pytest.mark.slow
@pytest.mark.usefixtures("no_good_runs")
def test_calm_walks_stay_where_no_fault_has_been():
    compared = 0
    for seed in range(810_000, 810_020):
        system = featured_system(seed)
        quiet = System(
            nodes=system.nodes,
            network=system.network,
            calls=system.calls,
            observers=system.observers,
            properties=system.properties,
            skip_noops=system.skip_noops,
        )
        try:
            expected = explore(quiet, 150)
        except TooLarge:
            continue
        report = check(
            system, search="walk", calm=True, walks=100, depth=60, keep_going=True, traces=None
        )
        assert report.unique <= expected.states, seed
        assert {found.prop for found in report.violations} <= set(expected.decided), seed
        compared += 1
    assert compared >= 6


@dataclass(frozen=True)
class Word:
    pass


class Caller(Service):
    """Says a word on a stream, or finds that nobody is there."""

    said: bool = False
    lost: int = 0
    heard: int = 0

    def speak(self, to: str) -> None:
        self.said = self.stream.send(to, Word())

    def shout(self, to: str) -> None:
        self.send(to, Word())

    @on(Word)
    def word(self, word: Word) -> None:
        self.heard += 1

    @broken
    def lose(self, peer: str) -> None:
        self.lost += 1

    @action(when=lambda self: self.said and not self.lost, weight=2)
    def wait(self) -> None:
        self.lost = -1


def lost_first(seed: int, **weights: float) -> bool:
    """Whether the one walk of this seed hears of the refusal, or waits."""
    claim = sometimes(lambda world: world["a"].lost == 1, name="heard")
    system = System(
        nodes={"a": Caller(), "b": Caller()},
        calls={"a": [Call("speak", "b")]},
        streams=Streams(),
        faults=Faults(crash=1, nodes=["b"]),
        weights=Weights(call=1, fault=1_000_000, **weights),
        properties=[claim],
    )
    report = check(system, search="walk", walks=1, seed=seed, depth=4, traces=None)
    return report.properties["heard"] == "reached"


@pytest.mark.slow
def test_a_refusal_has_its_own_weight():
    refused = sum(lost_first(seed) for seed in range(100))
    assert 35 <= refused <= 65  # as likely as `wait`; these seeds, always the same
    assert not any(lost_first(seed, refused=0) for seed in range(20))
    assert all(lost_first(seed, refused=1_000_000) for seed in range(20))


def test_calm_walks_have_no_faults_of_streams():
    ways = [Partition({"left": ["a"], "right": ["b"]})]
    faults = Faults(
        crash=1,
        restart=1,
        drop=1,
        duplicate=1,
        reset=1,
        silent_reset=1,
        cut=1,
        idle_close=1,
        partition=1,
        heal=1,
        partitions=ways,
        slow=1,
    )
    system = System(
        nodes={"a": Caller(), "b": Caller()},
        calls={"a": [Call("speak", "b"), Call("shout", "b")], "b": [Call("speak", "a")]},
        streams=Streams(queue_size=1),
        faults=faults,
    )
    report = check(system, search="walk", calm=True, walks=200, traces=None)
    assert (report.faults, report.unique > 5) == ({}, True)
    faults = set(FAULTS) - set(PROGRAM_FAULTS)
    assert set(walked(system, *faults, walks=1000)) == faults


def test_a_keepalive_happens_in_calm_walks_and_is_rare():
    claim = sometimes(lambda world: world["a"].lost == 1, name="found")
    system = System(
        nodes={"a": Caller(), "b": Caller()},
        calls={"a": [Call("speak", "b")]},
        streams=Streams(),
        faults=Faults(silent_reset=1, nodes=["b"]),
        properties=[claim],
        weights=Weights(fault=1),
    )
    happened = walked(system, "silent_reset", walks=50)
    assert happened == {"silent_reset": 50}
    report = check(system, search="walk", walks=300, traces=None)
    assert report.properties["found"] == "reached"


def test_what_the_world_answers_is_no_matter_of_likelihood():
    """Mutation: let the question whether a queue has room halve the share of a branch."""
    toss = Toss([], extends=True)
    assert (toss.ask(), toss.share) == (0, 1.0)
    assert (toss.pick(4, [1, 1, 1, 1]), toss.share) == (0, 0.25)


def test_branches_for_full_queues_take_no_weight_from_the_others():
    system = System(
        nodes={"a": Caller(), "b": Caller()},
        streams=Streams(queue_size=1),
        calls={"a": [Call("speak", "b")]},
    )
    with Sandbox(10, None) as sandbox:
        branches = Bridge(system, sandbox).step(0, system.automata[0].initial, ("call",))
    assert [branch[5:7] for branch in branches] == [(40 * UNIT, 40 * UNIT)] * 2
