"""Traces saved while a search goes on."""

from pathlib import Path

import pytest

from presage import Service, System, action, always, check
from presage.search.early import Early
from presage.search.report import Report


class Counter(Service):
    n: int = 0

    @action(when=lambda self: self.n < 6)
    def up(self):
        self.n += self.choose([1, 2])


def broken(traces, **how):
    claims = [
        always(lambda w: w["a"].n < 4, name="below_four"),
        always(lambda w: w["a"].n != 3, name="not_three"),
    ]
    return check(System({"a": Counter()}, properties=claims), traces=traces, **how)


@pytest.mark.parametrize("search", ["bfs", "dfs", "walk"])
def test_only_whole_traces_are_left_when_a_search_is_over(tmp_path, search):
    report = broken(tmp_path, search=search, keep_going=True)
    named = {found.trace_path for found in report.violations}
    named |= {found.live_path for found in report.violations if found.live_path}
    assert len(report.violations) == 2
    assert {str(path) for path in tmp_path.iterdir()} == named
    assert all(found.trace.coverage for found in report.violations)


def test_a_file_that_was_there_before_the_search_stays(tmp_path):
    (violation, *_) = broken(None).violations
    early = Early(tmp_path)
    early.keep(violation)
    (path,) = tmp_path.iterdir()
    again = Early(tmp_path)
    again.keep(violation)
    again.settle(Report())
    assert path.exists()
    early.settle(Report())
    assert not path.exists()


@pytest.mark.parametrize("folder", ["file/inside", "with\0null"])
def test_a_folder_that_cannot_be_written_to_ends_no_search(tmp_path, folder):
    (tmp_path / "file").write_text("")
    report = broken(tmp_path / folder, keep_going=True)
    assert len(report.violations) == 2 and not any(v.trace_path for v in report.violations)
    assert not Path(tmp_path / "file").is_dir()
