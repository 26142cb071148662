"""The same without blocking: both ranks could do something else meanwhile."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()

if rank == 0:
    request = comm.isend({"a": 7, "b": 3.14}, dest=1, tag=11)
    request.wait()
elif rank == 1:
    request = comm.irecv(source=0, tag=11)
    print(request.wait())
