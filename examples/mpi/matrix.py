"""A matrix times a vector, rows and entries spread over the ranks."""

import numpy as np
from mpi4py import MPI


def product(comm, rows, entries):
    """The rows of this rank times the whole vector."""
    count = entries.shape[0]
    whole = np.zeros(count * comm.Get_size(), dtype="d")
    comm.Allgather([entries, MPI.DOUBLE], [whole, MPI.DOUBLE])
    return np.dot(rows, whole)


comm = MPI.COMM_WORLD
size, rank = comm.Get_size(), comm.Get_rank()
rows = np.arange(2 * 2 * size, dtype="d").reshape(2, 2 * size) + rank
y = product(comm, rows, np.ones(2) * rank)
total = comm.allreduce(y.sum())
if rank == 0:
    print(total)
