"""Small scripts, written to a file and run."""

from presage.frontends.mpi.launch.program import script
from presage.frontends.mpi.launch.run import play
from presage.process.fence import Fence

HEAD = """\
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()
size = comm.Get_size()
"""


def written(folder, text, name="script.py", head=HEAD):
    path = folder / name
    path.write_text(head + text)
    return path


def outcomes(folder, text, ranks=3):
    """How a script ends, with sends that wait and with sends that do not."""
    path = written(folder, text)
    found = []
    for buffering in ("zero", "eager"):
        with Fence():
            found.append(play(script(path, ranks, (), f"{buffering}:ordered")))
    return found
