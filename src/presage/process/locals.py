"""The local states of processes as a tree: which response led from which one to which.

There may be millions of them, and the interpreter's garbage collector looks again and again at
whatever can refer to something, but not at tuples of numbers: so they are such tuples.
"""

from __future__ import annotations

from presage.process.guide import Asked
from presage.process.program import Process

Reply = tuple[int, int, int, int]  # choice, payload, key: a response in numbers
Local = tuple[int, int, Reply, Asked]  # process, parent, what led here from there, what it asks

ROOT = -1  # the parent of how a process begins
NOBODY: frozenset[str] = frozenset()


class Locals:
    """All local states, by number."""

    def __init__(self) -> None:
        self.all: list[Local] = []
        self.begins: dict[int, Process] = {}  # how processes begin, by their first local state
        self.families: dict[int, frozenset[str]] = {}  # those that created any

    def add(self, local: Local, children: frozenset[str]) -> int:
        """The number of a new one; `children` are the names of the processes it has created."""
        number = len(self.all)
        self.all.append(local)
        if children:
            self.families[number] = children
        return number

    def children(self, local: int) -> frozenset[str]:
        return self.families.get(local, NOBODY)

    def path(self, local: int) -> tuple[Process, list[Local]]:
        """How its process begins, and the local states that lead to it, itself the last."""
        known, path, first = self.all, [], local
        while local != ROOT:
            first = local
            path.append(known[local])
            local = path[-1][1]
        path.reverse()
        return self.begins[first], path
