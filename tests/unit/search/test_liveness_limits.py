"""Limits hold inside of the passes over the graph; what they cut is no claim."""

import signal
import sys

import pytest

from presage import Service, System, action, always, check, eventually
from presage._core import Graph, PassCut, forget_stop, request_stop
from presage._results import StopReason
from presage.execution.budget import Budget

PASSES = {
    "rest": lambda graph, *end: graph.rest(0, *end),
    "lasso": lambda graph, *end: graph.lasso(0, "strong", *end),
    "reachability": lambda graph, *end: graph.reachability(0, *end),
    "territories": lambda graph, *end: graph.territories(0, [1, 2], *end),
}


def ring() -> Graph:
    return Graph.of([[(1, 0)], [(0, 0)]], [[False, False]])


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_without_time_is_cut_and_says_so(name):
    graph = ring()
    with pytest.raises(PassCut) as cut:
        PASSES[name](graph, 0.0)
    assert cut.value.args == (StopReason.SECONDS,)
    PASSES[name](graph)  # nothing half-done is left behind
    PASSES[name](graph, 1e9)


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_ends_when_somebody_asks_it_to(name):
    request_stop()
    try:
        with pytest.raises(PassCut) as cut:
            PASSES[name](ring())
    finally:
        forget_stop()
    assert cut.value.args == (StopReason.INTERRUPT,)


class Turning(Service):
    n: int = 0

    @action
    def turn(self):
        self.n = (self.n + 1) % 5


@eventually
def back(world):
    return world["a"].n == 0


@always
def small(world):
    return world["a"].n < 5


def test_time_that_ends_in_a_pass_leaves_the_property_unknown(monkeypatch):
    remaining = Budget.remaining

    def ends(budget):
        return 0.0 if sys._getframe(1).f_code.co_name == "_found" else remaining(budget)

    monkeypatch.setattr(Budget, "remaining", ends)
    report = check(System({"a": Turning()}, properties=[back, small]), seconds=1e6, traces=None)
    assert report.properties == {"back": "unknown", "small": "held"}
    assert (report.exhausted, report.stopped_by) == (False, "seconds")
    shown = str(report)
    assert shown.startswith("held so far: 1 property, to depth 5, 1 property unknown")
    assert "endless executions (cycles) were not examined to the end: time ran out" in shown
    with pytest.raises(AssertionError, match="held so far"):
        report.assert_holds()


SENT = []  # one signal only: the second one ends everything


@eventually
def interrupting(world):
    frame = None if SENT else sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "endless":  # the loop is gone round on live code
            SENT.append(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            break
        frame = frame.f_back
    return world["a"].n == 7


def test_ctrl_c_between_two_passes_leaves_the_next_property_unknown():
    SENT.clear()
    properties = [interrupting, back, small]
    report = check(System({"a": Turning()}, properties=properties), keep_going=True, traces=None)
    assert report.properties == {"interrupting": "violated", "back": "unknown", "small": "held"}
    assert (report.exhausted, report.stopped_by) == (False, "interrupt")
    [violation] = report.violations
    assert violation.prop == "interrupting"
