"""Pi by workers that are started for it: run in this folder, `presage mpirun spawning.py`."""

import sys
from array import array

from mpi4py import MPI

workers = MPI.COMM_SELF.Spawn(sys.executable, args=["worker_of_pi.py"], maxprocs=3)

intervals = array("i", [100])
workers.Bcast([intervals, MPI.INT], root=MPI.ROOT)
pi = array("d", [0.0])
workers.Reduce(None, [pi, MPI.DOUBLE], op=MPI.SUM, root=MPI.ROOT)
workers.Disconnect()
print(f"pi is about {pi[0]:.6f} with {intervals[0]} intervals")
