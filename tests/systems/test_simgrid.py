"""SimGrid's test programs, ported: how many traces there are, and what is wrong.

`SimGrid` is what its own tests expect of complete searches with its optimal reduction. Where ours
differs, the reason stands beside it.
"""

import importlib
from math import factorial
from typing import NamedTuple

import pytest
from process.explore import explore

from presage import Delay, check
from presage.systems.simgrid import PROGRAMS

FINER = "there, a release is dependent on every wait at that semaphore; here, on the one it ends"
SEES_MORE = "here, a wait for any is dependent on every post that completes a member"


class Expected(NamedTuple):
    """One program with its parameters."""

    program: str
    parameters: dict
    traces: int
    violations: frozenset = frozenset()
    simgrid: int | None = None  # where SimGrid states it
    why: str = ""  # ours differs


NO_EXCEPTION, NO_DEADLOCK = frozenset({"no_exception"}), frozenset({"no_deadlock"})

EXPECTED = [
    Expected("bugged1", {}, 6, NO_EXCEPTION),
    Expected("bugged1", {"clients": 4}, 24, NO_EXCEPTION),
    Expected("bugged2", {}, 6, NO_EXCEPTION | NO_DEADLOCK),
    Expected("failing_assert", {}, 2, NO_EXCEPTION),
    Expected("electric_fence", {}, 2, simgrid=2),
    Expected("only_send_deterministic", {}, 2, simgrid=2),
    Expected("only_send_deterministic", {"ranks": 5}, 24),
    Expected("only_send_deterministic", {"ranks": 5, "marked": False}, 24),
    Expected("only_send_deterministic", {"ranks": 4, "last": True}, 6, NO_EXCEPTION),
    Expected("groups_of_three", {"ranks": 3}, 2),
    Expected("groups_of_three", {"ranks": 9}, 8),
    Expected("random_bug", {"fails": False}, 36, simgrid=36),
    Expected("random_bug", {}, 36, NO_EXCEPTION),
    Expected("waitany", {}, 4, simgrid=2, why=SEES_MORE),
    Expected("waitany", {"bug": True}, 4, NO_EXCEPTION),
    Expected("centralized_mutex", {}, 14, simgrid=14),
    Expected("centralized_mutex", {"finish": False}, 4),
    Expected("centralized_mutex", {"bug": "ignores_first"}, 4, NO_DEADLOCK),
    Expected("centralized_mutex", {"watched": True}, 14),
    Expected(
        "centralized_mutex",
        {"bug": "grants_twice", "watched": True},
        80,
        frozenset({"one_at_a_time"}),
    ),
    Expected("simple_mutex", {"threads": 4}, 24, simgrid=24),
    Expected("simple_mutex", {"threads": 3, "deadlock": True}, 12, NO_DEADLOCK),
    Expected("philosophers", {"count": 4}, 24, simgrid=24),
    Expected("philosophers", {"count": 4, "variant": "mutex_deadlock"}, 15, NO_DEADLOCK),
    Expected("philosophers", {"count": 5, "variant": "mutex_deadlock"}, 31, NO_DEADLOCK),
    Expected("philosophers", {"count": 3, "variant": "semaphores_ok"}, 72, simgrid=96, why=FINER),
    Expected("philosophers", {"count": 3, "variant": "semaphores_deadlock"}, 222, NO_DEADLOCK),
    Expected("producer_consumer", {"producers": 2, "consumers": 2}, 36, simgrid=36),
    Expected("producer_consumer", {"items": 3, "places": 4}, 5, simgrid=30, why=FINER),
    Expected("producer_consumer", {"deadlock": True}, 3, NO_DEADLOCK),
    Expected("barber_shop", {"customers": 4, "chairs": 2}, 192, simgrid=1152, why=FINER),
    Expected("barber_shop", {"forgets": True}, 2, NO_DEADLOCK),
    Expected("cond_broadcast", {"threads": 3}, 36, simgrid=480, why=FINER),
    Expected("cond_broadcast", {"condition": True}, 10),
    Expected("cond_broadcast", {"condition": True, "careless": True}, 10, NO_DEADLOCK),
    Expected("pi", {"threads": 5}, 120, simgrid=120),
    Expected("pi", {"threads": 7}, 5040, simgrid=5040),
    Expected("mpat", {}, 48, simgrid=48),
    Expected("mpat", {"pairs": 5}, 3840, simgrid=3840),
    Expected("multiprodcon", {}, 60, simgrid=60),
    Expected("dispatcher", {}, 137, simgrid=137),
    Expected("poke", {}, 160, simgrid=160),
    Expected("poke", {"workers": 8}, 3700, simgrid=3700),
    Expected("chord", {}, 5, NO_EXCEPTION | NO_DEADLOCK),
    Expected("chord", {"bug": False}, 45),
]
LONG = ("producer_consumer items=3 places=4", "groups_of_three ranks=9")  # the plain way


def name_of(case: Expected) -> str:
    return " ".join([case.program, *(f"{name}={value}" for name, value in case.parameters.items())])


SMALL = [case for case in EXPECTED if case.traces <= 12 and name_of(case) not in LONG]
TINY = ("failing_assert", "electric_fence", "random_bug", "waitany", "groups_of_three")


def build(name: str, **parameters):
    return importlib.import_module(f"presage.systems.simgrid.{name}").program(**parameters)


@pytest.mark.parametrize("case", EXPECTED, ids=name_of)
def test_traces_and_violations_are_as_expected(case):
    report = check(build(case.program, **case.parameters), reduction="odpor", keep_going=True)
    assert report.exhausted
    assert (report.traces, report.executions) == (case.traces, case.traces)
    assert {violation.prop for violation in report.violations} == case.violations


@pytest.mark.parametrize("case", SMALL, ids=name_of)
def test_the_plain_way_finds_as_many_traces(case):
    found = explore(build(case.program, **case.parameters), reduced=True)
    assert found.runs == case.traces
    assert bool(found.failures) == ("no_exception" in case.violations)
    assert bool(found.deadlocks) == ("no_deadlock" in case.violations)


WEAKER = [(case, reduction) for case in SMALL for reduction in ("dpor", "sdpor")]
WEAKER += [(case, "none") for case in SMALL if case.program in TINY and case.traces < 8]


@pytest.mark.parametrize("case, reduction", WEAKER, ids=lambda x: getattr(x, "program", x))
def test_weaker_reductions_find_the_same_violations(case, reduction):
    program = build(case.program, **case.parameters)
    report = check(program, reduction=reduction, keep_going=True)
    assert {violation.prop for violation in report.violations} == case.violations
    assert report.traces >= case.traces


@pytest.mark.parametrize("case", EXPECTED, ids=name_of)
def test_searches_over_states_find_the_same_violations(case):
    met = set()
    for search in ("bfs", "delay"):
        program = build(case.program, **case.parameters)
        report = check(program, search=search, keep_going=True, states=20_000)
        found = {violation.prop for violation in report.violations}
        assert found == case.violations if report.exhausted else found <= case.violations
        met.add(report.exhausted and report.unique)
    assert len(met) == 1


def test_where_simgrid_differs_a_reason_is_given():
    differing = [case for case in EXPECTED if case.simgrid not in (None, case.traces)]
    assert all(case.why for case in differing)
    assert not [case for case in EXPECTED if case.why and case not in differing]


def test_every_program_is_expected_to_do_something():
    assert sorted({case.program for case in EXPECTED}) == sorted(PROGRAMS)


@pytest.mark.slow
def test_a_large_dispatcher_has_as_many_traces_as_in_simgrid():
    assert check(build("dispatcher", servers=5, requests=4)).traces == 15282


class TestThePapersListings:
    """Tables 1(b) and 1(c): nodes of the tree, and what an optimal reduction needs."""

    @pytest.mark.parametrize("ranks, nodes", [(2, 13), (3, 520), (4, 60_893)])
    def test_every_order(self, ranks, nodes):
        program = build("only_send_deterministic", ranks=ranks)
        assert check(program, reduction="none").unique == nodes

    @pytest.mark.parametrize("ranks, nodes", [(2, 5), (3, 16), (4, 58), (5, 247)])
    def test_one_order_of_each_kind(self, ranks, nodes):
        report = check(build("only_send_deterministic", ranks=ranks))
        assert (report.unique, report.traces) == (nodes, factorial(ranks - 1))

    @pytest.mark.parametrize("scheduler", ["rtc", "rr", "random"])
    @pytest.mark.parametrize("ranks, states", [(2, 7), (3, 42)])
    def test_every_state(self, ranks, states, scheduler):
        program = build("only_send_deterministic", ranks=ranks)
        report = check(program, search="delay", delay=Delay(scheduler), traces=None)
        assert (report.unique, report.exhausted) == (states, True)

    @pytest.mark.parametrize("ranks, nodes", [(3, 16), (6, 53), (9, 141)])
    def test_groups(self, ranks, nodes):
        report = check(build("groups_of_three", ranks=ranks))
        assert (report.unique, report.traces) == (nodes, 2 ** (ranks // 3))


class TestChord:
    """Section 4.2: a message that another node sent is taken for the answer."""

    def test_the_bug_is_found_in_fewer_states_than_in_the_paper(self):
        report = check(build("chord"))
        assert report.violations and report.unique < 478

    def test_every_kind_of_message_can_be_taken_for_the_answer(self):
        report = check(build("chord"), reduction="none", keep_going=True)
        texts = " ".join(violation.message for violation in report.violations)
        assert "the answer is a request" in texts

    @pytest.mark.parametrize("nodes", [2, 3])
    def test_the_mended_version_is_right(self, nodes):
        report = check(build("chord", bug=False, nodes=nodes), search="bfs", states=50_000)
        assert not report.violations
