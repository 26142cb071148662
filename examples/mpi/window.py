"""One rank puts numbers into its window, all others get them from there by themselves."""

import numpy as np
from mpi4py import MPI
from mpi4py.util import dtlib

comm = MPI.COMM_WORLD
rank = comm.Get_rank()

datatype = MPI.FLOAT
count = 10
size = count * datatype.Get_size() if rank == 0 else 0
win = MPI.Win.Allocate(size, comm=comm)

numbers = np.empty(count, dtype=dtlib.to_numpy_dtype(datatype))
if rank == 0:
    numbers.fill(42)
    win.Lock(rank=0)
    win.Put(numbers, target_rank=0)
    win.Unlock(rank=0)
    comm.Barrier()
else:
    comm.Barrier()
    win.Lock(rank=0)
    win.Get(numbers, target_rank=0)
    win.Unlock(rank=0)
    assert np.all(numbers == 42)
win.Free()
if rank == comm.Get_size() - 1:
    print(numbers.sum())
