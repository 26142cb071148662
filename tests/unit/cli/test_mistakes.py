"""Misspelt commands, options and names on the command line: what was probably meant is named."""

import pytest

from presage.cli import main


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("check paxos --serch dfs", "`--search`? |`presage check --help`"),
        ("check paxos --keepgoing", "did you mean `--keep-going`?"),
        ("replay x --targte y", "did you mean `--target`?"),
        ("chek paxos", "there is no 'chek'; did you mean `check`?"),
        ("debgu x.trace", "did you mean `debug`?"),
        ("paxos", "did you mean `presage check paxos`?"),
        ("check paxso", "there is no system `paxso`; did you mean `paxos`?"),
        ("check two_phase_comit", "did you mean `two_phase_commit`?"),
        ("check paxos --search bsf", "--search: there is no 'bsf'; did you mean `bfs`?"),
        ("check paxos --reduction odpro", "did you mean `odpor`?"),
        ("check paxos --set client=2", "did you mean `clients`?"),
    ],
)
def test_what_was_meant_is_named(line, words, capsys):
    try:
        status = main(line.split())
    except SystemExit as end:
        status = end.code
    assert status == 2
    told = capsys.readouterr().err + " "
    for each in words.split("|"):
        assert each.strip() in told


def test_a_file_named_without_its_ending_is_what_was_meant(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").touch()
    assert main(["check", "mine"]) == 2
    assert "there is no system `mine`; did you mean `mine.py`?" in capsys.readouterr().err


def test_an_mpi4py_script_is_told_how_to_be_checked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mw.py").write_text("from mpi4py import MPI\nprint(MPI.COMM_WORLD.rank)\n")
    assert main(["check", "mw.py"]) == 2
    told = capsys.readouterr().err
    assert "an mpi4py script" in told and "`presage check mw.py --mpi 4`" in told


def test_an_error_on_import_is_not_blamed_on_a_missing_module(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("x = 1 / 0\n")
    assert main(["check", "broken.py"]) == 2
    told = capsys.readouterr().err
    assert "broken.py:1: ZeroDivisionError" in told and "not installed" not in told
    (tmp_path / "lacking.py").write_text("import nowhere_to_be_found\n")
    assert main(["check", "lacking.py"]) == 2
    assert "install it beside presage" in capsys.readouterr().err
