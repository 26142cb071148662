"""How traces tell of messages: what they hold, which rank they are for, in words of the script."""

import pytest
from mpi.scripts import written

from presage.frontends.mpi.report import wording
from presage.process.ops import Probe, Recv, Send
from presage.search.scripts import check_script

SHOWN = {
    "comm.send({'a': [1]}, dest=1)": "{'a': [1]} to rank 1",
    "comm.send((1, 2), dest=1, tag=3)": "(1, 2) to rank 1, tag 3",
    "comm.send(Thing(), dest=1)": "<pickle of ",
    "comm.Send(numpy.arange(3.0), dest=1)": "[0.0, 1.0, 2.0] to rank 1",
    "comm.Send(numpy.ones(2, dtype='c16'), dest=1)": "[(1.0, 0.0), (1.0, 0.0)] to rank 1",
    "comm.Send(numpy.zeros(90, dtype='i4'), dest=1)": ", 0, ...: 90 of type i4] to rank 1",
}


@pytest.mark.parametrize("call", SHOWN)
def test_a_message_is_shown_as_what_it_holds(call, tmp_path):
    text = f"import numpy\nclass Thing: x = 1\nif rank == 0:\n    {call}\n"
    [stuck] = check_script(written(tmp_path, text), 2, buffering="zero", traces=None).violations
    assert SHOWN[call] in next(step.label for step in stuck.trace.steps if step.kind == "send")


def test_collective_calls_are_named(tmp_path):
    text = "comm.bcast([7] if rank == 0 else None, root=0)\ncomm.barrier()\nassert False\n"
    [found] = check_script(written(tmp_path, text), 2, buffering="zero", traces=None).violations
    told = {(step.node, step.kind, step.label) for step in found.trace.steps}
    assert ("rank 0", "send", "bcast [7] to rank 1") in told
    assert ("rank 1", "receive", "bcast [7] rank 0 -> rank 1") in told
    assert ("rank 1", "recv", "from rank 0") in told
    assert any(label == "barrier to rank 0" for _, _, label in told)


def test_where_a_message_is_looked_for():
    assert wording.source(Recv("world/1")) == "from any rank"
    assert wording.source(Probe("world/1", (0, 4))) == "from rank 0, tag 4"
    assert wording.source(Recv("world.0/1", (2, -1))) == "from rank 2 of world.0"


def test_messages_between_two_groups_name_the_group():
    sent = Send("children of spawn 1/2", None, (0, 3))
    assert wording.to(sent) == "rank 2 of children of spawn 1, tag 3"
    wanted = Recv("children of spawn 1/2", (0, -1))
    assert wording.source(wanted) == "from rank 0 of parents of spawn 1"
    assert wording.source(Recv("group 0 of world.1/0")) == "from any rank of group 1 of world.1"
    call = Send("spawn 1#0 of parents>2 of children", None)
    assert wording.to(call) == "rank 2 of children of spawn 1"
    assert wording.to(Send("world.0#0>2", None)) == "rank 2 of world.0"
