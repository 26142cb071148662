"""All ranks write a file together, every so many numbers; the first reads it all."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

amode = MPI.MODE_RDWR | MPI.MODE_CREATE | MPI.MODE_DELETE_ON_CLOSE
fh = MPI.File.Open(comm, "strided.data", amode)

item_count = 3
buffer = np.empty(item_count, dtype="i")
buffer[:] = rank

filetype = MPI.INT.Create_vector(item_count, 1, size)
filetype.Commit()
fh.Set_view(rank * MPI.INT.Get_size(), filetype=filetype)
fh.Write_all(buffer)
filetype.Free()
fh.Set_view()

if rank == 0:
    whole = np.empty(item_count * size, dtype="i")
    fh.Read_at(0, whole)
    print(whole.tolist())
fh.Close()
