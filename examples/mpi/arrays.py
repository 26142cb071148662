"""NumPy arrays, fast: with the type named, and with the type found out."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()

if rank == 0:
    comm.Send([np.arange(10, dtype="i"), MPI.INT], dest=1, tag=77)
    comm.Send(np.linspace(0.0, 1.0, 5), dest=1, tag=13)
elif rank == 1:
    whole = np.empty(10, dtype="i")
    comm.Recv([whole, MPI.INT], source=0, tag=77)
    parts = np.empty(5, dtype=np.float64)
    comm.Recv(parts, source=0, tag=13)
    print(whole.sum(), parts.tolist())
