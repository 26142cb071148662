"""Rank 0 hands out tasks, one at a time, to whoever has time; the others square numbers."""

from mpi4py import MPI

READY, TASK, DONE, STOP = range(4)

comm = MPI.COMM_WORLD
size, rank = comm.Get_size(), comm.Get_rank()
tasks = [3, 1, 4, 1]

if rank == 0:
    status = MPI.Status()
    results = {}
    left, working = list(enumerate(tasks)), size - 1
    while working:
        answer = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        if status.Get_tag() == DONE:
            number, square = answer
            results[number] = square
        if left:
            comm.send(left.pop(0), dest=status.Get_source(), tag=TASK)
        else:
            comm.send(None, dest=status.Get_source(), tag=STOP)
            working -= 1
    print([results[number] for number in sorted(results)])
    assert [results[number] for number in range(len(tasks))] == [t * t for t in tasks]
else:
    status = MPI.Status()
    comm.send(None, dest=0, tag=READY)
    while True:
        task = comm.recv(source=0, tag=MPI.ANY_TAG, status=status)
        if status.Get_tag() == STOP:
            break
        number, value = task
        comm.send((number, value * value), dest=0, tag=DONE)
