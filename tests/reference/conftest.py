"""Random systems are searched by the hundred, and what is compared is what holds and what breaks.

Their good runs have a test of their own, `test_good_runs.py`.
"""

import pytest


@pytest.fixture(autouse=True)
def plain_reports(request: pytest.FixtureRequest) -> None:
    if request.module.__name__.rpartition(".")[2] != "test_good_runs":
        request.getfixturevalue("no_good_runs")
