"""Raft: right as it is, and wrong in four ways that are found by few delays."""

import pytest

from presage import Delay, check
from presage.systems import raft

BUGS = {
    "truncates": ("committed_agree", {"terms": 2}),
    "stale_candidate": ("committed_agree", {"terms": 3}),
    "forgets_vote": ("one_leader", {"terms": 1, "crashes": 1}),
}
FIGURE_8 = {"terms": 4}


def test_one_term_is_right_and_ends():
    for search in ("bfs", "delay"):
        report = check(raft.system(terms=1), search=search, traces=None)
        assert (report.unique, report.exhausted) == (2_327, True)
        assert not report.violations


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_found_within_few_delays(bug):
    prop, parameters = BUGS[bug]
    report = check(raft.system(bug=bug, **parameters), search="delay", states=20_000, traces=None)
    assert [found.prop for found in report.violations] == [prop]
    assert report.delayed.reached <= 4


@pytest.mark.parametrize("bug", BUGS)
def test_what_was_mended_holds_where_the_bug_shows(bug):
    _, parameters = BUGS[bug]
    report = check(raft.system(**parameters), search="delay", states=20_000, traces=None)
    assert not report.violations and not report.errors


@pytest.mark.slow
@pytest.mark.parametrize(("cost", "states"), [("log", 7_000_000), ("deviation", 700_000)])
def test_entries_of_older_terms_are_not_committed_by_counting(cost, states):
    how = {"search": "delay", "delay": Delay(cost=cost), "traces": None}
    report = check(raft.system(bug="figure_8", **FIGURE_8), states=states, **how)
    assert [found.prop for found in report.violations] == ["committed_agree"]
    assert not check(raft.system(**FIGURE_8), states=700_000, **how).violations
