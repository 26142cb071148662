"""The system of a saved trace."""

from __future__ import annotations

from pathlib import Path

from msgspec import UnsetType
from msgspec.structs import replace

from presage.cli.target.load import Loaded, load
from presage.cli.target.trust import place_of
from presage.execution.begin import system_of
from presage.trace.origin import vouch
from presage.trace.trace import Trace


def load_traced(
    trace: Trace,
    path: str | Path,
    target: str | None = None,
    command: str = "replay",
    *,
    trust: bool = False,
) -> Loaded:
    """The system of `trace`, read from `path`: the one it names, or `target` if that is given.

    What the trace names runs only if it may (see `trust.py`); `trust`: whoever made the trace.
    """
    if target is not None:
        loaded = load(target, trace.parameters)
    else:
        place = place_of(trace, path, command, trust)
        loaded = load(place.target, trace.parameters, place.folder, typed=place.own)
    if trust and not isinstance(trace.origin, UnsetType):
        vouch(trace.origin)
    return replace(loaded, system=system_of(loaded.system, trace))
