"""All ranks write a file together, a block each; the first reads it all."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

amode = MPI.MODE_RDWR | MPI.MODE_CREATE | MPI.MODE_DELETE_ON_CLOSE
fh = MPI.File.Open(comm, "blocks.data", amode)

buffer = np.empty(3, dtype="i")
buffer[:] = rank
fh.Write_at_all(rank * buffer.nbytes, buffer)
fh.Sync()

if rank == 0:
    whole = np.empty(3 * size, dtype="i")
    fh.Read_at(0, whole)
    print(whole.tolist())
fh.Close()
