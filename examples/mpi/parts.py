"""Every rank accesses its own part of one window, through a datatype that picks it."""

import numpy as np
from mpi4py import MPI
from mpi4py.util import dtlib

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

datatype = MPI.FLOAT
dtype = dtlib.to_numpy_dtype(datatype)
itemsize = datatype.Get_size()

count = size + 1
bytes_here = count * size * itemsize if rank == 0 else 0
win = MPI.Win.Allocate(disp_unit=itemsize, size=bytes_here, comm=comm)
if rank == 0:
    memory = np.frombuffer(win.tomemory(), dtype=dtype)
    memory[:] = np.arange(count * size)
comm.Barrier()

part = np.zeros(count, dtype=dtype)
every = datatype.Create_vector(count, 1, size)  # one of `size`, from `rank` on
every.Commit()
win.Lock(rank=0, lock_type=MPI.LOCK_SHARED)
win.Get(part, target_rank=0, target=(rank, 1, every))
win.Unlock(rank=0)
assert np.all(part == np.arange(count) * size + rank)

block = datatype.Create_contiguous(count)
block.Commit()
comm.Barrier()
win.Lock(rank=0)
win.Put(part, target_rank=0, target=(rank * count, 1, block))
win.Unlock(rank=0)
comm.Barrier()
if rank == 0:
    print([int(n) for n in memory])
every.Free()
block.Free()
win.Free()
