"""mpi4py's own tests, as they are, on presage's mpi4py: how many pass, and all can be imported."""

import importlib.util
from pathlib import Path

import mpi4py_suite
import mpi_names
import pytest
from unit import fetching

RELEASE = "mpi4py-4.1.2"
# How many tests of each file pass: 1,923 of 2,127, of which 134 skip themselves.
PASS = {
    "test_address": 6,
    "test_attributes": 60,
    "test_buffer": 16,
    "test_cco_buf": 71,
    "test_cco_buf_inter": 16,
    "test_cco_nb_buf": 70,
    "test_cco_nb_vec": 62,
    "test_cco_ngh_buf": 16,
    "test_cco_ngh_obj": 8,
    "test_cco_obj": 40,
    "test_cco_obj_inter": 24,
    "test_cco_pr_buf": 70,
    "test_cco_pr_ngh_buf": 12,
    "test_cco_pr_vec": 62,
    "test_cco_vec": 62,
    "test_cco_vec_inter": 12,
    "test_cffi": 0,
    "test_comm": 97,
    "test_comm_inter": 29,
    "test_comm_topo": 32,
    "test_ctypes": 0,
    "test_datatype": 50,
    "test_doc": 0,
    "test_dynproc": 3,
    "test_environ": 14,
    "test_errhandler": 26,
    "test_errorcode": 5,
    "test_exceptions": 55,
    "test_file": 34,
    "test_grequest": 6,
    "test_group": 52,
    "test_handle": 34,
    "test_info": 17,
    "test_io": 52,
    "test_mpiabi": 1,
    "test_mpiapi": 0,
    "test_mpimem": 2,
    "test_msgspec": 115,
    "test_msgzero": 8,
    "test_objmodel": 14,
    "test_op": 8,
    "test_p2p_buf": 52,
    "test_p2p_buf_matched": 11,
    "test_p2p_buf_part": 12,
    "test_p2p_obj": 88,
    "test_p2p_obj_matched": 10,
    "test_pack": 6,
    "test_package": 3,
    "test_pickle": 5,
    "test_request": 12,
    "test_rma": 35,
    "test_rma_nb": 14,
    "test_session": 9,
    "test_spawn": 44,
    "test_status": 10,
    "test_subclass": 39,
    "test_threads": 3,
    "test_toplevel": 5,
    "test_ulfm": 20,
    "test_util_dtlib": 23,
    "test_util_pkl5": 114,
    "test_util_pool": 19,
    "test_util_sync": 78,
    "test_win": 50,
}


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


@pytest.fixture(scope="module")
def source():
    if importlib.util.find_spec("numpy") is None:
        pytest.skip("mpi4py's tests of arrays need NumPy")
    folder = fetching.folder(RELEASE)
    return Path(folder) if folder else pytest.skip(f"{RELEASE} cannot be fetched from PyPI")


@pytest.mark.slow
def test_every_file_of_mpi4py_s_own_tests_is_here(source):
    assert {file.stem for file in (source / "test").glob("test_*.py")} == PASS.keys()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", PASS)
def test_mpi4py_s_own_tests_pass(name, source):
    (tally,) = mpi4py_suite.suite(source, (name,), ranks=2, limit=60)
    assert tally.imported and tally.count()["passed"] >= PASS[name], tally.reasons
