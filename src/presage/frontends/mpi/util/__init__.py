"""Modules of mpi4py beside `MPI`: pickling, datatypes of NumPy, synchronisation, a runner."""
