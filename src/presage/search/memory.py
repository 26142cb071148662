"""How much memory the process has held at most."""

from __future__ import annotations

import resource
from pathlib import Path

STATUS = Path("/proc/self/status")


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
