"""One part of a search, as data: what a worker is given, does, and gives back.

A worker loads the target by itself and compares what it has loaded with what the driver has. Code
that differs between machines would make one report of two systems.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from msgspec import Struct

from presage._core import Kernel
from presage._results import Outcome, Parts
from presage.errors import BadTarget, PresageError
from presage.execution.budget import Budget
from presage.limits import Limits
from presage.model.world.system import System
from presage.process.fence import take_leaves
from presage.process.program import Program
from presage.search.check import check_with
from presage.search.checkpoint.code_digest import Definition
from presage.search.checkpoint.store import Learned
from presage.search.part import Part
from presage.search.report import Report
from presage.search.settings import Settings
from presage.search.tree import refusals

Checkable: TypeAlias = System | Program
# What of settings concerns the driver alone: where to write, whom to tell.
OWN: dict[str, Any] = {
    **dict.fromkeys(("budget", "progress", "give_up", "second", "seconds", "traces", "coverage")),
    "threads": 1,
}
Load: TypeAlias = Callable[[], Checkable]  # importable, with arguments that are plain data


class Identity(Struct, frozen=True):
    """What a target is, in whatever process it is loaded; and where it was found, for a text."""

    digest: str
    file: str
    host: str


class Task(Struct, frozen=True):
    """A part of a search."""

    load: Load
    identity: Identity  # of what the driver has loaded
    settings: Settings
    folder: str  # the driver's current one
    seconds: float | None = None  # left when it was handed out


class Answer(Struct, frozen=True):
    """What became of a task: a report, or why there is none."""

    report: Report | None = None
    error: PresageError | None = None
    handed: bytes | None = None  # by a part of a tree that was explored to its end


def identity_of(system: System) -> Identity:
    """What `system` is, as something that can be compared."""
    home = sys.modules.get(type(next(iter(system.nodes.values()))).__module__)
    file = str(getattr(home, "__file__", None) or "a module without a file")
    return Identity(Definition(system).digest, file, socket.gethostname())


def same_system(load: Load, identity: Identity, folder: str) -> System:
    """The system as this process loads it; refuses one that is not the driver's."""
    with contextlib.suppress(OSError):  # on another machine it may not be there
        os.chdir(folder)
    with contextlib.redirect_stdout(sys.stderr):
        system = load()
    assert isinstance(system, System), "the driver has refused all else"
    own = identity_of(system)
    if own.digest != identity.digest:
        raise BadTarget(
            f"the worker on `{own.host}` has loaded other code than this command:"
            f" `{own.file}` there, `{identity.file}` here",
            "another version of the file, of presage or of Python on that machine",
            "put the same files on every machine",
        )
    return system


def below(system: System, settings: Settings) -> tuple[Report, None, bytes | None]:
    """Explore a part of a tree."""
    handed: list[bytes | None] = []

    def elsewhere(kernel: Kernel, limits: Limits, learned: Learned) -> Outcome:
        part, most = settings.part.below, settings.part.walks
        assert part is not None and most is not None, "a part of a tree has both"
        parts = Parts(settings.with_defaults(program=False).reduction, 1, 1)
        with refusals():
            outcome, whole = parts.explore_one(kernel, part, most, limits)
        handed.append(whole)
        return outcome

    part = Part(elsewhere=elsewhere, is_whole=False)
    report = check_with(system, replace(settings, part=part))
    return report, None, handed[-1] if handed else None


def work(task: Task) -> Answer:
    """Do a part, in whatever process this is."""
    try:
        system = same_system(task.load, task.identity, task.folder)
        take_leaves()
        settings = replace(task.settings, budget=Budget(task.seconds))
        with contextlib.redirect_stdout(sys.stderr):
            if settings.part.below is not None:
                return Answer(*below(system, settings))
            return Answer(check_with(system, settings))
    except PresageError as error:
        return Answer(error=error)
