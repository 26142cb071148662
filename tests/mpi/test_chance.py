"""NumPy's chance is under control in processes, and untouched outside of them."""

import subprocess
import sys

import numpy as np

from presage.process.fence import Fence
from presage.process.program import Program
from presage.process.world import ProcessWorld


def drawing():
    return (
        float(np.random.rand()),
        int(np.random.randint(1000)),
        float(np.random.sample()),
        float(np.random.default_rng().random()),
        float(np.random.RandomState().rand()),
        int(np.random.PCG64().random_raw()),
    )


def seeding():
    np.random.seed(7)
    return float(np.random.rand())


def drawn(*bodies):
    with Fence():
        world = ProcessWorld(Program({f"p{n}": body for n, body in enumerate(bodies)}))
    return [member.live.at.value for member in world.members.values()]


def test_each_process_has_its_own_numbers_the_same_on_every_run():
    first, second = drawn(drawing, drawing)
    assert first != second
    assert drawn(drawing, drawing) == [first, second]


def test_a_seed_is_the_process_own():
    assert drawn(seeding)[0] == float(np.random.RandomState(7).rand())
    assert drawn(drawing, seeding)[0] == drawn(drawing)[0]


def test_outside_of_processes_nothing_changes():
    np.random.seed(3)
    before = float(np.random.rand())
    drawn(drawing, seeding)
    np.random.seed(3)
    assert float(np.random.rand()) == before


FIRST = """
from presage.process.fence import Fence
from presage.process.program import Program
from presage.process.world import ProcessWorld

def drawing():
    import numpy
    return float(numpy.random.rand()), float(numpy.random.default_rng().random())

for _ in range(2):
    with Fence():
        world = ProcessWorld(Program({"p": drawing}))
    print(*(member.live.at.value for member in world.members.values()))
"""


def test_a_process_that_is_the_first_to_import_numpy_draws_what_it_always_draws():
    ended = subprocess.run(
        [sys.executable, "-c", FIRST], capture_output=True, text=True, check=True
    )
    first, second = ended.stdout.splitlines()
    assert first == second
