"""Whether the code that a trace names may run, and where it is.

A trace is data, and may come from anybody. The system it names runs unasked only if it is shipped
with presage, or if the trace was made by this user on this machine, which its signature proves. It
is then taken from the very folder it was in when the trace was made, from wherever it is replayed:
a signed trace that was put beside other code does not lead to that. Everything else is refused,
with what the trace names and what to type.

Whoever names it: a callable is called only if it is said to return a system. That is an annotation,
or, for a target that the user typed, that it is a function of the very file that was named.
"""

from __future__ import annotations

import functools
import shlex
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from presage.cli.target.parameters import write
from presage.errors import BadTrace, Untrusted
from presage.model.world.system import System
from presage.process.program import Program
from presage.systems import SHIPPED
from presage.trace import codec
from presage.trace.trace import Trace
from presage.ui.origin import SCRIPT, file_of

CHECKABLE = (System, Program)
NAMES = ("System", "Program")


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


def returns_system(thing: Any) -> bool:
    """Whether a call of `thing` is said to give a `System` or a `Program`."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    if isinstance(thing, type):
        return issubclass(thing, CHECKABLE)
    if not hasattr(thing, "__annotations__"):
        thing = type(thing).__call__
    written = getattr(thing, "__annotations__", {}).get("return")
    try:
        written = typing.get_type_hints(thing).get("return", written)
    except Exception:  # an annotation may name what exists only for a type checker
        pass
    if isinstance(written, str):  # it could not be looked up: believe its name
        return all(part.strip().split(".")[-1] in NAMES for part in written.split("|"))
    is_union = typing.get_origin(written) in (typing.Union, types.UnionType)
    parts = typing.get_args(written) if is_union else (written,)
    return all(isinstance(part, type) and issubclass(part, CHECKABLE) for part in parts)


def is_function_of(target: str, thing: Any) -> bool:
    """Whether `thing` is written in the file that `target` names."""
    file = file_of(target)
    if file is None or not isinstance(thing, types.FunctionType):
        return False
    return Path(thing.__code__.co_filename).resolve() == Path(file).resolve()


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
