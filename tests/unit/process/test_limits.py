"""Limits, progress, and what goes wrong on the way to Python."""

import _thread
import threading

import pytest
from unit.process.scripts import Bridge, gather, kernel, recv, send, wait

from presage._core import SLEEP, ProcessKernel
from presage.limits import Limits


def test_an_exploration_ends_after_so_many_executions():
    report = kernel(*gather(5)).explore("odpor", Limits(walks=7))
    assert (report.traces, report.stopped_by) == (7, "runs")


@pytest.mark.parametrize("reduction", ["none", "dpor", "sdpor", "odpor"])
def test_long_executions_are_cut_and_told(reduction):
    report = kernel(*gather(3)).explore(reduction, Limits(depth=4))
    assert report.traces == 0
    assert report.cut
    assert report.depth == 4


def test_endless_processes_need_a_limit_of_depth():
    def run():
        while True:
            yield SLEEP, ()

    report = kernel(run).explore("odpor", Limits(depth=50))
    assert (report.unique, report.cut) == (51, True)


def test_a_search_is_limited_by_states_and_depth():
    assert kernel(*gather(5)).search(Limits(states=100)).stopped_by == "states"
    report = kernel(*gather(5)).search(Limits(depth=3))
    assert (report.depth, report.cut, report.stopped_by) == (3, True, None)


def test_time_ends_an_exploration():
    report = kernel(*gather(8)).explore("none", Limits(seconds=0.1))
    assert report.stopped_by == "seconds"


def test_progress_is_told():
    told = []
    kernel(*gather(8)).explore("none", Limits(seconds=0.6), told.append)
    last = told[-1]
    assert last.unique > last.walks > 0
    assert last.depth == 28
    assert last.seconds > 0


def test_an_interrupt_ends_the_exploration_and_not_the_report():
    def interrupt(*_):
        _thread.interrupt_main()

    assert threading.current_thread() is threading.main_thread()
    report = kernel(*gather(8)).explore("none", progress=interrupt)
    assert report.stopped_by == "interrupt"
    assert report.unique > 0


def test_what_the_bridge_raises_comes_out():
    class Broken(Bridge):
        def advance(self, *_):
            raise KeyError("nothing here")

    bridge = Broken({0: [(SLEEP, ())]})
    with pytest.raises(KeyError, match="nothing here"):
        ProcessKernel(bridge, [(bridge.local(0), False)]).explore()


def test_an_unknown_operation_is_refused():
    with pytest.raises(ValueError, match="operation 77"):
        kernel([(77, ())]).explore()


def test_an_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="no reduction is called `some`"):
        kernel([(SLEEP, ())]).explore("some")


def test_waiting_for_what_was_never_posted_is_an_error():
    with pytest.raises(ValueError, match="slot 3"):
        kernel([wait(3)]).explore()


def test_what_was_run_once_is_not_run_again():
    engine = kernel(*gather(4))
    assert engine.explore("odpor").handler_runs > 0
    assert engine.explore("odpor").handler_runs == 0
    assert engine.search().unique == 299


def test_slots_are_as_many_as_needed():
    many = 9
    scripts = [[recv(0)] * many + [wait(at) for at in range(many)], [send(0)] * many]
    report = kernel(*scripts).explore("odpor")
    assert (report.traces, report.run_findings) == (1, [])
