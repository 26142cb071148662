"""Streams of a slow node: nobody is refused, but nothing is heard until it wakes."""

from wire.talking import Story, everywhere, talk

from presage import Faults, always, check


def test_a_message_on_a_stream_waits_for_a_slow_node():
    """Mutation: deliver to a slow node, or refuse its connections."""
    system = talk({"a": [("say", "b", "x")]}, faults=Faults(slow=1, nodes=["b"]))
    story = Story(system).happen("b slow", "a call")
    assert story.possible == ["b wake wake"]
    assert story["b"].up
    story.happen("b wake", "b receive")
    assert story["b"].heard == ["a: x"]
    everywhere(system)


def test_a_slow_node_hears_of_a_broken_connection_when_it_wakes():
    """Mutation: let a slow node hear, or forget what it was to hear."""
    system = talk({"a": [("say", "b", "x")]}, faults=Faults(slow=1, cut=1, nodes=["b"]))
    story = Story(system).happen("a call", "b receive", "b slow", "a cut")
    assert story.possible == ["a broken connection to b", "b wake wake"]
    story.happen("b wake", "b broken")
    assert story["b"].lost == ["a"]
    everywhere(system)


def test_a_slow_node_finds_neither_refusals_nor_half_open_connections():
    """Mutation: let a slow node be refused, or keep its connections alive."""
    faults = Faults(slow=1, crash=1, nodes=["a", "b"])
    refused = Story(talk({"a": [("say", "b", "x")]}, faults=faults))
    refused.happen("a call", "b crash", "a slow")
    assert refused.possible == ["a wake wake"]
    assert refused.happen("a wake").can("a refused")
    faults = Faults(slow=1, silent_reset=1)
    system = talk({"a": [("say", "b", "x")]}, faults=faults)
    half = Story(system).happen("a call", "b receive", "b silent", "a slow")
    assert not half.can("a keepalive")
    assert half.happen("a wake").can("a keepalive")
    everywhere(system)


def test_a_slow_node_may_be_reset_and_is_then_awake():
    """Mutation: let it stay slow, or spare it."""
    system = talk({"a": [("say", "b", "x")]}, faults=Faults(slow=1, reset=1, nodes=["b"]))
    story = Story(system).happen("a call", "b slow", "b reset", "b receive")
    assert (story["b"].lives, story["b"].heard) == (2, ["a: x"])
    everywhere(system)


@always
def up(world) -> bool:
    return world["a"].up and world["b"].up


def test_a_slow_node_is_up():
    check(talk({}, faults=Faults(slow=2), properties=[up]), traces=None).assert_holds()
