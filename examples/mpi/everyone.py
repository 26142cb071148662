"""One to all, all to one: a broadcast, a scatter, a gather, with objects and with arrays."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
size = comm.Get_size()
rank = comm.Get_rank()

settings = comm.bcast({"step": 2, "word": "go"} if rank == 0 else None, root=0)
mine = comm.scatter([(i + 1) ** 2 for i in range(size)] if rank == 0 else None, root=0)
assert mine == (rank + 1) ** 2
found = comm.gather(mine * settings["step"], root=0)

row = np.full(3, rank, dtype="d")
table = np.empty([size, 3], dtype="d") if rank == 0 else None
comm.Gather(row, table, root=0)

if rank == 0:
    print(settings["word"], found)
    print(table[:, 0].tolist())
