"""Checkpoints of peers are looked at before anything is rebuilt from them.

A checkpoint holds values of a service, and a peer may be hostile. Its bytes may name only classes
that the code of the system reaches and that are rebuilt without running code: those are admitted
to a codec of its own, by which every value is read once. What passes may be decoded by others.

Invariant: what is not plain data of admitted classes raises `BadCheckpoint`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from presage._core import Codec
from presage.errors import PresageError
from presage.model.world.system import System
from presage.runtime.checkpoint import Checkpoint
from presage.runtime.delta import BadCheckpoint
from presage.runtime.vocabulary import OWN
from presage.search.checkpoint.code_digest import Definition


def inspector(system: System, definition: Definition | None = None) -> Callable[[Checkpoint], None]:
    """A function that refuses checkpoints with values that no node of `system` can have."""
    known = definition or Definition(system)
    codec = Codec(live=True)
    for classes in (OWN, *known.classes.values()):
        for cls in classes:
            try:
                codec.admit(cls)
            except PresageError:
                pass  # it runs code when it is rebuilt, or no value of it can be in a state
    fields = {automaton.name: len(automaton.fields) + 1 for automaton in system.automata}

    def inspect(checkpoint: Checkpoint) -> None:
        if len(checkpoint.local) != fields[checkpoint.node]:
            raise BadCheckpoint("it has other fields than the node")
        for value in _values(checkpoint):
            try:
                codec.decode_plain(value)
            except ValueError as error:
                raise BadCheckpoint(f"a value is no plain data: {error}") from None

    return inspect


def _values(checkpoint: Checkpoint) -> Iterator[bytes]:
    yield from filter(None, checkpoint.local)
    for end in checkpoint.ends.values():
        yield from end.log
    for sent in checkpoint.datagrams.sent.values():
        yield from (each.message for each in sent)
    yield from (each.message for each in checkpoint.datagrams.waiting)
