"""`implies`: a claim with a condition, and whether the condition was ever met."""

import pytest

from presage import HOLDS, Verdict, implies
from presage.errors import PropertyError
from presage.props.implication import CONDITIONS


def test_it_holds_where_its_left_side_is_false_or_its_right_side_is_true():
    assert implies(False, False) == HOLDS
    assert implies(True, True) == HOLDS
    assert implies(HOLDS, HOLDS) == HOLDS
    assert not implies(True, False)


def test_a_right_side_that_says_why_is_quoted():
    assert implies(True, Verdict.fails("n0 is behind")).why == "n0 is behind"
    assert "right side does not" in implies(True, False).why


def test_a_function_as_right_side_is_called_only_where_the_left_side_is_true():
    asked = []
    assert implies(False, lambda: bool(asked.append(1)))
    assert asked == []
    assert not implies(True, lambda: bool(asked.append(1)))
    assert asked == [1]


def test_whoever_asks_learns_where_the_left_side_was_true():
    met = {}
    token = CONDITIONS.set(met)
    for left in (False, True, False):
        implies(left, True)
    implies(False, False)
    CONDITIONS.reset(token)
    assert sorted(met.values()) == [False, True]
    assert all("test_implication.py:" in place for place in met)


@pytest.mark.parametrize("sides", [([], True), (True, None), (True, lambda: 3)])
def test_a_side_that_is_neither_true_nor_false_is_refused_with_its_line(sides):
    with pytest.raises(PropertyError, match=r"test_implication.py:\d+: the \w+ side of `implies`"):
        implies(*sides)
