"""Hunts: what is suspected, where it became inevitable, on what evidence, and what is refused."""

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import pytest

from presage import Faults, Hunt, Service, System, always, check, eventually, on, replay, timer
from presage.errors import BadSystem, BadTrace
from presage.limits import HuntPlan
from presage.search.hunt import executions as hunting
from presage.search.hunt.critical import evidence
from presage.systems import chord
from presage.trace import codec

SMALL = Hunt(walk_length=400, recovery_walks=20, samples=6)


@dataclass(frozen=True)
class Token:
    hops: int


class Ring(Service):
    """Passes a token round; a node that is stuck keeps it."""

    after: str
    stuck: bool = False
    passed: int = 0

    def start(self) -> None:
        if self.name == "a":
            self.send(self.after, Token(0))

    @on(Token)
    def take(self, token: Token) -> None:
        if token.hops == 3 and self.choose((False, True)):
            self.stuck = True
        if not self.stuck:
            self.passed = 1 - self.passed
            self.send(self.after, Token(min(token.hops + 1, 4)))


def moves(world) -> bool:
    return world["b"].passed == 0


def ring(**settings) -> System:
    nodes = {"a": Ring(after="b"), "b": Ring(after="c"), "c": Ring(after="a")}
    return System(nodes, properties=[eventually(moves)], **settings)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("threads", [1, 3])
def test_the_critical_transition_is_the_step_in_which_it_went_wrong(seed, threads, tmp_path):
    report = check(ring(), search="hunt", hunt=SMALL, seed=seed, threads=threads, traces=tmp_path)
    [found] = report.violations
    assert (found.prop, found.kind, found.dead) == ("moves", "liveness", True)
    assert found.evidence.startswith("exact: it holds in none of the 1 states")
    step = found.trace.steps[found.critical - 1]
    assert step.label == "Token a -> b" and step.changes["b"]["stuck"] == ("False", "True")
    assert found.fact == f"moves never holds again after step {found.critical}"
    shares = {steps: recovered / walks for steps, recovered, walks in found.recovery}
    assert shares[found.critical] == 0
    assert 0 < shares[found.critical - 1] <= 1
    assert replay(ring(), codec.read(found.trace_path)).message is not None
    live = codec.read(found.live_path)
    assert live.steps[: found.critical - 1] == found.trace.steps[: found.critical - 1]
    assert replay(ring(), live).message == live.message


class Endless(Service):
    """Works for ever, and is done only while a number that grows is small."""

    count: int = 0

    def start(self) -> None:
        self.arm("work")

    @timer(periodic=True)
    def work(self) -> None:
        self.count += 1


def test_what_ceases_for_good_in_an_endless_space_is_told_with_a_confidence():
    young = eventually(lambda world: world["a"].count < 10, name="young")
    report = check(System({"a": Endless()}, properties=[young]), search="hunt", hunt=SMALL)
    [found] = report.violations
    assert found.critical == 10 and found.dead
    assert "none of 20 walks of 400 steps recovered" in found.evidence
    assert "fewer than 13.9% would" in found.evidence
    assert found.walked > 200 and found.steps == 210  # of a long execution the beginning is kept


def test_what_may_still_recover_is_not_called_dead():
    rare = eventually(lambda world: world["a"].count % 1_000 == 999, name="rare")
    report = check(System({"a": Endless()}, properties=[rare]), search="hunt", hunt=SMALL)
    [found] = report.violations
    assert found.critical is None and found.dead is None
    assert "raise the walk length" in found.evidence
    assert found.fact.startswith("rare did not hold again within")
    longer = Hunt(walk_length=5_000)
    report = check(
        System({"a": Endless()}, properties=[rare]), search="hunt", hunt=longer, walks=50
    )
    assert report.violations == ()


def test_what_never_holds_is_dead_from_the_start():
    never = eventually(lambda world: False, name="never")
    report = check(ring_of(never), search="hunt", hunt=SMALL, traces=None)
    [found] = report.violations
    assert found.critical == 0 and found.fact == "never can never hold"


def ring_of(claim) -> System:
    nodes = {"a": Ring(after="b"), "b": Ring(after="c"), "c": Ring(after="a")}
    return System(nodes, properties=[claim])


def test_a_hunt_judges_safety_on_its_way():
    safe = always(lambda world: not world["b"].stuck, name="never_stuck")
    report = check(ring_of(safe), search="hunt", hunt=SMALL, traces=None)
    [found] = report.violations
    assert (found.prop, found.kind) == ("never_stuck", "safety")


def test_a_hunt_counts_how_executions_ended():
    report = check(ring(), search="hunt", hunt=SMALL, traces=None)
    told = report.to_json()["hunt"]
    assert told["live"] > 0 and told["rest"] == 1 and told["long"] == 0
    assert told["steps_to_live"]["50"] <= told["steps_to_live"]["100"]
    assert any("calm walks" in note for note in report.notes)


@pytest.mark.parametrize("executions", ["both", "tree", "delay", "random"])
@pytest.mark.parametrize("order", ["seed", "likely"])
def test_each_kind_of_executions_finds_it_alone(executions, order):
    how = Hunt(walk_length=400, recovery_walks=20, executions=executions, order=order, prefixes=0)
    assert len(check(ring(), search="hunt", hunt=how, traces=None).violations) == 1


@pytest.mark.parametrize("executions", ["tree", "delay"])
def test_what_is_systematic_ends_where_there_is_nothing_beyond(executions):
    calm = eventually(lambda world: True, name="calm")
    how = Hunt(executions=executions, count="steps", prefixes=0)
    report = check(ring_of(calm), search="hunt", hunt=how, traces=None)
    assert report.hunted.complete and report.unique == check(ring_of(calm)).unique
    assert any("from all executions" in note for note in report.notes)


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_that_are_kept_no_more_are_never_all_executions(threads, monkeypatch):
    calm = eventually(lambda world: True, name="calm")
    how = {"search": "hunt", "hunt": Hunt(executions="delay", prefixes=0), "traces": None}
    whole = check(ring_of(calm), threads=threads, **how)
    for words in range(0, 161, 20):  # all of it takes less than 200
        monkeypatch.setattr(hunting, "HuntPlan", partial(HuntPlan, run_words=words))
        report = check(ring_of(calm), threads=threads, **how)
        assert not report.hunted.complete and not report.exhausted
        assert report.unique < whole.unique
        assert not any("from all executions" in note for note in report.notes)
    monkeypatch.setattr(hunting, "HuntPlan", partial(HuntPlan, run_words=1 << 20))
    report = check(ring_of(calm), threads=threads, **how)
    assert report.hunted.complete and report.unique == whole.unique


def test_a_seed_gives_the_same_runs_on_one_thread():
    how = {"search": "hunt", "hunt": Hunt(executions="delay", prefixes=0), "traces": None}
    report = check(chord.system(era="2017", crashes=1), walks=600, threads=1, **how)
    assert report.violations == () and report.executions == 600
    assert report.hunted.live == 600 and report.hunted.delays == 3
    again = check(chord.system(era="2017", crashes=1), walks=600, threads=1, **how)
    assert (again.unique, again.hunted.lengths) == (report.unique, report.hunted.lengths)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_share_the_ends_of_runs_between_them(threads):
    """A limit cuts off ends by who was quicker; without one, all are met whoever is."""
    calm = eventually(lambda world: True, name="calm")
    how = {"search": "hunt", "hunt": Hunt(executions="delay", prefixes=0), "traces": None}
    alone = check(ring_of(calm), threads=1, **how)
    shared = check(ring_of(calm), threads=threads, **how)
    assert alone.hunted.complete and shared.hunted.complete
    for name in ("executions", "unique"):
        assert getattr(shared, name) == getattr(alone, name) > 0
    assert shared.hunted.delays == alone.hunted.delays


def test_a_hunt_goes_on_from_a_prefix(tmp_path):
    [found] = check(ring(), search="hunt", hunt=SMALL, traces=tmp_path).violations
    prefix = found.trace.prefix(found.critical - 1)
    how = Hunt(walk_length=400, recovery_walks=20, prefix=prefix)
    [again] = check(ring(), search="hunt", hunt=how, traces=None, seed=7).violations
    assert again.trace.steps[: len(prefix.steps)] == prefix.steps
    with pytest.raises(BadTrace):
        other = System({"a": Endless()}, properties=[eventually(moves)])
        check(other, search="hunt", hunt=how, traces=None)


def test_a_limit_ends_a_hunt_and_its_report_says_so():
    alive = eventually(lambda world: True, name="alive")
    report = check(System({"a": Endless()}, properties=[alive]), search="hunt", walks=7)
    assert report.executions == 7 and not report.exhausted
    report = check(System({"a": Endless()}, properties=[alive]), search="hunt", states=20)
    assert report.stopped_by == "states"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"walk_length": 0}, "`Hunt(walk_length=0)` is not a count"),
        ({"storm": True}, "`Hunt(storm=True)` is not a count"),
        ({"order": "best"}, "`Hunt(order='best')` is not known"),
        ({"executions": "most"}, "use one of `all`, `both`, `tree`, `delay`, `random`"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(BadSystem) as refused:
        Hunt(**settings)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"search": "bfs", "hunt": Hunt()}, "`hunt` is given for the search `bfs`"),
        ({"search": "hunt", "calm": True}, "`calm` is given for the search `hunt`"),
        (
            {"search": "hunt", "reduction": "sleep"},
            "the reduction `sleep` is given for the search `hunt`",
        ),
        ({"search": "hunt", "symmetry": True}, "`symmetry` is given for the search `hunt`"),
        ({"search": "hunt", "checkpoint": "kept"}, "only `bfs` keeps its progress"),
    ],
)
def test_what_does_not_go_together_with_a_hunt_is_refused(how, words):
    with pytest.raises(BadSystem) as refused:
        check(ring(), traces=None, **how)
    assert words in str(refused.value)


def test_faults_happen_in_the_storm_and_not_in_the_calm():
    system = ring(faults=Faults(drop=1))
    report = check(system, search="hunt", hunt=SMALL, traces=None)
    [found] = report.violations
    kinds = [step.kind for step in found.trace.steps]
    assert report.faults["drop"] > 0 or "drop" not in kinds


def test_the_evidence_says_which_of_maces_conditions_it_is():
    facts = {"critical": None, "tried": 0, "live": 0, "states": None, "length": 400}
    facts |= {"in_time": True, "slow": False, "rested": 0, "walks": 20, "rested_within": 0}

    def told(**more):
        return evidence(SimpleNamespace(**(facts | more)), SMALL)

    assert "not even walks from the start" in told()
    facts |= {"tried": 300, "live": 150}
    assert "walks still recovered after step 150" in told()
    assert "time ran out" in told(in_time=False)
    assert "but a longer one did" in told(slow=True)
    facts |= {"critical": 3}
    assert told().startswith("none of 20 walks of 400 steps recovered: with 95%")
    rested = told(rested=20, rested_within=7)
    assert rested.startswith("none of 20 walks, which all came to rest within 7 steps, recovered")
    rested = told(rested=5, rested_within=1)
    assert "of which 5 came to rest within 1 step and the others were 400 steps long," in rested
