"""Datagrams, one rule a test; each docstring names a mutation that it does not survive."""

from itertools import permutations

import pytest
from wire.talking import Story, Talker, everywhere

from presage import Call, Faults, System


def shouting(texts, *, network="unordered", faults=None, skip_noops=None):
    return System(
        nodes={"a": Talker(), "b": Talker()},
        network=network,
        calls={"a": [Call("shout", "b", text) for text in texts]},
        faults=faults or Faults(),
        skip_noops=skip_noops,
    )


def test_datagrams_arrive_in_any_order():
    """Mutation: offer only the oldest one."""
    system = shouting("xyz")
    for order in permutations("xyz"):
        story = Story(system).happen("a call", "a call", "a call")
        for text in order:
            events = story.world.enabled()
            [event] = [each for each in events if each.message.text == text]
            story.world.apply(event)
        assert story["b"].heard == [f"a: {text}" for text in order]
    everywhere(system)


@pytest.mark.parametrize("network", ["unordered", "ordered"])
def test_a_datagram_may_be_lost_as_often_as_the_budget_says(network):
    """Mutation: drop without end, or keep what is dropped."""
    system = shouting("xx", network=network, faults=Faults(drop=1))
    story = Story(system).happen("a call", "a call", "b drop")
    assert len(story.world.view().messages()) == 1 and not story.can("b drop")
    everywhere(system)


@pytest.mark.parametrize("network", ["unordered", "ordered"])
def test_a_datagram_may_come_twice_as_often_as_the_budget_says(network):
    """Mutation: duplicate without end, or replace the message by its copy."""
    system = shouting("x", network=network, faults=Faults(duplicate=1))
    story = Story(system).happen("a call", "b duplicate")
    assert not story.can("b duplicate")
    story.happen("b deliver", "b deliver")
    assert story["b"].heard == ["a: x", "a: x"]
    everywhere(system)


@pytest.mark.parametrize("network", ["unordered", "ordered"])
def test_a_node_that_is_down_swallows_what_arrives(network):
    """Mutation: keep the datagram, refuse it, or tell the sender."""
    faults = Faults(crash=1, restart=1, nodes=["b"])
    system = shouting("x", network=network, faults=faults, skip_noops=False)
    story = Story(system).happen("a call", "b crash", "b deliver")
    assert story.world.view().messages() == ()
    assert story.happen("b restart")["b"].heard == [] and story["a"].lost == []
    everywhere(system)


def test_where_idle_deliveries_are_skipped_a_datagram_to_a_node_that_is_down_is_still_lost():
    """Mutation: take the loss for an idle delivery, so that it only ever arrives after all."""
    faults = Faults(crash=1, restart=1, nodes=["b"])
    system = shouting("x", faults=faults, skip_noops=True)
    story = Story(system).happen("a call", "b crash", "b deliver")
    assert story.world.view().messages() == ()
    assert story.happen("b restart")["b"].heard == []
    everywhere(system)


def test_a_duplicating_network_swallows_nothing():
    system = shouting("x", network="duplicating", faults=Faults(crash=1, nodes=["b"]))
    story = Story(system).happen("a call", "b crash")
    assert not story.can("b deliver")
