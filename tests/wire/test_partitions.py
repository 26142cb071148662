"""Partitions: what they hold back, and what they do not."""

import pytest
from wire.talking import Story, everywhere, talk

from presage import UNLIMITED, Faults, Partition, System
from presage.errors import BadSystem, UnknownNode

APART = Partition({"left": ["a"], "right": ["b"]})
ONCE = Faults(partition=1, heal=1, partitions=[APART])


def test_nothing_is_delivered_across_a_partition_until_it_heals():
    """Mutation: hold back datagrams only, or streams only."""
    system = talk({"a": [("say", "b", "one"), ("shout", "b", "two")]}, faults=ONCE)
    story = Story(system).happen("a call", "a call", "network partition")
    assert story.possible == ["network heal heal"]
    assert story.world.view().partition == APART
    story.happen("network heal", "b receive", "b deliver")
    assert story.world.view().partition is None
    assert story["b"].heard == ["a: one", "a: two"]
    assert not story.can("network partition")
    everywhere(system)


def test_nodes_on_one_side_or_on_none_reach_each_other():
    """Mutation: cut off who stands on no side."""
    faults = Faults(partition=1, partitions=[Partition({"left": ["a", "b"], "right": ["c"]})])
    calls = {"a": [("say", "b", "1")], "b": [("say", "c", "2")], "c": [("say", "d", "3")]}
    calls["d"] = [("say", "a", "4")]
    system = talk(calls, nodes="abcd", faults=faults)
    story = Story(system).happen("a call", "b call", "c call", "d call", "network partition")
    assert [text for text in story.possible if "receive" in text] == [
        "a receive Say d -> a",
        "b receive Say a -> b",
        "d receive Say c -> d",
    ]


def test_one_of_several_partitions_is_in_force_at_a_time():
    """Mutation: let a second one begin, or confuse the two."""
    ways = [APART, Partition({"x": ["a"], "y": ["b", "c"]})]
    faults = Faults(partition=2, heal=UNLIMITED, partitions=ways)
    system = talk({"a": [("say", "c", "1")]}, nodes="abc", faults=faults)
    story = Story(system).happen("a call")
    story.happen("network partition left")
    assert story.can("c receive") and not story.can("network partition")
    story.happen("network heal", "network partition x")
    assert not story.can("c receive")
    everywhere(system)


def test_a_refusal_needs_an_answer_from_the_other_side():
    """Mutation: let a node know at once that one on the other side is down."""
    faults = Faults(crash=1, nodes=["b"], partition=1, heal=1, partitions=[APART])
    system = talk({"a": [("say", "b", "one")]}, faults=faults)
    story = Story(system).happen("a call", "b crash", "network partition")
    assert not story.can("a refused")
    assert story.happen("network heal").can("a refused")
    everywhere(system)


def test_a_connection_across_a_partition_can_break_but_not_be_closed_as_idle():
    """Mutation: hold back errors, which a node comes to know by waiting."""
    faults = Faults(cut=1, idle_close=1, partition=1, heal=1, partitions=[APART])
    system = talk({"a": [("say", "b", "one")]}, faults=faults)
    story = Story(system).happen("a call", "b receive", "network partition")
    assert not story.can("a idle")
    story.happen("a cut", "a broken", "b broken")
    assert story["a"].lost == ["b"] and story["b"].lost == ["a"]
    everywhere(system)


def test_partitions_need_no_streams():
    from wire.talking import Talker

    from presage import Call

    for network in ("unordered", "duplicating", "ordered"):
        system = System(
            nodes={"a": Talker(), "b": Talker()},
            network=network,
            calls={"a": [Call("shout", "b", "one"), Call("shout", "b", "two")]},
            faults=ONCE,
        )
        story = Story(system).happen("a call", "a call", "network partition")
        assert not story.can("b deliver")
        if network != "duplicating":  # there `heard` would grow for ever
            everywhere(system)


@pytest.mark.parametrize(
    "sides", [{}, {"one": ["a"]}, {"l": ["a"], "r": "b"}, {"l": ["a"], "r": ["a"]}, ["a", "b"]]
)
def test_a_partition_that_does_not_part_is_refused(sides):
    with pytest.raises(BadSystem, match="Partition"):
        Partition(sides)


def test_a_budget_and_the_ways_to_use_it_go_together():
    with pytest.raises(BadSystem, match="in which ways"):
        Faults(partition=1)
    with pytest.raises(BadSystem, match="in which ways"):
        Faults(partitions=[APART])
    with pytest.raises(BadSystem, match="in which ways"):
        Faults(partition=1, partitions=[APART, APART])
    with pytest.raises(UnknownNode, match="z"):
        talk({}, faults=Faults(partition=1, partitions=[Partition({"l": ["a"], "r": ["z"]})]))
