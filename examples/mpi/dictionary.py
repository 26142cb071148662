"""Rank 0 sends a dictionary to rank 1: any object that can be pickled will do."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()

if rank == 0:
    comm.send({"name": "ping", "values": [7, 2.72, 2 + 3j]}, dest=1, tag=11)
elif rank == 1:
    data = comm.recv(source=0, tag=11)
    print(data["name"], data["values"])
