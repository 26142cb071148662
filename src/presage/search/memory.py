"""How much memory the process has held at most, and whether a limit leaves any."""

from __future__ import annotations

import resource
from pathlib import Path

from presage._core import resident_mib
from presage.errors import BadSystem

STATUS = Path("/proc/self/status")
MEMORY_MIN = 16  # MiB that a search takes at least


def peak_mib() -> float:
    """The most the process held at a time, in MiB.

    `ru_maxrss` counts what the parent held before it started this process, so it is asked only
    where there is nothing better.
    """
    try:
        lines = STATUS.read_text(encoding="ascii").splitlines()
        kib = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(kib / 1024, 1)


def check_memory(memory_mib: int | None) -> None:
    """Refuse a limit that the process is beyond before a search begins."""
    used = resident_mib()
    if memory_mib is not None and used is not None and used >= memory_mib:
        raise BadSystem(
            f"`memory` is {memory_mib} MiB, and the process holds {used} MiB already",
            "a limit below what Python and the checked code take before the search begins",
            f"give at least {used + MEMORY_MIN} MiB",
        )
