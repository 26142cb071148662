"""The examples run unmodified, say what they should, and hold in every order."""

import contextlib
import io
from pathlib import Path

import pytest

from presage import check
from presage.frontends.mpi import script
from presage.frontends.mpi.launch.run import mpirun

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "mpi"
SAID = {
    "dictionary": (2, "ping [7, 2.72, (2+3j)]\n"),
    "nonblocking": (2, "{'a': 7, 'b': 3.14}\n"),
    "arrays": (2, "45 [0.0, 0.25, 0.5, 0.75, 1.0]\n"),
    "everyone": (4, "go [2, 8, 18, 32]\n[0.0, 1.0, 2.0, 3.0]\n"),
    "matrix": (4, "1024.0\n"),
    "pi": (4, "pi is about 3.141601 with 100 intervals\n"),
    "spawning": (1, "pi is about 3.141601 with 100 intervals\n"),
    "workers": (4, "[9, 1, 16, 1]\n"),
    "window": (3, "420.0\n"),
    "parts": (2, "[0, 2, 4, 1, 3, 5]\n"),
    "blocks": (3, "[0, 0, 0, 1, 1, 1, 2, 2, 2]\n"),
    "strided": (3, "[0, 1, 2, 0, 1, 2, 0, 1, 2]\n"),
}
# How many orders there are, with sends that wait and with eager ones; of others: one.
ORDERS = {
    "workers": (486, 486),  # who is first decides who gets which task
    "window": (2, 2),  # who is first to lock
    "parts": (50, 50),
    "blocks": (1, 12),  # collective calls on files wait for nobody
    "strided": (1, 12),
}
SPAWNED = {"worker_of_pi"}  # by others, in whose folder they are looked for


@pytest.fixture(autouse=True)
def run_in_the_folder(monkeypatch):
    monkeypatch.chdir(EXAMPLES)


def test_every_example_is_here():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID) | SPAWNED


@pytest.mark.parametrize("name", SAID)
def test_an_example_runs(name):
    ranks, said = SAID[name]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        outcome = mpirun(EXAMPLES / f"{name}.py", ranks)
    assert outcome.is_ok, outcome
    assert out.getvalue() == said


@pytest.mark.parametrize("buffering", ["zero", "eager"])
@pytest.mark.parametrize("name", SAID)
def test_an_example_holds_in_every_order(name, buffering):
    program = script(EXAMPLES / f"{name}.py", SAID[name][0], (), buffering)
    report = check(program, traces=None)
    assert report.exhausted and not report.violations
    expected = ORDERS.get(name, (1, 1))[buffering == "eager"]
    assert report.traces == expected


def test_nothing_is_left_behind():
    import sys

    before = list(sys.argv), list(sys.path), sys.modules["__main__"]
    mpirun(EXAMPLES / "dictionary.py", 2)
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before
    assert "mpi4py" not in sys.modules
