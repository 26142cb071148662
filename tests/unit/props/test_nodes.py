"""Claims about many nodes name their witnesses, and are remembered under all that they read."""

import random

import pytest

from presage import (
    Service,
    System,
    Verdict,
    World,
    action,
    always,
    at_least,
    at_most,
    check,
    exactly,
    exists,
    forall,
    on,
    reach,
    state,
    step,
)
from presage.errors import PropertyError, UnknownNode

NAMES = ("a", "b", "c")


class Node(Service):
    next: str | None = None
    friends: frozenset[str] = frozenset()
    odd: object = None

    def both(self):
        return [self.next, *self.friends]


def world(**nexts):
    nodes = {name: Node(next=nexts.get(name)) for name in NAMES}
    return World.initial(System(nodes=nodes)).view()


def test_forall_names_the_first_node_it_does_not_hold_for():
    seen = world(a="b", c="a")
    assert forall(seen.nodes, lambda node: node.up)
    verdict = forall(seen.nodes, lambda node: node.next is not None)
    assert verdict == Verdict.fails("not for b")
    why = forall(seen.nodes, lambda node: Verdict.fails("it is blue"))
    assert why == Verdict.fails("not for a: it is blue")


def test_counts_name_the_nodes_they_found():
    nodes = world(a="b", c="a").nodes
    pointing = [lambda node: node.next is not None]
    assert exists(nodes, *pointing) and at_least(2, nodes, *pointing)
    assert exactly(2, nodes, *pointing) and at_most(2, nodes, *pointing)
    assert at_least(3, nodes, *pointing).why == "at least 3 should be, 2 are: a, c"
    assert at_most(1, nodes, *pointing).why == "at most 1 should be, 2 are: a, c"
    assert exactly(1, nodes, *pointing).why == "exactly 1 should be, 2 are: a, c"
    assert exists(nodes, lambda node: node.next == "c").why == "at least 1 should be, 0 are"


def test_so_many_or_more_asks_no_further_once_there_are_so_many():
    nodes = world(a="b", b="c", c="b").nodes
    asked = []

    def points(node):
        asked.append(node.name)
        return node.next == "b"

    assert exists(nodes, points) and asked == ["a"]
    asked.clear()
    assert at_least(2, nodes, points) and asked == ["a", "b", "c"]
    asked.clear()
    assert at_least(0, nodes, points) and at_least(0, (), points) and not asked


def test_a_predicate_that_answers_neither_yes_nor_no_is_refused():
    with pytest.raises(PropertyError, match="answered 'b' of node `a`"):
        forall(world(a="b").nodes, lambda node: node.next)


def test_reach_follows_names_collections_and_methods_and_holds_the_node_itself():
    assert reach(world()["a"], "next") == {"a"}
    assert reach(world(a="b", b="c")["a"], "next") == {"a", "b", "c"}
    assert reach(world(a="b", b="a")["a"], "next") == {"a", "b"}
    nodes = {"a": Node(next="b"), "b": Node(friends=frozenset({"c"})), "c": Node()}
    seen = World.initial(System(nodes=nodes)).view()
    assert reach(seen["a"], "both") == {"a", "b", "c"}
    assert reach(seen["b"], "friends") == {"b", "c"}


def test_reach_refuses_what_is_no_node():
    nodes = {"a": Node(odd=1), "b": Node(odd={1, 2}), "c": Node(next="nobody")}
    seen = World.initial(System(nodes=nodes)).view()
    for name in "ab":
        with pytest.raises(PropertyError, match="names no node"):
            reach(seen[name], "odd")
    with pytest.raises(UnknownNode, match="nobody"):
        reach(seen["c"], "next")


class Alone(Service):
    n: int = 0

    @action(when=lambda self: self.n < 1)
    def count(self):
        self.n += 1

    def next(self):
        return "b"


def test_a_node_of_a_single_step_cannot_be_left():
    @step
    def follows(before, after):
        return "b" in reach(after, "next")

    report = check(System(nodes={"a": Alone(), "b": Alone()}, properties=[follows]))
    assert report.properties == {"follows": "error"}
    assert "looked at alone" in str(report.errors)


class Turning(Service):
    """A node that points anywhere, and tells others to turn."""

    others: tuple[str, ...]
    next: str | None = None
    turns: int = 0
    seen: set[str] = state(set)

    @action(when=lambda self: self.turns < 2, over=lambda self: (*self.others, None))
    def turn(self, to):
        self.turns += 1
        self.next = to
        if to is not None:
            self.send(to, "turn")

    @on(str)
    def told(self, word, source):
        self.next = source


def turning(names, wanted):
    @always
    def never(world):
        return reach(world[names[0]], "next") != wanted

    nodes = {
        name: Turning(others=tuple(other for other in names if other != name)) for name in names
    }
    return System(nodes=nodes, properties=[never])


def reachable(system, depth):
    """What the first node reaches in any world of the first `depth` levels, asked each time."""
    first = World.initial(system)
    level, known, found = [first.save()], {first.fingerprint}, set()
    for _ in range(depth):
        ahead = []
        for saved in level:
            first.restore(saved)
            found.add(reach(first.view().nodes[0], "next"))
            for event in first.enabled():
                first.apply(event)
                if first.fingerprint not in known:
                    known.add(first.fingerprint)
                    ahead.append(first.save())
                first.restore(saved)
        level = ahead
    return found


@pytest.mark.parametrize("names", [("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")])
def test_a_remembered_verdict_is_that_of_the_world(names):
    depth = 5 if len(names) < 4 else 4
    found = reachable(turning(names, None), depth)
    subsets = [
        frozenset({names[0], *random.Random(seed).sample(names, seed % (len(names) + 1))})
        for seed in range(12)
    ]
    for wanted in {*found, *subsets}:
        report = check(turning(names, wanted), depth=depth)
        assert bool(report.violations) == (wanted in found), wanted
