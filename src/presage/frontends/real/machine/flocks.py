"""`fcntl.flock`: locks of whole files, each held by what one `open` made.

Two threads that open a file each have locks that exclude each other; numbers that `dup` made share
one. A lock is gone when its last number is closed. The locks of `lockf` belong to the process, so
within one process they never keep anybody from anything.
"""

from __future__ import annotations

import errno
import fcntl
from typing import Any

from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.descriptors import Description, failure
from presage.frontends.real.machine.opened import OpenFile, OpenFolder, description_of
from presage.frontends.real.machine.polling import descriptor_of

HELD = "flocks"  # a note of a process: by file, who holds it, and whether for himself alone
KINDS = fcntl.LOCK_SH, fcntl.LOCK_EX, fcntl.LOCK_UN


def flock(fd: Any, operation: int, /) -> None:
    """As `fcntl.flock`."""
    process = here()
    description = description_of(process, descriptor_of(fd))
    kind = operation & ~fcntl.LOCK_NB
    if kind not in KINDS:
        raise failure(errno.EINVAL)
    held = holders(process, description)
    exclusive = kind == fcntl.LOCK_EX
    process.preempt()
    if kind != fcntl.LOCK_UN and held.get(description) is exclusive:
        return
    held.pop(description, None)  # a lock that is changed is not kept meanwhile

    def is_free() -> bool:
        return all(
            each is description or not each.refs or not (exclusive or alone)
            for each, alone in held.items()
        )

    if kind == fcntl.LOCK_UN:
        process.preempt(ends=True)
        return
    if operation & fcntl.LOCK_NB and not is_free():
        raise failure(errno.EAGAIN)
    _wait(process, description, is_free)
    held[description] = exclusive


def _wait(process: Any, description: Description, is_free: Any) -> None:
    """Wait for a lock; meanwhile the descriptor is in use."""
    description.refs += 1
    try:
        while not is_free():
            process.block(is_free, None, "flock")
    finally:
        description.forget()


def holders(process: Any, description: Description) -> dict[Description, bool]:
    """Who has a lock on the file behind a descriptor."""
    file: Any = description
    if isinstance(description, OpenFile):
        file = description.file
    elif isinstance(description, OpenFolder):
        file = description.folder
    kept = process.notes.setdefault(HELD, {})
    held: dict[Description, bool] = kept.setdefault(file, {})
    for each in [each for each in held if not each.refs]:
        del held[each]
    return held
