"""Speculative execution: two attempts of one task may succeed, and the job with them."""

import pytest

from presage import check
from presage.systems.samc import speculation

SEARCHES = [
    {"search": "delay"},
    {"search": "bfs"},
    {"search": "tree", "reduction": "dpor"},
    {"search": "walk", "walks": 200},
]


@pytest.mark.parametrize("how", SEARCHES, ids=str)
def test_every_search_finds_the_second_success(how):
    report = check(speculation.system(bug="MR-4748"), traces=None, **how)
    assert report.properties["no_invalid_transition"] == "violated"


def test_both_attempts_are_done_before_either_is_cleaned_up():
    broken = speculation.system(bug="MR-4748")
    [found] = check(broken, search="bfs", threads=1, traces=None).violations
    labels = [step.label.split(" ")[0].split("(")[0] for step in found.trace.steps]
    at_master = [
        label
        for label, step in zip(labels, found.trace.steps, strict=True)
        if step.node == "am" and label in ("Done", "Cleaned")
    ]
    assert at_master == ["Done", "Done", "Cleaned", "Cleaned"]
    assert labels.count("straggle") == labels.count("speculate") == 1


@pytest.mark.parametrize(
    ("tasks", "states"), [(1, 123), (2, 1_767), pytest.param(3, 22_923, marks=pytest.mark.slow)]
)
def test_a_task_that_ignores_it_succeeds_in_all_states(tasks, states):
    report = check(speculation.system(tasks=tasks), traces=None)
    report.assert_holds()
    assert (report.unique, report.exhausted) == (states, True)


def test_without_a_straggler_nothing_goes_wrong():
    report = check(speculation.system(bug="MR-4748", stragglers=0), traces=None)
    report.assert_holds()
    assert report.exhausted
