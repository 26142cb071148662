"""The left sides of predicates that are written as implications."""

import pytest

from presage import HOLDS, forall
from presage.search.coverage.conditions import conditions


def left_of(predicate):
    return [each.text for each in conditions(predicate)]


def by_return(world):
    """Has a docstring."""
    size = len(world)
    return not size > 3 or world[0] == 1


def by_early_answers(world):
    if not world:
        return True
    if len(world) < 2:
        return HOLDS
    return world[0] < world[1]


def with_a_loop(world):
    for each in world:
        if each > 3:
            return False
    return not world or True


LINES = {
    "or": (lambda w: not w or w[0] > 1, ["w"]),
    "two": (lambda w: not w or not w[0] or w[1] > 2, ["w and w[0]"]),
    "excludes": (lambda w: not w or not w[0], []),
    "if": (lambda w: w[0] == 1 if len(w) > 2 else True, ["len(w) > 2"]),
    "unless": (lambda w: True if not w else w[0] == 1, ["w"]),
    "parts": (lambda w: len(w) > 0 and (not w[0] or w[1]), ["w[0]"]),
    "all": (lambda w: all(not x or x > 1 for x in w), ["any(x for x in w)"]),
    "some": (lambda w: all(x > 1 for x in w if x), ["any(True for x in w if x)"]),
    "nodes": (lambda w: forall(w, lambda n: not n.up or n.ok), ["any(n.up for n in w)"]),
    "plain": (lambda w: len(w) > 0, []),
    "either": (lambda w: len(w) > 0 or w == 3, []),
}


@pytest.mark.parametrize("name", LINES)
def test_the_left_sides_of_a_lambda_are_found(name):
    predicate, expected = LINES[name]
    assert left_of(predicate) == expected


def test_the_left_sides_of_a_function_are_found():
    assert left_of(by_return) == ["size > 3"]
    assert left_of(by_early_answers) == ["world and (not len(world) < 2)"]
    assert left_of(with_a_loop) == []


def test_two_lambdas_on_one_line_are_told_apart():
    pair = (lambda w: not w[0] or w[1], lambda w: not w[2] or w[3])
    assert [left_of(each) for each in pair] == [["w[0]"], ["w[2]"]]


def test_a_left_side_is_asked_like_the_predicate_also_in_a_closure():
    least = 3

    def large(world):
        return not len(world) > least or world[0] == 1

    [condition] = conditions(large)
    assert not condition.holds([1, 2, 3])
    assert condition.holds([1, 2, 3, 4])


def test_what_has_no_source_has_no_left_sides():
    assert left_of(len) == []
    assert left_of(eval("lambda w: not w or w")) == []
