"""Trace files: JSON with a format name and a version, whole or not there at all.

A file appears under its final name by a rename, so a process killed at any moment leaves either
the whole trace or none. Reading believes nothing: what is not exactly a trace of a version known
here is refused with the reason, never half understood.

A trace names code. `Origin` says where that code was when the trace was made, and is signed
together with the trace (`seal.py`), so that only a trace made by this user leads to running it.
"""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final, Literal, TypeVar

import msgspec

from presage._core import sha256
from presage.errors import BadTrace
from presage.trace import seal
from presage.trace.trace import Trace

FORMAT: Final = "presage-trace"
VERSION: Final = 2
SUFFIX = ".trace"

REMEDY = "make it again with `presage check`"
BROKEN = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)

_Decoded = TypeVar("_Decoded")


class _Header(msgspec.Struct):
    format: str
    version: int


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the target of a trace is to be found, and who says so."""

    folder: str = ""  # the current folder when it was made; its target is relative to that
    signature: str | None = None  # of this user, over the trace and the folder

    @classmethod
    def of(cls, trace: Trace) -> Origin:
        try:
            folder = str(Path.cwd())
            content = _signed(trace, folder)
        except (OSError, UnicodeError):  # a folder that is gone, or whose name is no text
            return cls()
        return cls(folder, seal.sign(FORMAT, content))

    def vouches_for(self, trace: Trace) -> bool:
        """Whether this user made `trace`, in this folder."""
        return seal.is_ours(FORMAT, _signed(trace, self.folder), self.signature)


class TraceFile(msgspec.Struct):
    """All that a trace file holds."""

    format: Literal["presage-trace"]
    version: Literal[2]
    trace: Trace
    origin: Origin = Origin()


class _OriginOnly(msgspec.Struct):
    origin: Origin = Origin()


def _signed(trace: Trace, folder: str) -> bytes:
    return msgspec.json.encode((VERSION, folder, trace))


def encode(trace: Trace) -> bytes:
    """The content of the file of `trace`, signed by this user."""
    return msgspec.json.encode(TraceFile(FORMAT, VERSION, trace, Origin.of(trace))) + b"\n"


def file_name(trace: Trace) -> str:
    """A name that tells the property, and that only an equal trace shares.

    What a reader notes down, which live path was found, and what there is to say of the search
    make no other trace of it.
    """
    if not isinstance(trace.origin, msgspec.UnsetType):
        unsigned = msgspec.structs.replace(trace.origin, signature=None)
        trace = msgspec.structs.replace(trace, origin=unsigned)
    told = msgspec.to_builtins(TraceFile(FORMAT, VERSION, trace))
    del told["origin"]
    for name in ("live", "notes", "coverage", "remarks"):
        del told["trace"][name]
    for step in told["trace"]["steps"]:
        del step["lost"]  # which follows from the rest
    digest = sha256(msgspec.json.encode(told) + b"\n").hex()[:8]
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', trace.prop)[:60] or 'trace'}-{digest}{SUFFIX}"


def save(trace: Trace, folder: str | Path) -> Path:
    """Write `trace` into `folder`, made if need be, under its own name; return the path."""
    return write(trace, Path(folder) / file_name(trace))


def write(trace: Trace, path: str | Path) -> Path:
    """Write `trace` to `path`, replacing what was there only when the new file is complete."""
    path, content = Path(path), encode(trace)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _beside(path) as file:
            unfinished = Path(file.name)
            try:
                file.write(content)
                file.close()
                unfinished.replace(path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
    except (OSError, ValueError) as error:  # a path may be none at all
        raise BadTrace(
            f"the trace cannot be written to `{path}`: {_reason(error)}",
            "a folder that may not be written to, a file where a folder is meant, a full disk",
            "name another folder with `--traces DIR`",
        ) from error
    return path


def read(path: str | Path) -> Trace:
    """The trace in the file `path`; raises `BadTrace` on anything else."""
    return decode(_content(Path(path)), path)


def decode(content: bytes, path: str | Path) -> Trace:
    """The trace that is the content of a file; `path` is what messages call it."""
    path = Path(path)
    _check_header(path, content)
    trace = _decoded(path, content, TraceFile).trace
    _check_sense(path, trace)
    return trace


def origin(path: str | Path) -> Origin:
    """Where the trace in the file `path` says that it was made; nothing of it is believed yet."""
    return _decoded(Path(path), _content(Path(path)), _OriginOnly).origin


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:  # a path may be none at all
        raise BadTrace(
            f"the trace `{path}` cannot be read: {_reason(error)}",
            "another folder than the one `presage check` ran in, or a misspelt name",
            "`presage check` prints the path of every trace it saves",
        ) from error


def _decoded(path: Path, content: bytes, kind: type[_Decoded]) -> _Decoded:
    try:
        return msgspec.json.decode(content, type=kind)
    except BROKEN as error:
        raise _damaged(path, str(error)) from error


def live_of(path: str | Path, trace: Trace) -> Path | None:
    """The file of the nearest live path of `trace`, read from `path`; None if there is none."""
    beside = None if trace.live is None else Path(path).parent / trace.live
    return beside if beside is not None and beside.is_file() else None


def _beside(path: Path) -> BinaryIO:
    """A new file in the folder of `path`, so that renaming it there is atomic."""
    # Numbered, not random: names of unfinished files must not depend on chance either. A number
    # taken by a concurrent or a killed process is skipped.
    for number in count():
        try:
            return path.with_name(f".{path.name}.{number}.unfinished").open("xb")
        except FileExistsError:
            continue
    raise AssertionError("count() is endless")


def _check_header(path: Path, content: bytes) -> None:
    try:
        header = msgspec.json.decode(content, type=_Header)
    except msgspec.ValidationError as error:
        raise _foreign(path) from error
    except BROKEN as error:
        # A file that was cut short still says what it was meant to be.
        if FORMAT.encode() in content[:200]:
            raise _damaged(path, str(error)) from error
        raise _foreign(path) from error
    if header.format != FORMAT:
        raise _foreign(path)
    if header.version != VERSION:
        raise BadTrace(
            f"the trace `{path}` is of version {header.version}, and this presage reads"
            f" version {VERSION}",
            f"{'a newer' if header.version > VERSION else 'an older'} presage made it",
            f"replay it with that presage, or {REMEDY}",
        )


def _check_sense(path: Path, trace: Trace) -> None:
    for position, step in enumerate(trace.steps, 1):
        if step.index != position:
            raise _damaged(path, f"step {position} is numbered {step.index}")
        if any(not 0 <= k < n for k, n in step.choices):
            raise _damaged(path, f"step {position} has a choice out of range")
        if any(not 1 <= cause < position for cause in step.follows):
            raise _damaged(path, f"step {position} follows one that is not before it")
    if not 0 <= trace.step <= len(trace.steps):
        raise _damaged(path, f"step {trace.step} is named, and there are {len(trace.steps)}")
    if trace.critical is not None and not 0 <= trace.critical <= len(trace.steps):
        raise _damaged(path, f"step {trace.critical} is critical, and there are {len(trace.steps)}")
    if trace.loop is not None and not 1 <= trace.loop <= len(trace.steps):
        raise _damaged(path, f"the loop begins at step {trace.loop} of {len(trace.steps)}")
    for noted, _ in trace.notes:
        if not 0 <= noted <= len(trace.steps):
            raise _damaged(path, f"a note is at step {noted}, and there are {len(trace.steps)}")
    if trace.live is not None and Path(trace.live).name != trace.live:
        raise _damaged(path, f"its live path `{trace.live}` is not a file beside it")


def _foreign(path: Path) -> BadTrace:
    return BadTrace(
        f"`{path}` is not a presage trace",
        "another kind of file was named",
        "`presage check` prints the path of every trace it saves",
    )


def _damaged(path: Path, what: str) -> BadTrace:
    return BadTrace(
        f"the trace `{path}` is damaged: {what[0].lower()}{what[1:]}",
        "it was edited by hand, or copied only in part",
        REMEDY,
    )


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
