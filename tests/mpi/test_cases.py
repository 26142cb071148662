"""Labelled cases: every faulty script is reported for what is wrong with it, no correct one is."""

from collections import Counter

import pytest
from mpi.cases.every import every
from mpi.explore import verdict

from presage.search.scripts import check_script

CASES = every()
LEAST = {
    "call-matching": 100,
    "communicator-matching": 8,
    "tag-matching": 8,
    "root-matching": 20,
    "operator-matching": 8,
    "datatype-matching": 15,
    "message-race": 10,
    "buffer-hazard": 10,
    "input-hazard": 5,
    "missing-wait": 15,
    "missing-start": 3,
    "request-leak": 3,
    "leak": 12,
    "local-concurrency": 10,
    "invalid-argument": 40,
    "missing-epoch": 7,
    "double-epoch": 10,
    "open-epoch": 3,
    "rma-range": 3,
    "global-concurrency": 11,
    "file-misuse": 7,
}


def test_there_are_cases_of_every_category():
    counted = Counter(case.label for case in CASES)
    assert len({case.name for case in CASES}) == len(CASES) >= 200
    assert all(counted[label] >= least for label, least in LEAST.items()), counted


def checked(path, ranks):
    """What `check` reports, with and without buffering."""
    report = check_script(path, ranks, traces=None)
    assert report.exhausted or report.violations
    return {broken.kind for broken in report.violations}


def written(folder, text):
    path = folder / "case.py"
    path.write_text(text)
    return path


def some(every):
    """One case in so many on every run, all of them by `make test-all`."""
    slow = pytest.mark.slow
    numbered = enumerate(CASES)
    return [pytest.param(case, marks=slow if at % every else ()) for at, case in numbered]


@pytest.mark.usefixtures("no_good_runs")
@pytest.mark.parametrize("case", some(3), ids=lambda case: case.name)
def test_a_case_is_told_from_its_twin(case, tmp_path):
    found = checked(written(tmp_path, case.faulty), case.ranks)
    assert found & {case.kind, *case.also} == found != set(), case.faulty
    assert case.kind in found or case.also, case.faulty
    assert checked(written(tmp_path, case.correct), case.ranks) == set(), case.correct


@pytest.mark.parametrize("case", some(15), ids=lambda case: case.name)
def test_every_order_of_a_case_was_looked_at(case, tmp_path):
    found, texts = verdict(written(tmp_path, case.faulty), case.ranks)
    assert case.kind in found and found <= {case.kind, *case.also}, texts
    found, texts = verdict(written(tmp_path, case.correct), case.ranks)
    assert found == set(), texts
