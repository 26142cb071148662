"""`search="cycles"`: what it finds, what it must not report, what is refused."""

import pytest

from presage import (
    Delay,
    Scheduler,
    Service,
    System,
    action,
    always,
    check,
    eventually,
    timer,
)
from presage.errors import BadSystem
from presage.systems import two_phase_commit


class Ticks(Service):
    """Ticks for ever; `finish` is possible all along."""

    ticks: int = 0
    done: bool = False

    def start(self) -> None:
        self.arm("tick")
        self.arm("finish")

    @timer(periodic=True)
    def tick(self) -> None:
        self.ticks = (self.ticks + 1) % 3

    @timer
    def finish(self) -> None:
        self.done = True


class FinishLast(Scheduler):
    def rank(self, task):
        return int(task.name == "finish")


def ticking(**how):
    finishes = eventually(lambda world: world["a"].done, name="finishes", **how)
    return System({"a": Ticks()}, properties=[finishes])


def searched(system, **how):
    return check(system, search="cycles", traces=None, **how)


@pytest.mark.parametrize("fairness", ["weak", "strong"])
def test_a_loop_is_not_fair_because_what_it_starves_was_cut(fairness):
    late = {"delay": Delay(FinishLast(), delays=0)}
    report = searched(ticking(fairness=fairness), **late)
    assert report.violations == () and report.stopped_by == "delays"
    assert report.unique == 3  # the loop is there, and all that it starves is not
    assert str(report).startswith("held so far: 1 property up to 0 delays")
    [found] = searched(ticking(fairness="none"), **late).violations
    assert (found.loop, found.steps, found.delays, found.dead) == (1, 3, 0, None)
    whole = searched(ticking(fairness=fairness))
    assert whole.exhausted and whole.violations == ()
    assert f"finishes: {fairness} fairness" in str(whole)


def test_fairness_can_be_asked_for():
    [found] = searched(ticking(), fairness="none").violations
    assert found.fairness == "none" and found.trace.fairness == "none"
    assert searched(ticking(fairness="none"), fairness="weak").violations == ()


class Circles(Service):
    """Goes round at the end of a ladder whose other rungs lead to a large part without cycles."""

    at: int = 0
    junk: int = 0
    other: str = ""

    def start(self) -> None:
        self.arm("step")
        self.arm("waste")

    @timer(periodic=True)
    def step(self) -> None:
        self.at = self.at + 1 if self.at < 9 else 5

    @timer(periodic=True)
    def waste(self) -> None:
        self.junk = self.junk + 1 if self.junk < 3_000 else 0


class WasteLast(Scheduler):
    def rank(self, task):
        return int(task.name == "waste")


ALGORITHMS = [("scc", 1), ("ndfs", 1), ("indfs", 1), ("map", 1), ("map", 2)]


@pytest.mark.parametrize(("algorithm", "threads"), ALGORITHMS)
def test_a_cycle_is_found_before_the_whole_graph_is_known(algorithm, threads):
    resting = eventually(lambda world: world["a"].at < 5, name="resting", fairness="none")
    system = System({"a": Circles()}, properties=[resting])
    how = {"delay": Delay(WasteLast()), "algorithm": algorithm, "threads": threads}
    report = searched(system, **how)
    assert report.unique == 10  # of 30,010
    [found] = report.violations
    assert (found.loop, found.steps) == (found.loop, found.loop + 4)
    assert found.delays == (None if algorithm == "ndfs" else 0)
    told = report.to_json()["cycles"]
    assert (told["algorithm"], told["passes"]) == (algorithm, 1)
    assert told["checked"] > 0 or algorithm == "map"  # the first root closed a cycle
    assert f"cycles by {algorithm}: 1 pass over the graph" in str(report)


@pytest.mark.parametrize(("algorithm", "threads"), ALGORITHMS)
def test_going_round_is_fine_where_the_property_holds_on_the_way(algorithm, threads):
    again = eventually(lambda world: world["a"].ticks == 1, name="again", fairness="none")
    system = System({"a": Ticks()}, properties=[again])
    report = searched(system, algorithm=algorithm, threads=threads)
    assert report.exhausted and report.properties == {"again": "held"}


class Idles(Service):
    """A step that changes nothing can be taken for ever."""

    left: bool = False

    def start(self) -> None:
        self.arm("idle")

    @timer(periodic=True)
    def idle(self) -> None:
        pass

    @action(when=lambda self: not self.left)
    def leave(self) -> None:
        self.left = True


@pytest.mark.parametrize(("algorithm", "threads"), ALGORITHMS)
def test_a_step_that_changes_nothing_is_a_loop(algorithm, threads):
    leaves = eventually(lambda world: world["a"].left, name="leaves", fairness="none")
    system = System({"a": Idles()}, properties=[leaves])
    [expected] = check(system, traces=None).violations
    [found] = searched(system, algorithm=algorithm, threads=threads).violations
    assert (expected.loop, expected.steps) == (found.loop, found.steps) == (1, 1)


class Climbs(Service):
    at: int = 0

    def start(self) -> None:
        self.arm("climb")

    @timer
    def climb(self) -> None:
        self.at += 1
        if self.at < 150:
            self.arm("climb")


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_share_a_pass_over_a_large_graph(threads):
    nodes = {"a": Climbs(), "b": Climbs()}
    top = eventually(lambda world: world["a"].at + world["b"].at == 300, name="top")
    how = {"algorithm": "map", "fairness": "none", "threads": threads}
    report = searched(System(nodes, properties=[top]), **how)
    assert report.exhausted and report.unique == 151 * 151
    assert report.properties == {"top": "held"}
    assert report.cycled.checked < 151 * 151 // 10  # what lies on no loop is trimmed
    assert report.cycled.refining > 0


class Turns(Service):
    at: int = 0

    def start(self) -> None:
        self.arm("turn")

    @timer(periodic=True)
    def turn(self) -> None:
        self.at = (self.at + 1) % 60


class Stages(Service):
    at: int = 0

    @action(when=lambda self: self.at < 4)
    def rise(self) -> None:
        self.at += 1


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_refine_a_large_graph(threads):
    nodes = {"a": Turns(), "b": Turns(), "c": Stages()}
    risen = eventually(lambda world: world["c"].at == 4, name="risen")
    report = searched(System(nodes, properties=[risen]), algorithm="map", threads=threads)
    assert report.exhausted and report.unique == 60 * 60 * 5
    assert report.properties == {"risen": "held"}  # round each loop `rise` is owed
    assert report.cycled.checked > 0
    assert report.cycled.refining > 0


def test_rest_and_safety_are_judged_on_the_way():
    never = eventually(lambda world: False, name="never")
    small = always(lambda world: world["a"].ticks < 2, name="small")
    system = System({"a": Ticks()}, properties=[small, never])
    report = searched(system)
    assert [found.prop for found in report.violations][0] == "small"
    report = searched(system, keep_going=True)
    assert {found.prop for found in report.violations} == {"small", "never"}


def test_limits_end_it_and_nothing_is_claimed_that_was_not_looked_at():
    report = searched(ticking(), states=2)
    assert (report.stopped_by, report.exhausted) == ("states", False)
    report = searched(ticking(), seconds=1e-9)
    assert report.properties["finishes"] == "unknown"
    assert "cycles) were not examined to the end: time ran out" in str(report)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"algorithm": "map", "fairness": "strong"}, "assumes strong fairness"),
        ({"algorithm": "indfs", "fairness": "none", "threads": 2}, "with 2 threads"),
        ({"algorithm": "ndfs", "fairness": "none", "delay": Delay(delays=2)}, "limit of delays"),
        ({"algorithm": "ndfs", "fairness": "none", "keep_going": True}, "with `--keep-going`"),
        ({"algorithm": "tarjan"}, "there is no algorithm `tarjan`"),
        ({"fairness": "fair"}, "there is no fairness `fair`"),
        ({"liveness": "rest"}, "`rest` is given for the search `cycles`"),
        ({"spill": "there", "memory_mib": 4_000}, "`spill` is given for the search `cycles`"),
    ],
)
def test_what_it_cannot_do_is_refused(settings, said):
    with pytest.raises(BadSystem, match=said):
        searched(ticking(), **settings)


def test_it_is_refused_where_nothing_is_claimed_of_endless_executions():
    with pytest.raises(BadSystem, match="has no `@eventually`"):
        searched(two_phase_commit.system(rms=2))
    with pytest.raises(BadSystem, match="the algorithm `map` is given for the search `bfs`"):
        check(ticking(), algorithm="map", traces=None)
