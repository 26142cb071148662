"""`mpi4py.futures`: tasks for other ranks, whose results arrive while somebody waits for them."""
