"""Calls that are made from one definition look to scripts like methods of their own."""

import inspect

import pytest

from presage.frontends.mpi.communicator.comm import Intracomm
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.io.file import File


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (Intracomm.ssend, ["self", "obj", "dest", "tag"]),
        (Intracomm.Irsend, ["self", "buf", "dest", "tag"]),
        (Intracomm.Bsend_init, ["self", "buf", "dest", "tag"]),
        (Intracomm.Improbe, ["self", "source", "tag", "status"]),
        (Intracomm.igather, ["self", "sendobj", "root"]),
        (Intracomm.Allgatherv, ["self", "sendbuf", "recvbuf"]),
        (Intracomm.Ireduce_scatter, ["self", "sendbuf", "recvbuf", "recvcounts", "op"]),
        (File.Write_at_all, ["self", "offset", "buf", "status"]),
    ],
)
def test_parameters_are_those_of_mpi4py(method, parameters):
    assert list(inspect.signature(method).parameters) == parameters


def test_a_wrong_call_is_reported_under_the_name_that_was_called():
    with pytest.raises(TypeError, match=r"Ssend\(\) missing 2 required .* 'buf' and 'dest'"):
        Intracomm.Ssend(None)


def test_each_copy_gets_its_own_name_and_the_docstring():
    class Comm:
        @calls("one", "two", Two="two")
        def _body(self, value, *, _name=""):
            """What it does."""
            return _name, value

    one, two = Comm.one, Comm.two
    assert Comm.Two is two and not hasattr(Comm, "_body")
    assert (one(None, 1), two(None, 2)) == (("one", 1), ("two", 2))
    assert (one.__name__, one.__doc__) == ("one", "What it does.")
