"""Traces that begin in a saved state: from the state to plain data, and back.

Invariant: a state that is opened has the fingerprint of the one that was saved, which a replay of
the trace compares; so damage never goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import Any

from presage._core import FAULTS
from presage.errors import BadTrace, PresageError, Untrusted
from presage.model.world.filters import Filter
from presage.model.world.network import NETWORKS, Flying
from presage.model.world.origin import begun_in, channels, links
from presage.model.world.snapshot import Snapshot
from presage.model.world.system import System
from presage.model.world.transport import Frozen
from presage.trace.naming import named
from presage.trace.origin import SavedFilter, SavedOrigin

AGAIN = "make the trace again"


def saved_origin(system: System) -> SavedOrigin:
    """Where executions of `system`, which begins in a saved state, begin."""
    origin, snapshot = system.origin, system.origin.snapshot
    classes, references = system.codec.names()
    budgets = (None if each == inf else int(each) for each in snapshot.budgets)
    exposed = origin.faults.nodes
    found = SavedOrigin(
        locals=snapshot.locals,
        observers=snapshot.observers,
        budgets=tuple(budgets),
        exposed=None if exposed is None else tuple(exposed),
        notices=origin.faults.notices,
        partition=snapshot.transport.partition,
        links=tuple(
            (a, b, tuple(there), tuple(back), flags)
            for a, b, there, back, flags in links(snapshot.transport)
        ),
        mail=tuple(map(tuple, channels(system, snapshot.transport))),
        outside=origin.outside,
        observed=system.observed_known,
        filters=tuple(SavedFilter(f.node, f.kind, f.name, f.source) for f in origin.filters),
        classes=tuple(sorted(classes)),
        references=tuple(sorted(references)),
    )
    return found.signed()


def opened(system: Any, saved: SavedOrigin) -> Any:
    """`system`, begun in the state that was saved.

    Raises `Untrusted` for a state that nobody vouches for, `BadTrace` for one of another system.
    """
    if not isinstance(system, System) or system.origin is not None:
        return system
    if not saved.is_vouched_for():
        raise Untrusted(
            "the trace begins in a saved state, which is not opened: nothing proves it is yours",
            "it comes from another user or machine, or was edited",
            "if you trust its origin: `--trust`",
        )
    _learn(system, saved)
    try:
        return _opened(system, saved)
    except (ValueError, IndexError, KeyError, TypeError, PresageError) as error:
        raise BadTrace(
            f"the trace begins in a state that is none of this system: {_first_line(error)}",
            "the system was changed since the trace was made, or other parameters were given",
            AGAIN,
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _learn(system: System, saved: SavedOrigin) -> None:
    """Let the codec know what the bytes may name; only what is signed leads to an import."""
    imports, codec = saved.is_signed(), system.codec
    own = {cls for node in system.automata for cls in (node.service, *node.shape.handlers)}
    met = {f"{cls.__module__}:{cls.__qualname__}": [cls] for cls in own}
    for names, learn in ((saved.references, codec.encode), (saved.classes, codec.learn)):
        for name in names:
            try:
                learn(named(name, met, imports=imports))
            except (LookupError, PresageError):
                continue  # if the bytes need it, they cannot be decoded


def _opened(system: System, saved: SavedOrigin) -> System:
    lengths = [len(automaton.fields) + 1 for automaton in system.automata]
    if list(map(len, saved.locals)) != lengths or len(saved.budgets) != len(FAULTS):
        raise ValueError("it has other nodes, fields or faults")
    if len(saved.observers) != len(system.observers):
        raise ValueError("it has other observers")
    amounts = [inf if each is None else each for each in saved.budgets]
    granted: dict[str, Any] = dict(zip(FAULTS, amounts, strict=True))
    faults = replace(system.faults, **granted, nodes=saved.exposed, notices=saved.notices)
    transport = Frozen(_network(system, saved), _streams(system, saved), saved.partition)
    snapshot = Snapshot(0, saved.locals, saved.observers, tuple(amounts), transport)
    for encoded in (*(value for local in saved.locals for value in local), *saved.observers):
        system.codec.decode(encoded)
    return begun_in(
        system,
        snapshot,
        outside=saved.outside,
        observed=saved.observed,
        filters=[Filter(each.node, each.kind, each.name, each.source) for each in saved.filters],
        faults=faults,
    )


def _flying(system: System, encoded: bytes) -> Flying:
    source, to, _ = system.codec.decode(encoded)
    if not {source, to} <= set(range(len(system.names))):
        raise ValueError("a message is from or to a node that is not there")
    return Flying(source, to, encoded)


def _network(system: System, saved: SavedOrigin) -> Any:
    network = NETWORKS[system.network](system.codec)
    for channel in saved.mail:
        for encoded in channel:
            network.send(_flying(system, encoded))
    return network.frozen()


def _streams(system: System, saved: SavedOrigin) -> Any:
    queues = tuple(sorted(_queues(system, saved)))
    opened, errors = set(), set()
    for a, b, _, _, flags in saved.links:
        for at, end in enumerate(((a, b), (b, a))):
            opened |= {end} if flags >> at & 1 else set()
            errors |= {end} if flags >> at & 4 else set()
    return queues, frozenset(opened), frozenset(errors)


def _queues(system: System, saved: SavedOrigin) -> Iterator[tuple[tuple[int, int], Any]]:
    if saved.links and system.streams is None:
        raise ValueError("it has streams")
    for a, b, there, back, _ in saved.links:
        if not {a, b} <= set(range(len(system.names))):
            raise ValueError("a connection is of a node that is not there")
        for end, queue in (((a, b), there), ((b, a), back)):
            if queue:
                yield end, tuple(_flying(system, each) for each in queue)
