"""Options of mpi4py scripts are for scripts only, and parameters for systems only."""

import pytest

from presage.cli import main

SCRIPT = "from mpi4py import MPI\nMPI.COMM_WORLD.barrier()\n"


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--arg", "rms=7"],
        ["check", "--buffering", "zero"],
        ["check", "--eager-limit", "0"],
        ["check", "--ordered"],
        ["run-once", "--buffering", "zero"],
        ["explore", "--arg", "x"],
    ],
)
def test_an_option_of_scripts_is_refused_for_a_system(words, capsys):
    command, *more = words
    assert main([command, "two_phase_commit", *more]) == 2
    refused = capsys.readouterr().err
    assert f"`{more[0]}` is given without `--mpi`" in refused and "`--set NAME=VALUE`" in refused


@pytest.mark.parametrize("command", ["check", "run-once"])
def test_a_parameter_is_refused_for_a_script(command, tmp_path, capsys):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    assert main([command, str(path), "--mpi", "2", "--set", "a=3"]) == 2
    assert "`--set` together with `--mpi`" in capsys.readouterr().err


def test_hunts_have_neither(capsys):
    assert main(["hunt", "counter", "--walks", "2"]) in (0, 1)
