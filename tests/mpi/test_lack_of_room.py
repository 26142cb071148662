"""A deadlock of sends that lack room ends where the nearest good run goes on."""

from mpi.scripts import written

from presage.cli import main

BOTH_SEND = "comm.send(rank, 1 - rank)\ncomm.recv()\n"


def test_a_violation_that_a_good_run_goes_on_from_is_shown(tmp_path, capsys):
    path = written(tmp_path, BOTH_SEND)
    assert main(["check", str(path), "--mpi", "2", "--buffering", "any"]) == 1
    shown = capsys.readouterr().out
    assert "no_deadlock" in shown and "nearest good run: after its last step" in shown
