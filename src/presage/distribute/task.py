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
from presage.process.fence import leaves_taken
from presage.process.program import Program
from presage.search.check import check_with
from presage.search.checkpoint.code_digest import Definition
from presage.search.checkpoint.learned import Learned
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


def identity_of(system: Checkable) -> Identity:
    """What `system` is, as something that can be compared."""
    return Identity(Definition(system).digest, _file_of(system), socket.gethostname())


def _file_of(system: Checkable) -> str:
    if isinstance(system, Program):
        if system.files:
            return str(system.files[0])
        first: Any = next(iter(system.processes.values())).body
    else:
        first = type(next(iter(system.nodes.values())))
    home = sys.modules.get(first.__module__)
    return str(getattr(home, "__file__", None) or "a module without a file")


def same_target(load: Load, identity: Identity, folder: str) -> Checkable:
    """What this process loads; refuses what is not what the driver has loaded."""
    with contextlib.suppress(OSError):  # on another machine it may not be there
        os.chdir(folder)
    with contextlib.redirect_stdout(sys.stderr):
        system = load()
    own = identity_of(system)
    if own.digest != identity.digest:
        raise BadTarget(
            f"the worker on `{own.host}` has loaded other code than this command:"
            f" `{own.file}` there, `{identity.file}` here",
            "another version of the file, of presage or of Python on that machine",
            "put the same files on every machine",
        )
    return system


def same_system(load: Load, identity: Identity, folder: str) -> System:
    """The same, of services."""
    system = same_target(load, identity, folder)
    assert isinstance(system, System), "the driver has refused all else"
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
        with leaves_taken():  # before the checked code takes names from `time` and the like
            return _done(task)
    except PresageError as error:
        return Answer(error=error)


def _done(task: Task) -> Answer:
    load, settings = task.load, replace(task.settings, budget=Budget(task.seconds))
    if settings.part.below is not None:
        services = same_system(load, task.identity, task.folder)
        with contextlib.redirect_stdout(sys.stderr):
            return Answer(*below(services, settings))
    system = same_target(load, task.identity, task.folder)
    with contextlib.redirect_stdout(sys.stderr):
        return Answer(check_with(system, settings))
