"""Random systems are searched by the hundred, and what is compared is what holds and what breaks.

Their good runs have a test of their own, `test_good_runs.py`. Their source is not read for sets
that handlers make: each would be read anew, and none of them makes one.
"""

import pytest

from presage.search.twin import compare


@pytest.fixture(autouse=True)
def plain_reports(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "suspicious", lambda system: False)
    if request.module.__name__.rpartition(".")[2] != "test_good_runs":
        request.getfixturevalue("no_good_runs")
