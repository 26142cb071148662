"""A run in which nothing was chosen is shortened to what its last step follows, at once."""

import pytest
from mpi.random_scripts import random_script
from mpi.scripts import written
from reference.batches import batches

from presage.search import run_findings
from presage.search.scripts import check_script
from presage.shrink import processes
from presage.shrink.processes import ProcessShrinker, is_determined

SCRIPTS = 30


@pytest.mark.parametrize("batch", batches(1, 3))
def test_what_is_left_is_what_pieces_left_out_one_by_one_leave(batch, tmp_path, monkeypatch):
    determined = 0

    def noted(taken, what):
        nonlocal determined
        determined += (found := is_determined(taken, what))
        return found

    for seed in range(batch * SCRIPTS, (batch + 1) * SCRIPTS):
        text, ranks = random_script(seed)
        path = written(tmp_path, text, f"r{seed}.py", head="")
        monkeypatch.setattr(run_findings, "is_determined", noted)
        quick = check_script(path, ranks, traces=None).violations
        monkeypatch.setattr(run_findings, "is_determined", lambda *_: False)
        slow = check_script(path, ranks, traces=None).violations
        shown = [[(v.prop, v.kind, v.message, v.steps) for v in each] for each in (quick, slow)]
        assert shown[0] == shown[1], seed
    assert determined


LONG = """\
for turn in range(20):
    comm.allreduce(turn)
    comm.sendrecv(turn, (rank + 1) % size, source=(rank - 1) % size)
assert rank != 2
"""


def test_no_piece_is_left_out_where_nothing_was_chosen(tmp_path, monkeypatch):
    attempts = []
    attempt = ProcessShrinker._attempt
    monkeypatch.setattr(
        ProcessShrinker, "_attempt", lambda *args: attempts.append(1) or attempt(*args)
    )
    monkeypatch.setattr(processes, "minimize", None)
    [found] = check_script(written(tmp_path, LONG), 3, buffering="zero", traces=None).violations
    assert len(attempts) == 1 and "AssertionError" in found.message


def test_a_receive_from_anyone_is_a_choice(tmp_path):
    text = "if rank:\n    comm.send(rank, 0)\nelse:\n    assert comm.recv() == 1\n    comm.recv()\n"
    [found] = check_script(written(tmp_path, text), 3, traces=None).violations
    assert found.kind == "message-race" and found.live is not None
