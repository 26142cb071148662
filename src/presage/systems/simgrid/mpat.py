"""Pairs of threads that meet at a lock of their own; one of each pair needs a common lock, too.

After the DPU program `mpat` in SimGrid's tests.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Actor, Mutex


def writer(own: Mutex) -> None:
    """Takes the pair's lock."""
    own.lock()
    own.unlock()


def reader(common: Mutex, own: Mutex) -> None:
    """Takes the common lock, and the pair's inside it."""
    common.lock()
    own.lock()
    own.unlock()
    common.unlock()


def main(pairs: int) -> None:
    """Starts the threads."""
    common = Mutex("common")
    owns = [Mutex(f"own {number}") for number in range(pairs)]
    for number, own in enumerate(owns):
        Actor.create(f"writer {number}", None, writer, own)
        Actor.create(f"reader {number}", None, reader, common, own)


def program(*, pairs: int = 3) -> Program:
    """A main process, which creates the threads.

    pairs: how many pairs of threads.
    """
    return Program({"main": Process(main, pairs)}, name="mpat")
