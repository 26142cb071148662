"""From `--scheduler` on the command line to a scheduler."""

from __future__ import annotations

import copyreg
import re
from pathlib import Path

from presage.cli.target.importing import import_file, import_module
from presage.errors import BadTarget, did_you_mean
from presage.search.delay.scheduler import NATIVE, Scheduler

FORMS = "`package.module:Class` or `path/to/file.py:Class`, a subclass of `presage.Scheduler`"


def load_scheduler(named: str) -> str | Scheduler:
    """A native scheduler, by its name, or an object of the class that is named."""
    return named if named in NATIVE else _load(named)


def _load(named: str) -> Scheduler:
    path, colon, name = named.rpartition(":")
    if not colon or "\0" in named:
        raise BadTarget(
            f"there is no scheduler `{named}`{did_you_mean(named, NATIVE)}",
            f"a misspelt name; there are {', '.join(NATIVE)}",
            f"use one of these, or name yours: {FORMS}",
        )
    is_file = re.fullmatch(r".+\.py", path, re.DOTALL)
    module = import_file(named, Path(path)) if is_file else import_module(named, path)
    thing = vars(module).get(name)
    if not isinstance(thing, type) or not issubclass(thing, Scheduler):
        own = [key for key, value in vars(module).items() if _is_own(value)]
        raise BadTarget(
            f"`{named}` is no scheduler{did_you_mean(name, own)}",
            f"it has {', '.join(own)}" if own else "it has no subclass of `presage.Scheduler`",
            f"name a class: {FORMS}",
        )
    if is_file:  # a worker of a cluster does not know its module, and is in another folder
        copyreg.pickle(thing, lambda _: (_load, (f"{Path(path).absolute()}:{name}",)))
    try:
        return thing()
    except TypeError as error:
        raise BadTarget(
            f"`{named}` could not be made: {error}",
            "a scheduler whose `__init__` needs arguments",
            "give them defaults, or call `presage.check` with an object of it",
        ) from error


def _is_own(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Scheduler) and value is not Scheduler
