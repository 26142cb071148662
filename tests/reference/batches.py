"""Random systems come in batches: the first are compared on every run, all by `make test-all`.

`make test-all` takes half of the later ones, `make test-all SYSTEMS=10` ten times as many as named.
"""

import os
from math import ceil

import pytest

FACTOR = float(os.environ.get("PRESAGE_TEST_SYSTEMS") or 1)


def batches(quick: int, every: int, factor: float = FACTOR) -> list[object]:
    """The numbers below `every`; those from `quick` on are slow, and `factor` times as many."""
    end = quick + ceil((every - quick) * factor)
    later = [pytest.param(batch, marks=pytest.mark.slow) for batch in range(quick, end)]
    return [*range(quick), *later]


def portion(batch: int, number: int) -> int:
    """How many of `number` systems a batch takes: the first one, run every time, a quarter."""
    return number if batch else max(1, number // 4)
