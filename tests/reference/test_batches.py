"""How many random systems are compared, and what asks for more."""

from reference.batches import batches


def numbers(*args):
    return [each if isinstance(each, int) else each.values[0] for each in batches(*args)]


def test_a_factor_asks_for_more_of_the_slow_ones():
    assert numbers(1, 4, 1.0) == [0, 1, 2, 3]
    assert numbers(1, 4, 10.0) == list(range(31))
    assert numbers(2, 4, 0.0) == [0, 1]
