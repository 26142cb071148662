"""Garbage of other tests is freed between tests, not in the middle of a simulated process."""

import gc

import pytest


@pytest.fixture(autouse=True)
def later():
    gc.disable()
    yield
    gc.enable()
