"""The garbage collector, asked to look less often: a search keeps almost everything it makes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 10_000  # new objects after which it looks at the young ones; the interpreter's own: 700


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Collect less often inside; a collector that is off, or looks even less often, stays so."""
    before = gc.get_threshold()
    if before[0]:
        gc.set_threshold(max(before[0], SELDOM), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
