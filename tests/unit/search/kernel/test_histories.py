"""Histories that the kernel follows by itself, against those that Python follows."""

from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from msgspec import Struct

from presage import (
    Invoke,
    Linearizable,
    Return,
    SequentiallyConsistent,
    Service,
    System,
    action,
    always,
    check,
    linearizable,
    sequentially_consistent,
)
from presage._core import Steps
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.props.history import History
from presage.props.order import find_order
from presage.search.check import build
from presage.search.kernel.bridge import Bridge
from presage.search.report import Report
from presage.search.twin.wire import OBSERVING

# Equal by `==`, and different states to presage.
RESULTS: tuple[Any, ...] = (1, True, 1.0, None, "a", (1, 2), (True, 2))


@dataclass(frozen=True)
class Table:
    """Any finite spec: per state and operation what happens; None where it cannot."""

    rows: tuple[tuple[tuple[int, Any] | None, ...], ...]

    def initial(self) -> int:
        return 0

    def apply(self, state: int, op: int) -> tuple[int, Any] | None:
        return self.rows[state][op]


def some_table(random: Random) -> Table:
    def cell() -> tuple[int, Any] | None:
        return None if random.random() < 0.2 else (random.randrange(4), random.choice(RESULTS[:5]))

    return Table(tuple(tuple(cell() for _ in range(3)) for _ in range(4)))


def some_history(random: Random, observer: Any, spec: Table) -> History:
    """Clients that ask, and are mostly answered what the spec says in some order."""
    names = [f"c{k}" for k in range(random.randint(1, 4))]
    state, answers, history = spec.initial(), {}, observer.initial()
    for _ in range(random.randint(0, 12)):
        name = random.choice(names)
        if name in answers:
            history = observer.observe(history, name, Return(answers.pop(name)))
            continue
        op = random.randrange(3)
        outcome = spec.apply(state, op)
        state, answer = outcome or (state, random.choice(RESULTS))
        if random.random() < 0.15:
            answer = random.choice(RESULTS)
        answers[name] = answer
        history = observer.observe(history, name, Invoke(op))
    return history


class Idle(Service):
    pass


def kernel_of(system: System, sandbox: Sandbox) -> Any:
    return build(system, Bridge(system, sandbox))


@pytest.mark.parametrize("observer", [Linearizable, SequentiallyConsistent])
def test_verdicts_are_those_of_the_order_that_python_looks_for(observer: Any) -> None:
    counts = {True: 0, False: 0}
    with Sandbox() as sandbox:
        for seed in range(60):
            random = Random(seed)
            spec = some_table(random)
            system = System({"a": Idle()}, observers={"history": observer(spec)}, properties=[])
            kernel = kernel_of(system, sandbox)
            for _ in range(20):
                history = some_history(random, observer(spec), spec)
                expected = find_order(spec, history.clients) is not None
                real_time = observer is Linearizable
                assert kernel.is_ordered(history, real_time) is expected, history
                counts[expected] += 1
                weaker = history.forget_real_time()
                expected = find_order(spec, weaker.clients) is not None
                assert kernel.is_ordered(history, False) is expected, history
    assert min(counts.values()) > 200, counts


class Client(Service):
    """Asks, and is answered anything at any time."""

    answers: tuple[Any, ...]
    left: int = 4
    asked: bool = False

    @action(when=lambda self: self.left > 0)
    def go(self) -> None:
        if self.asked:
            self.record(Return(self.choose(self.answers)))
        else:
            self.record(Invoke(self.choose((0, 1))))
        self.asked = not self.asked
        self.left -= 1


class SlowLinearizable(Linearizable, frozen=True):
    """A subclass: Python follows and judges it."""


class SlowSequential(SequentiallyConsistent, frozen=True):
    """The same."""


SLOW = {Linearizable: SlowLinearizable, SequentiallyConsistent: SlowSequential}


def asking(observer: Any, *properties: Any, clients: int = 2, answers: Any = (1, True, 0)) -> Any:
    nodes = {f"c{k}": Client(answers=answers) for k in range(clients)}
    return System(nodes, observers={"history": observer}, properties=list(properties))


def outcome(report: Report) -> tuple[Any, ...]:
    """All that must be the same, whoever follows histories."""
    found = [(each.prop, each.message, each.steps) for each in report.violations]
    return report.unique, report.generated, report.depth, report.properties, report.errors, found


@pytest.mark.parametrize("observer", [Linearizable, SequentiallyConsistent])
@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"search": "dfs"}], ids=repr)
def test_a_check_is_what_it_is_with_observers_in_python(observer: Any, options: Any) -> None:
    claims = {Linearizable: linearizable, SequentiallyConsistent: sequentially_consistent}
    for seed in range(4):
        spec = some_table(Random(seed))
        ours, theirs = (
            check(asking(kind(spec), claims[observer]()), traces=None, **options)
            for kind in (observer, SLOW[observer])
        )
        if "threads" in options and ours.violations:
            assert ours.properties == theirs.properties
        else:
            assert outcome(ours) == outcome(theirs)
        assert ours.property_runs <= theirs.property_runs


def test_all_states_are_found_with_the_fingerprints_of_python() -> None:
    @always
    def fine(world: Any) -> bool:
        return world.observer("history").malformed is None

    random = Random(7)
    spec = some_table(random)
    system = asking(Linearizable(spec), linearizable(), fine, answers=(1, True))
    with Sandbox() as sandbox:
        bridge = Bridge(system, sandbox)
        kernel = build(system, bridge)
        kernel.search("bfs", Limits(keep_going=True))
        steps = Steps(kernel)
        _, met = steps.met(100_000, 1 << 26)
        observed = [step for step in met if step[0] == OBSERVING]
        assert len(observed) > 1_000
        for kind, slot, values, cause, did in observed:
            assert steps.digest(kind, slot, values, cause) == did


class Asked(Struct, frozen=True):
    """A counter that counts how often it is asked, unseen by presage."""

    def initial(self) -> int:
        return 0

    def apply(self, state: int, op: int) -> tuple[int, int] | None:
        ASKED.append(op)
        return ((state + op) % 3, 1)


ASKED: list[int] = []


def test_a_spec_is_asked_once_per_state_and_operation() -> None:
    counts = []
    reports = []
    for observer in (Linearizable, SlowLinearizable):
        ASKED.clear()
        system = asking(observer(Asked()), linearizable(), answers=(1, True))
        reports.append(check(system, traces=None))
        counts.append(len(ASKED))
    ours, theirs = reports
    assert outcome(ours) == outcome(theirs)
    assert ours.exhausted and ours.properties == {"linearizable": "held"}
    assert counts[0] * 10 < counts[1]
    # The first verdicts are given twice, and later some.
    assert 32 <= ours.property_runs < 64 < 1_000 < theirs.property_runs


class Unsure(Struct, frozen=True):
    """A spec that fails where one operation follows another."""

    error: str

    def initial(self) -> Any:
        return [] if self.error == "unhashable" else 0

    def apply(self, state: Any, op: int) -> Any:
        if self.error == "raises" and state and op:
            raise LookupError("no such operation")
        if self.error == "no pair" and state:
            return (1, 2, 3)
        if self.error == "no state" and op:
            return (lambda: op), 1
        return state, (1 if state else True)


@pytest.mark.parametrize("error", ["raises", "unhashable", "no pair", "no state"])
def test_what_a_spec_raises_is_told_as_ever(error: str) -> None:
    ours, theirs = (
        outcome(check(asking(observer(Unsure(error)), linearizable()), traces=None))
        for observer in (Linearizable, SlowLinearizable)
    )
    assert ours == theirs


def test_misuse_is_told_as_ever() -> None:
    class Hasty(Service):
        @action(when=lambda self: True)
        def go(self) -> None:
            self.record(self.choose((Invoke(0), Return(1))))

    reports = []
    for observer in (Linearizable, SlowLinearizable):
        system = System(
            {"c": Hasty()}, observers={"h": observer(Asked())}, properties=[linearizable("h")]
        )
        reports.append(outcome(check(system, traces=None)))
    assert reports[0] == reports[1]
    assert "had asked nothing" in str(reports[0])


def test_what_python_does_not_find_equal_to_itself_is_no_answer() -> None:
    class Nan(Struct, frozen=True):
        def initial(self) -> int:
            return 0

        def apply(self, state: int, op: int) -> tuple[int, float]:
            return 0, float("nan")

    reports = [
        outcome(check(asking(kind(Nan()), linearizable(), answers=(float("nan"),)), traces=None))
        for kind in (Linearizable, SlowLinearizable)
    ]
    assert reports[0] == reports[1] and reports[0][3] == {"linearizable": "violated"}


def test_records_of_a_subclass_and_of_other_kinds_are_taken_as_ever() -> None:
    class Ask(Invoke, frozen=True):
        when: int = 0

    class Odd(Service):
        n: int = 0

        @action(when=lambda self: self.n < 4)
        def go(self) -> None:
            self.record((Ask(1, self.n), "noise", Return([1]), {"noise": 1})[self.n])
            self.n += 1

    reports = []
    for observer in (Linearizable, SlowLinearizable):
        system = System(
            {"c": Odd(), "d": Odd()},
            observers={"h": observer(Asked())},
            properties=[sequentially_consistent("h")],
        )
        reports.append(outcome(check(system, traces=None)))
    assert reports[0] == reports[1]


def test_a_check_goes_on_from_a_checkpoint_with_its_histories(tmp_path: Any) -> None:
    def run(observer: Any, **options: Any) -> Report:
        spec = Table((((0, 1), (1, 1)), ((1, 1), (0, True))))
        system = asking(observer(spec), linearizable(), answers=(1, True))
        return check(system, traces=None, **options)

    whole = run(SlowLinearizable)
    first = run(Linearizable, checkpoint=tmp_path / "saved", states=whole.unique // 2)
    assert not first.exhausted
    rest = run(Linearizable, checkpoint=tmp_path / "saved", resume=True)
    assert rest.exhausted and rest.resumed_from
    assert (rest.unique, rest.generated) == (whole.unique, whole.generated)
    assert rest.properties == whole.properties
