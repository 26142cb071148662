"""A predicate is taken apart where its source is simple enough, and left alone where not."""

import pytest

from presage import Service, System, Verdict, always, exists, forall
from presage.execution.conjuncts import because, conjuncts
from presage.model.world.world import World


class Node(Service):
    value: int = 0
    peer: str | None = None


def asked(predicate, **values):
    nodes = {name: Node(value=value) for name, value in values.items()}
    system = System(nodes=nodes, properties=[always(predicate, name="p")])
    view = World.initial(system).view()
    return [(part.text, part.holds, part.why) for part in conjuncts(system.properties[0], view)]


def both(world):
    """With a docstring, names and conditions before the answer."""
    first = world["a"]
    limit: int = 3
    if first.value < 0:
        return False
    return first.value < limit and world["b"].value == 2 and first.up


def test_the_parts_of_an_and_are_asked_one_by_one():
    assert asked(both, a=1, b=5) == [
        ("first.value < limit", True, ""),
        ("world['b'].value == 2", False, "world['b'].value is 5"),
        ("first.up", True, ""),
    ]
    assert asked(both, a=1, b=2) == []
    assert asked(both, a=-1, b=2) == [("False", False, "")]


def test_of_all_those_are_named_it_is_false_of():
    def small(world):
        return all(node.value < 3 and node.up for node in world.nodes if node.name != "c")

    [(text, holds, why)] = asked(small, a=1, b=4, c=9)
    assert (holds, why) == (False, "not for node = b (node.value is 4)")
    assert text.startswith("all(node.value < 3")
    [(_, _, why)] = asked(small, a=5, b=4, c=9, d=5, e=5, f=6)
    assert why.endswith(" and 1 more")


def test_of_all_over_pairs_each_side_is_told():
    def different(world):
        return all(a.value != b.value for a in world.nodes for b in world.nodes if a.name < b.name)

    [(_, _, why)] = asked(different, a=1, b=1)
    assert why == "not for a = a, b = b (a.value is 1, b.value is 1)"


def test_forall_tells_the_part_that_is_false_of_the_first_node():
    def right(world):
        return forall(world.nodes, lambda node: node.up and node.value == 0)

    [(_, _, why)] = asked(right, a=0, b=7)
    assert why == "not for b: node.value == 0 is false: node.value is 7"


def test_other_words_for_nodes_give_their_own_reason():
    def some(world):
        return exists(world.nodes, lambda node: node.value > 9)

    assert asked(some, a=0)[0][2] == "at least 1 should be, 0 are"


def test_not_or_is_taken_apart_and_what_raises_is_said():
    def neither(world):
        return not (world["a"].value or world["a"].peer.value)

    assert asked(neither, a=0) == [
        ("not world['a'].value", True, ""),
        (
            "not world['a'].peer.value",
            None,
            "it raised AttributeError: 'NoneType' object has no attribute 'value'",
        ),
    ]


def test_a_lambda_and_a_closure_are_read_as_well():
    limit = 2
    predicate = lambda world: world["a"].value < limit  # noqa: E731
    assert asked(predicate, a=3) == [
        ("world['a'].value < limit", False, "world['a'].value is 3, limit is 2")
    ]


def loops(world):
    for node in world.nodes:
        if node.value:
            return Verdict.fails(f"{node.name} has a value")
    return True


class Callable:
    __name__ = "callable"

    def __call__(self, world):
        return False


@pytest.mark.parametrize("predicate", [loops, Callable(), eval("lambda world: False")])
def test_what_is_not_simple_is_left_to_its_own_verdict(predicate):
    assert asked(predicate, a=1) in ([], [("False", False, "")])


def test_a_predicate_that_raises_before_its_answer_says_nothing():
    def broken(world):
        value = world["a"].peer.value
        return value == 1

    assert asked(broken, a=1) == []


def test_of_a_sum_and_a_length_the_elements_are_named():
    big = always(lambda world: sum(node.value > 3 for node in world.nodes) <= 1, name="big")
    few = always(lambda world: len([node for node in world.nodes if node.value]) < 2, name="few")
    total = always(lambda world: sum(node.value for node in world.nodes) < 9, name="total")
    nodes = {name: Node(value=value) for name, value in {"a": 4, "b": 0, "c": 5}.items()}
    view = World.initial(System(nodes)).view()
    assert because(big, view) == (
        "`sum(node.value > 3 for node in world.nodes) <= 1` is false: sum(...) is 2, of a and c"
    )
    assert because(few, view).endswith(" is 2, of a and c")
    assert because(total, view).endswith("is false: sum(...) is 9")  # no node alone is to blame


def test_of_several_lambdas_on_one_line_the_right_one_is_told():
    one, other = (lambda w: w["a"].value < 3), (lambda w: w["b"].value < 3)
    both = [always(one, name="a"), always(other, name="b")]
    view = World.initial(System({"a": Node(value=7), "b": Node(value=8)})).view()
    assert because(both[0], view) == "`w['a'].value < 3` is false: w['a'].value is 7"
    assert because(both[1], view) == "`w['b'].value < 3` is false: w['b'].value is 8"


def test_a_predicate_whose_source_is_not_there_is_told_by_its_name():
    prop = always(eval("lambda world: False"), name="never")
    assert because(prop, World.initial(System({"a": Node()})).view()) == "`never` is False"
