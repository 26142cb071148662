"""Garbage of other tests is freed between tests, not in the middle of a simulated process.

Nor do tests elsewhere meet the leaves that those here take for good.
"""

import gc

import pytest

from presage.process.leaves import TABLE


@pytest.fixture(autouse=True)
def later():
    gc.disable()
    depth = TABLE.depth
    yield
    gc.enable()
    while TABLE.depth > depth:
        TABLE.down()
