"""What is said of a violation: which calls, at which lines, and who waits for whom."""

from mpi.explore import explore
from mpi.scripts import written

from presage import Delay
from presage.frontends.mpi import script
from presage.frontends.mpi.report import races
from presage.process.fence import Fence
from presage.process.world import ProcessWorld
from presage.search.scripts import check_script


def told(folder, text, kind, ranks=2, buffering="zero"):
    return explore(written(folder, text), ranks, buffering).found[kind]


def one_run(program):
    """The steps of the run in which whoever comes first goes first."""
    world, steps = ProcessWorld(program), []
    while enabled := world.enabled():
        steps.append(world.take(enabled[0]))
    assert world.is_over
    return steps


def test_a_deadlock_says_who_waits_for_whom(tmp_path):
    text = "if rank == 0:\n    comm.recv(source=1, tag=3)\nelse:\n    comm.barrier()\n"
    said = told(tmp_path, text, "deadlock")
    assert "rank 0 waits in recv(source=1, tag=3) at " in said and "script.py:7, for rank 1" in said
    assert "rank 1 waits in barrier() at " in said and "script.py:9, for rank 0" in said


def test_a_rank_that_has_ended_is_named(tmp_path):
    text = "if rank == 0:\n    comm.recv(source=1)\n"
    assert told(tmp_path, text, "deadlock").endswith("for rank 1; rank 1 has ended")


def test_a_mismatch_names_both_calls_and_lines(tmp_path):
    text = "if rank == 0:\n    comm.bcast(1, root=0)\nelse:\n    comm.bcast(1, root=1)\n"
    said = told(tmp_path, text, "collective-mismatch")
    assert "rank 0 calls bcast(root=0) at " in said and "script.py:7" in said
    assert "rank 1 calls bcast(root=1) at " in said and "script.py:9" in said


def test_a_message_that_nobody_receives_is_named(tmp_path):
    text = "if rank == 0:\n    comm.bsend(1, dest=1, tag=4)\n"
    said = told(tmp_path, text, "unmatched")
    assert said == "rank 0 sent a message with tag 4 to rank 1 of world: not received"


def test_a_request_names_where_it_was_made(tmp_path):
    text = "if rank == 0:\n    comm.isend(1, dest=1)\nelse:\n    comm.recv()\n"
    said = told(tmp_path, text, "leaked-request", buffering="eager")
    assert "isend(dest=1, tag=0) at " in said and "script.py:7 was neither waited for" in said


def test_a_leak_names_where_it_was_made(tmp_path):
    said = told(tmp_path, "other = comm.Dup()\n", "leak")
    assert "the communicator of Dup, " in said and "script.py:6, is not freed" in said


def test_races_are_found_along_a_run(tmp_path):
    text = "if rank == 0:\n    comm.recv()\n    comm.recv()\nelse:\n    comm.send(1, dest=0)\n"
    program = script(written(tmp_path, text), 3, (), "zero:ordered")
    with Fence():
        found = races.races(one_run(program))
    assert len(found) == 2 and "a receive of rank 0 got a message of rank" in found[0]


def test_messages_that_follow_from_each_other_do_not_race(tmp_path):
    text = (
        "if rank == 0:\n    comm.recv()\n    comm.send(0, dest=2)\n    comm.recv()\n"
        "elif rank == 1:\n    comm.send(1, dest=0)\n"
        "else:\n    comm.recv(source=0)\n    comm.send(1, dest=0)\n"
    )
    program = script(written(tmp_path, text), 3, (), "zero:ordered")
    with Fence():
        assert races.races(one_run(program)) == []


def test_what_is_wrong_with_one_buffering_is_told_beside_what_is_wrong_with_the_other(tmp_path):
    text = (
        "if rank == 0:\n    request = comm.isend(1, dest=1, tag=1)\n"
        "    at_once = request.test()[0]\n    comm.send(2, dest=1, tag=2)\n    request.wait()\n"
        "    raise ValueError('at once') if at_once else KeyError('later')\n"
        "else:\n    comm.recv(tag=2)\n    comm.recv(tag=1)\n"
    )
    path = written(tmp_path, text)
    found = check_script(path, 2, ordered=True, traces=None).violations
    assert [(each.prop, each.kind) for each in found] == [("no_exception", "exception")] * 2
    assert "KeyError" in found[0].message and "ValueError" in found[1].message
    [alone] = check_script(path, 2, buffering="eager", ordered=True, traces=None).violations
    assert alone.message == found[1].message


def test_a_script_held_up_to_the_delays_that_both_bufferings_reached(tmp_path):
    text = "comm.send(rank, dest=1 - rank) if rank else comm.recv()\n"
    path = written(tmp_path, text)
    whole = check_script(path, 2, search="delay", traces=None)
    assert whole.exhausted and str(whole).startswith("3 properties held, exhaustively")
    alone = check_script(path, 2, buffering="zero", search="delay", traces=None)
    assert alone.unique < whole.unique == check_script(path, 2, search="bfs", traces=None).unique
    part = check_script(path, 2, search="delay", delay=Delay(delays=0), traces=None)
    assert part.delayed.done == 0 and not part.exhausted
    assert str(part).startswith("held so far: 3 properties up to 0 delays")
