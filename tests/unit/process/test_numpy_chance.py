"""NumPy's global numbers are refused in handlers, whenever NumPy was loaded and under any name."""

import subprocess
import sys
from textwrap import dedent

import pytest

SCRIPT = """
    {before}
    import sys
    from presage import Service, System, action, check
    from presage.errors import Impure

    class Node(Service):
        n: int = 0

        @action(when=lambda self: self.n < 2)
        def go(self):
            {inside}
            self.n += 1

    finders = list(sys.meta_path)
    try:
        check(System({{"a": Node()}}), traces=None)
    except Impure as error:
        print(str(error).splitlines()[0].partition(": ")[2])
    assert sys.meta_path == finders
    import numpy.random
    numpy.random.seed(3)
    plain = numpy.random.RandomState(3)
    shared = numpy.random.mtrand._rand
    assert isinstance(shared, numpy.random.RandomState)
    assert (numpy.random.randn(), shared.randn()) == (plain.randn(), plain.randn())
    print(numpy.random.rand() == plain.rand())
"""
REFUSED = "a handler calls `numpy.random.rand`, which is no function of the node's state"


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("import numpy", "numpy.random.rand()"),
        ("import numpy.random as chance", "chance.rand()"),
        ("import numpy.random.mtrand as chance", "chance.rand()"),
        ("import numpy.random.mtrand as chance", "chance._rand.rand()"),
        ("", "import numpy; numpy.random.rand()"),
        ("import numpy", "from numpy.random import rand; rand()"),
    ],
)
def test_a_handler_is_refused_and_everybody_else_is_answered(before, inside):
    script = dedent(SCRIPT).format(before=before, inside=inside)
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr) == (f"{REFUSED}\nTrue\n", "")
