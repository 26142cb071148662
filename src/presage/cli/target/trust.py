"""Whether the code that a trace names may run, and where it is.

A trace is data, and may come from anybody. The system it names runs unasked only if it is shipped
with presage, or if the trace was made by this user on this machine, which its signature proves. It
is then taken from the very folder it was in when the trace was made, from wherever it is replayed:
a signed trace that was put beside other code does not lead to that. Everything else is refused,
with what the trace names and what to type.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from presage.cli.target.parameters import write
from presage.errors import BadTrace, Untrusted
from presage.systems import SHIPPED
from presage.trace import codec
from presage.trace.trace import Trace
from presage.ui.origin import SCRIPT, file_of


class Place(Struct, frozen=True):
    """A target, and the folder from which its modules are imported."""

    target: str
    folder: Path | None = None  # None: the current one
    own: bool = True  # whether this user's presage wrote it down


def place_of(trace: Trace, path: str | Path, command: str, trust: bool) -> Place:
    """Where the system of `trace`, read from `path`, is; raises `Untrusted` if it may not run."""
    target = trace.target
    if target is None:
        raise BadTrace(
            f"the trace `{path}` does not say which system it belongs to",
            "it was saved by `presage.check` called from Python",
            f"`presage {command} {path} --target TARGET`",
        )
    if target in SHIPPED:
        return Place(target)
    origin = codec.origin(path)
    if origin.vouches_for(trace):
        place = _in_folder(target, Path(origin.folder))
        if place is not None:
            return place
        cause = f"it was made in `{origin.folder}`, and what it names is no longer there"
    else:
        cause = "it was not made by you on this machine, or was edited since"
    if not trust:
        raise _refused(trace, path, command, cause)
    for folder in _likely(Path(path)):
        if (place := _in_folder(target, folder)) is not None:
            return replace(place, own=False)
    return Place(target, own=False)


def _in_folder(target: str, folder: Path) -> Place | None:
    """`target` as seen from `folder`; None if its file is not there."""
    file = file_of(target)
    if file is None:
        return Place(target, folder) if folder.is_dir() else None
    try:
        found = folder / file
        if not found.is_file():
            return None
        if folder == Path.cwd():
            return Place(target)
    except (OSError, ValueError):  # no path at all, or the current folder is gone
        return None
    if SCRIPT in target:
        return Place(shlex.join([str(found), *shlex.split(target)[1:]]))
    return Place(str(found) + target.removeprefix(file))


def _likely(path: Path) -> Iterator[Path]:
    """Where the code of a trace from elsewhere may be: here, or above the trace."""
    yield Path.cwd()
    yield from path.resolve().parents


def _refused(trace: Trace, path: str | Path, command: str, cause: str) -> Untrusted:
    given = "".join(f" {name}={write(value)!r}" for name, value in trace.parameters.items())
    if trace.parameters:
        given = f" with{given}"
    return Untrusted(
        f"the trace `{path}` names the system `{trace.target}`{given}, which is not run",
        cause,
        f"look at that code; then `presage {command} {shlex.quote(str(path))} --trust` runs"
        " it, or `--target TARGET` names the system yourself",
    )
