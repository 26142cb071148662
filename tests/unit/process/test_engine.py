"""The native engine of processes, driven by little scripts."""

import pytest
from unit.process.scripts import (
    gather,
    groups,
    kernel,
)

REDUCTIONS = ("none", "dpor", "sdpor", "odpor")


@pytest.mark.parametrize(("processes", "nodes"), [(2, 13), (3, 520), (4, 60_893)])
def test_all_executions_of_a_gather_are_as_many_as_published(processes, nodes):
    assert kernel(*gather(processes)).explore("none").unique == nodes


@pytest.mark.parametrize(
    ("processes", "nodes", "traces"),
    [(2, 5, 1), (3, 16, 2), (4, 58, 6), (5, 247, 24), (6, 1256, 120)],
)
def test_optimal_reduction_runs_each_order_of_arrival_once(processes, nodes, traces):
    report = kernel(*gather(processes)).explore("odpor")
    assert (report.unique, report.traces, report.blocked) == (nodes, traces, 0)


@pytest.mark.parametrize(("processes", "nodes"), [(3, 16), (6, 53), (9, 141), (12, 345)])
def test_groups_that_do_not_talk_to_each_other(processes, nodes):
    report = kernel(*groups(processes)).explore("odpor")
    assert (report.unique, report.traces) == (nodes, 2 ** (processes // 3))


@pytest.mark.parametrize(("processes", "states"), [(2, 7), (3, 42), (4, 299), (5, 2586)])
def test_distinct_states_of_a_gather(processes, states):
    assert kernel(*gather(processes)).search().unique == states


def test_distinct_states_of_groups_multiply():
    assert [kernel(*groups(n)).search().unique for n in (3, 6)] == [42, 42**2]


@pytest.mark.parametrize(("processes", "nodes"), [(2, 5), (3, 16), (4, 58), (5, 252)])
def test_source_sets_have_the_same_executions(processes, nodes):
    report = kernel(*gather(processes)).explore("sdpor")
    assert report.unique == nodes
    assert report.traces == kernel(*gather(processes)).explore("dpor").traces
