"""mpi4py's own tests, as they are, on presage's mpi4py: how many pass, and all can be imported."""

import importlib.util
from pathlib import Path

import mpi4py_suite
import mpi_names
import pytest
from unit import fetching

RELEASE = "mpi4py-4.1.2"
FLOOR = 1250


def test_the_page_of_names_is_current():
    assert mpi_names.PAGE.read_text() == mpi_names.page(), "run python tools/mpi_names.py"


def test_names_that_a_stub_has_and_the_module_lacks_are_found():
    stub = "class Win:\n    def Put(self): ...\n    def Nothing(self): ...\nNONE: int = ...\n"
    assert mpi_names.missing(stub) == ["NONE", "Win.Nothing"]


def test_a_tally_counts_the_worst_end_of_all_ranks():
    tally = mpi4py_suite.Tally("test_x")
    mark = mpi4py_suite.MARK
    text = f'{mark}[0, "tests", ["a", "b"]]\n{mark}[0, "begun", "a"]\n{mark}[1, "begun", "a"]\n'
    text += f'{mark}[0, "ended", "a", "passed", ""]\n{mark}[1, "ended", "a", "failed", "why"]\n'
    text += f'{mark}[0, "begun", "b"]\n'
    assert mpi4py_suite._taken(tally, text, "waits for ever")
    assert tally.ends == {"a": "failed", "b": "stuck"} and tally.reasons["a"] == "why"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_mpi4py_s_own_tests_pass():
    if importlib.util.find_spec("numpy") is None:
        pytest.skip("mpi4py's tests of arrays need NumPy")
    folder = fetching.folder(RELEASE)
    if folder is None:
        pytest.skip(f"{RELEASE} cannot be fetched from PyPI")
    tallies = mpi4py_suite.suite(Path(folder), (), ranks=2, limit=60)
    assert sum(tally.count()["passed"] for tally in tallies) >= FLOOR
