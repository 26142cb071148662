"""What `check` says of `eventually`: fairness, loops, dead ends, and what it does not know."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from presage import UNLIMITED, Call, Faults, Service, System, check, eventually, on, timer
from presage.errors import BadProperty, BadSystem
from presage.execution.fairness import is_fair, unit_of
from presage.execution.lasso import endless
from presage.execution.replay import replay
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.world import World
from presage.trace import codec


@dataclass(frozen=True)
class Ask:
    pass


@dataclass(frozen=True)
class Answer:
    pass


class Client(Service):
    """Asks again and again until it is answered."""

    served: bool = False

    def start(self) -> None:
        self.arm("again")

    @timer(periodic=True)
    def again(self) -> None:
        self.send("server", Ask())

    @on(Answer)
    def answer(self, answer: Answer) -> None:
        self.served = True
        self.disarm("again")


class Server(Service):
    @on(Ask)
    def ask(self, ask: Ask, source: str) -> None:
        self.send(source, Answer())


def served(world: object) -> bool:
    return bool(world["client"].served)  # type: ignore[index]


def service(fairness: str = "weak", **how: object) -> System:
    claim = eventually(served, fairness=fairness)  # type: ignore[arg-type]
    settings: dict[str, object] = {"network": "duplicating", "properties": [claim], **how}
    return System({"client": Client(), "server": Server()}, **settings)  # type: ignore[arg-type]


LOSSY = Faults(drop=UNLIMITED)


def test_what_stays_enabled_is_done_under_weak_fairness() -> None:
    report = check(service(), traces=None)
    assert (report.violations, report.exhausted) == ((), True)
    assert report.liveness["served"].dead == 0
    assert report.notes == ("endless executions were examined too (served: weak fairness)",)


def test_without_fairness_any_cycle_counts() -> None:
    [found] = check(service("none"), traces=None).violations
    assert (found.kind, found.loop, found.steps, found.fairness) == ("liveness", 2, 2, "none")
    assert found.dead is False


def test_a_link_that_may_lose_everything_needs_strong_fairness() -> None:
    [found] = check(service("weak", faults=LOSSY), traces=None).violations
    assert (found.fairness, found.dead) == ("weak", False)
    assert "drop" in [step.kind for step in found.trace.steps[found.loop - 1 :]]
    assert check(service("strong", faults=LOSSY), traces=None).violations == ()


def test_nobody_is_owed_a_call_or_a_restart() -> None:
    class Idle(Service):
        done: bool = False

        def start(self) -> None:
            self.arm("beat")

        @timer(periodic=True)
        def beat(self) -> None:
            """A heartbeat that changes nothing."""

        def work(self) -> None:
            self.done = True

    @eventually
    def done(world) -> bool:
        return world["n"].up and world["n"].done

    [waiting] = check(
        System({"n": Idle()}, calls={"n": [Call("work")]}, properties=[done]), traces=None
    ).violations
    assert (waiting.loop, waiting.dead) == (1, False)
    [down] = check(
        System({"n": Idle(done=True)}, faults=Faults(crash=1, restart=1), properties=[done]),
        traces=None,
    ).violations
    assert (down.loop, down.dead, down.steps) == (None, False, 1)
    assert down.outlook.startswith("stuck: nothing but a fault leads on")


class Walker(Service):
    """Goes right for ever, or down a hole from which there is no way back."""

    at: int = 0
    hole: int = 0

    def start(self) -> None:
        self.arm("go")

    @timer(periodic=True)
    def go(self) -> None:
        if self.hole:
            self.hole = 3 - self.hole
        elif self.at == 3 and self.choose([False, True]):
            self.hole = 1
        else:
            self.at = (self.at + 1) % 12


@eventually
def home(world) -> bool:
    return world["n"].at == 0


def test_a_dead_end_has_a_critical_transition() -> None:
    report = check(System({"n": Walker()}, properties=[home]), traces=None)
    [found] = report.violations
    assert (found.dead, found.critical, found.loop, found.steps) == (True, 4, 5, 6)
    assert found.trace.critical == 4 and found.trace.dead is True
    told = report.liveness["home"]
    assert (told.live, told.unknown, told.dead, told.critical) == (12, 0, 2, 1)


@pytest.mark.parametrize("limit", [{"depth": 8}, {"states": 10}])
def test_what_is_dead_in_a_space_that_was_cut_is_dead_for_certain(limit: dict[str, int]) -> None:
    report = check(System({"n": Walker()}, properties=[home]), traces=None, **limit)
    assert not report.exhausted
    [found] = report.violations
    assert found.dead is True
    told = report.liveness["home"]
    assert told.dead == 2 and told.live >= 1
    # Nobody knows yet whether the way to the right leads home.
    assert (found.critical is None) == (told.unknown > 0)
    assert any("was examined in the explored part" in note for note in report.notes)


def test_where_nothing_bad_was_found_in_a_part_nothing_is_promised() -> None:
    report = check(System({"n": Walker()}, properties=[home]), depth=3, traces=None)
    assert report.violations == ()
    assert report.liveness["home"].unknown == 2
    assert not any("examined too" in note for note in report.notes)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"search": "dfs"}, "`dfs` does not keep the graph"),
        ({"search": "walk", "walks": 3}, "`walk` does not keep the graph"),
        ({"liveness": "rest"}, "only rest was asked for"),
    ],
)
def test_a_check_that_does_not_look_at_cycles_says_so(how: dict[str, object], reason: str) -> None:
    report = check(service("none"), traces=None, **how)  # type: ignore[arg-type]
    assert (report.violations, report.liveness) == ((), {})
    assert "cycles) were not examined" in report.notes[0]
    assert reason in report.notes[0]


def test_a_fairness_or_a_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadProperty, match='(?s)names no fairness.*`"strong"`'):
        eventually(served, fairness="fair")  # type: ignore[call-overload]
    with pytest.raises(BadSystem, match="(?s)there is no liveness `strong`.*`exact`, `rest`"):
        check(service(), liveness="strong")


def test_a_predicate_that_raises_away_from_rest_is_an_error_and_no_pass() -> None:
    @eventually
    def fails_early(world) -> bool:
        return 1 / world["n"].at > 0

    report = check(System({"n": Walker(at=1)}, properties=[fails_early]), traces=None)
    assert report.properties == {"fails_early": "error"}
    assert "ZeroDivisionError" in report.errors[0]


def test_a_loop_is_saved_and_gone_round_again(tmp_path: Path) -> None:
    system = service("none")
    [found] = check(system, traces=tmp_path).violations
    trace = codec.read(found.trace_path)
    assert (trace.loop, trace.fairness, trace.dead) == (2, "none", False)
    replayed = replay(service("none"), trace)
    assert (replayed.message, replayed.rounds) == ("`bool(world['client'].served)` is false", 1)


def test_a_loop_that_is_not_fair_is_not_believed() -> None:
    system = service()
    with Sandbox() as sandbox:
        world = World.initial(system)
        run = ServiceExecution(system, sandbox, world, system.properties[0])
        for _ in range(2):
            run.apply(next(e for e in world.enabled() if e.kind == "timer"), ())
        initial = World.initial(system).fingerprint
        assert endless(run, initial, 2, "none", 2) == "`bool(world['client'].served)` is false"
        assert endless(run, initial, 2, "weak", 2) is None  # the question is never delivered
        assert endless(run, initial, 2, "strong", 2) is None


def test_units_tell_channels_and_types_apart_but_not_contents() -> None:
    system = service()
    world = World.initial(system)
    [again] = world.enabled()
    world.apply(again)
    units = {event.kind: unit_of(system, event) for event in world.enabled()}
    assert units["deliver"].startswith("deliver ")
    assert units["deliver"].endswith("Ask client -> server")
    assert units["timer"].endswith("at client")
    assert is_fair("weak", [{"a"}, {"b"}], [])
    assert not is_fair("weak", [{"a"}, {"a", "b"}], ["b"])
    assert not is_fair("strong", [{"a"}, {"b"}], ["b"])
    assert is_fair("strong", [{"a"}, {"b"}], ["a", "b"])
    assert is_fair("none", [{"a"}], [])
