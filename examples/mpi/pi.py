"""Pi as the area below 4 / (1 + x^2), the intervals dealt out to the ranks."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
size, rank = comm.Get_size(), comm.Get_rank()

n = comm.bcast(int(sys.argv[1]) if rank == 0 and len(sys.argv) > 1 else 100, root=0)
start = MPI.Wtime()
width = 1.0 / n
part = width * sum(4.0 / (1.0 + (width * (i + 0.5)) ** 2) for i in range(rank, n, size))
pi = comm.reduce(part, op=MPI.SUM, root=0)
assert MPI.Wtime() > start
if rank == 0:
    print(f"pi is about {pi:.6f} with {n} intervals")
