"""`mpi4py.bench`: small programs that show that messages travel."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any


def helloworld(comm: Any, args: Sequence[str] | None = None, verbose: bool = True) -> str:
    """Each rank says hello, one after another."""
    message = f"Hello, World! I am process {comm.rank} of {comm.size} on presage."
    if comm.rank:
        comm.recv(source=comm.rank - 1)
    if verbose:
        _say(message)
    if comm.rank + 1 < comm.size:
        comm.send(None, comm.rank + 1)
    comm.barrier()
    return message


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _numbers(args: Sequence[str] | None, names: str, default: int) -> dict[str, int]:
    """Options such as `-n 10`."""
    found = dict.fromkeys(names, default)
    words = list(args or ())
    for at, word in enumerate(words[:-1]):
        if word.lstrip("-")[:1] in found:
            found[word.lstrip("-")[0]] = int(words[at + 1])
    return found


def ringtest(comm: Any, args: Sequence[str] | None = None, verbose: bool = True) -> float:
    """Bytes go round; gives the seconds of the rank's own clock."""
    given = _numbers(args, "nsl", 1)
    clock = sys.modules["mpi4py.MPI"].Wtime
    data = bytearray(given["n"])
    begun = clock()
    for _ in range(given["l"]):
        request = comm.Irecv(bytearray(len(data)), (comm.rank - 1) % comm.size)
        comm.Send(data, (comm.rank + 1) % comm.size)
        request.Wait()
    took: float = clock() - begun
    if verbose and comm.rank == 0:
        _say(f"time for {given['l']} loops = {took:g} seconds ({comm.size} processes)")
    return took


def pingpong(
    comm: Any, args: Sequence[str] | None = None, verbose: bool = True
) -> list[tuple[int, float, float]]:
    """Bytes go to and fro between ranks 0 and 1; gives sizes, seconds and bytes in a second."""
    found = []
    clock = sys.modules["mpi4py.MPI"].Wtime
    sizes = [1 << at for at in range(_numbers(args, "m", 10)["m"])]
    for size in sizes if comm.size > 1 else ():
        begun = clock()
        if comm.rank == 0:
            comm.Send(bytearray(size), 1)
            comm.Recv(bytearray(size), 1)
        elif comm.rank == 1:
            comm.Recv(bytearray(size), 0)
            comm.Send(bytearray(size), 0)
        took = clock() - begun
        found.append((size, took, size / took))
        if verbose and comm.rank == 0:
            _say(f"{size:>10} {took:12.6f}")
    return found


BENCHMARKS = {"helloworld": helloworld, "ringtest": ringtest, "pingpong": pingpong}


def main(args: Sequence[str] | None = None) -> None:
    """Run one of them by its name."""
    words = list(sys.argv[1:] if args is None else args)
    if not words or words[0] not in BENCHMARKS:
        raise SystemExit(f"usage: mpi4py.bench {' | '.join(BENCHMARKS)}")
    BENCHMARKS[words[0]](sys.modules["mpi4py.MPI"].COMM_WORLD, words[1:])


def names(mpi: ModuleType) -> dict[str, Any]:
    """What the module has."""
    return {"__doc__": "Run MPI benchmarks and tests.", **BENCHMARKS, "main": main}
