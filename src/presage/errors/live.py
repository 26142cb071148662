"""What goes wrong when nodes run live: clusters, sockets, certificates, commands to nodes."""

from __future__ import annotations

from presage.errors.base import PresageError


class BadCluster(PresageError):
    """Cause: a cluster file is damaged, does not fit its system, or is not safe to run.

    Remedy: correct the line and the field that the text names.
    """


class NotRunning(PresageError):
    """Cause: a command is meant for a node, or for `presage up`, that does not answer.

    Remedy: `presage status` lists what runs; `--data` names another folder.
    """


class CannotListen(PresageError):
    """Cause: a node cannot have its address, or its certificate cannot be used.

    Remedy: end what has the address, or give another one in the cluster file.
    """


class CommandRefused(PresageError):
    """Cause: a node got a command and does not do it. Remedy: the text says."""
