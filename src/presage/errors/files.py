"""What comes from outside: targets, traces, checkpoints, commands."""

from __future__ import annotations

from presage.errors.base import PresageError


class BadTrace(PresageError):
    """Cause: a trace file is damaged, of another version, or of another system.

    Remedy: make it again with `presage check`.
    """


class Diverged(BadTrace):
    """Cause: a step of a trace is possible, but now leads to another state than it did.

    Remedy: make the trace again; if nothing was edited, `presage doctor` looks for chance.
    """

    def __init__(self, where: str, expected: int, got: int) -> None:
        self.got = got
        super().__init__(
            f"{where} leads to another state than recorded: {expected:016x} != {got:016x}",
            "the system was edited since the trace was made, or depends on the hash seed",
            "make the trace again with `presage check`; `presage doctor` looks for chance",
        )


class BadCommand(PresageError):
    """Cause: the debugger was asked for what is not there. Remedy: `help` lists its commands."""


class BadOutput(PresageError):
    """Cause: standard output cannot be written. Remedy: make room, or send it elsewhere."""


class BadCheckpoint(PresageError):
    """Cause: a checkpoint cannot be written, or is damaged, or of another system or version.

    Remedy: name another folder, or search from the beginning.
    """


class StoreError(PresageError):
    """Cause: the durable state of a live node cannot be read or written, or is of another service.

    Remedy: make room, or name another folder; what was promised before is still there.
    """


class LogsDiffer(PresageError):
    """Cause: the logs of live nodes tell of a run that the model does not have.

    Remedy: give the logs of all nodes, of one run of one system.
    """


class BadKey(PresageError):
    """Cause: the key that signs traces and checkpoints cannot be read, or others may read it.

    Remedy: remove it, and a new one is made.
    """


class Untrusted(PresageError):
    """Cause: a file from elsewhere names code, and nobody said that it may run.

    Remedy: look at what it names; then `--trust`, or name the system with `--target`.
    """


class BadTarget(PresageError):
    """Cause: the target names no system, or its file cannot be imported.

    Remedy: `presage systems` lists names; otherwise `package.module:name` or `path/file.py:name`.
    """
