"""The garbage collector during a search."""

import gc

import pytest

from presage.process.collecting import SELDOM, seldom_collected


@pytest.mark.parametrize("before, inside", [(700, SELDOM), (SELDOM + 1, SELDOM + 1), (0, 0)])
def test_it_looks_less_often_inside_and_as_before_afterwards(before, inside):
    own = gc.get_threshold()
    gc.set_threshold(before, 10, 10)
    try:
        with pytest.raises(KeyError), seldom_collected():
            assert gc.get_threshold() == (inside, 10, 10)
            raise KeyError
        assert gc.get_threshold() == (before, 10, 10)
    finally:
        gc.set_threshold(*own)
