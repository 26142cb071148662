"""The checkpoints of a node that runs: how one is taken, how its numbers survive, how it travels.

Numbers must not fall back when a node is started again (see `checkpoint`). The bound of those that
were reserved is a file of its own, written anew and on disk before a larger number is used.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from presage.errors import StoreError
from presage.runtime.checkpoint import Checkpoint, Checkpoints, checkpointed, kept_ends
from presage.runtime.datagrams import Got, Held, Sent, Waiting
from presage.runtime.host import Host
from presage.runtime.link import End

NUMBERS = "numbers"  # the file of the bound, in the folder of a node


def checkpoints_of(host: Host, folder: Path) -> Checkpoints:
    """The checkpoints of a host; its frames carry their numbers from now on."""
    node = host.node

    def take(number: int) -> Checkpoint:
        ends = {peer: link.end() for peer, link in host.links.items()}
        return Checkpoint(
            node.name,
            number,
            node.life,
            checkpointed(node.automaton, node.local, node.system.codec),
            kept_ends(ends, node.life),
            host.datagrams.held(node.clock.now()),
        )

    bound = Bound(folder)
    checkpoints = Checkpoints(take, bound=bound.read(), reserve=bound.write)
    host.numbers = checkpoints
    return checkpoints


class Bound:
    """The largest number that a node may have used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> int:
        """What was written last; 0 if nothing was."""
        try:
            return int((self._folder / NUMBERS).read_text())
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            raise self._unusable(error) from error

    def write(self, bound: int) -> None:
        """Let `bound` be on disk when this returns."""
        unfinished = self._folder / f"{NUMBERS}.tmp"
        try:
            with unfinished.open("w") as file:
                file.write(str(bound))
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self._folder / NUMBERS)
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> StoreError:
        return StoreError(
            f"`{self._folder / NUMBERS}` cannot be used: {error}",
            "a full disk, a folder that may not be written to, or a damaged file",
            "make room or change its permissions; a damaged file may be removed while all nodes"
            " are down",
        )


def write(checkpoint: Checkpoint) -> bytes:
    """A checkpoint as bytes."""
    return msgspec.msgpack.encode(checkpoint)


def read(data: bytes) -> Checkpoint:
    """A checkpoint that `write` wrote."""
    node, number, process, local, ends, held = msgspec.msgpack.decode(data)
    sent, numbers, got, waiting = held
    return Checkpoint(
        node,
        number,
        process,
        tuple(local),
        {peer: _end(each) for peer, each in ends.items()},
        Held(
            {to: tuple(Sent(*each) for each in every) for to, every in sent.items()},
            numbers,
            {source: Got(one, two, tuple(three)) for source, (one, two, three) in got.items()},
            tuple(Waiting(*each) for each in waiting),
        ),
    )


def _end(fields: list[Any]) -> End:
    end = End(*fields)
    return end._replace(log=tuple(end.log))
