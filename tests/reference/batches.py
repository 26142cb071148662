"""Random systems come in batches: the first are compared on every run, all by `make test-all`."""

import pytest


def batches(quick: int, every: int) -> list[object]:
    """The numbers below `every`; those from `quick` on are slow."""
    later = [pytest.param(batch, marks=pytest.mark.slow) for batch in range(quick, every)]
    return [*range(quick), *later]
