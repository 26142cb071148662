"""The rules of streams, one test each; its docstring names a mutation that it does not survive.

The rules are those of MaceMC's simulator of TCP, and a few of our own where that says nothing.
"""

from wire.talking import Story, everywhere, talk

from presage import Faults

SPOKEN = [("say", "b", "one")]


def test_a_stream_keeps_its_order_and_offers_one_message_at_a_time():
    """Mutation: take the last message of a queue instead of the first."""
    system = talk({"a": [("say", "b", "one", "two")], "b": [("say", "a", "three")]})
    story = Story(system).happen("a call", "b call")
    deliveries = [event for event in story.possible if "receive" in event]
    assert deliveries == ["a receive Say b -> a", "b receive Say a -> b"]
    assert story.texts("a", "b") == ["one", "two"]
    story.happen("b receive", "b receive")
    assert story["b"].heard == ["a: one", "a: two"]
    everywhere(system)


def test_a_connection_opens_at_both_ends_with_the_first_delivery():
    """Mutation: open the receiver's end only, or open when a message is sent."""
    system = talk({"a": SPOKEN})
    story = Story(system).happen("a call")
    assert not story.end("a", "b").open and not story.end("b", "a").open
    story.happen("b receive")
    assert story.end("a", "b").open and story.end("b", "a").open
    everywhere(system)


def test_who_sends_to_a_node_that_is_down_is_refused():
    """Mutation: let the down node swallow the message, as it does a datagram."""
    calls = {"a": [("say", "b", "one", "two"), ("say", "b", "three")]}
    system = talk(calls, faults=Faults(crash=1, nodes=["b"]))
    story = Story(system).happen("b crash", "a call", "a call")
    assert not story.can("b receive")
    assert story.texts("a", "b") == ["one", "two", "three"]
    story.happen("a refused")
    assert story["a"].lost == ["b"]
    assert story.end("a", "b").queued == ()
    assert not story.can("a refused")
    everywhere(system)


def test_what_was_not_refused_yet_reaches_a_node_that_came_up_again():
    """Mutation: clear the queue at once when the receiver is down."""
    system = talk({"a": SPOKEN}, faults=Faults(crash=1, restart=1, nodes=["b"]))
    story = Story(system).happen("a call", "b crash", "b restart")
    assert not story.can("a refused")
    assert story.happen("b receive")["b"].heard == ["a: one"]
    everywhere(system)


def opened(calls, **more):
    """A story in which a and b have an open connection: a's first call is `SPOKEN`."""
    system = talk({**calls, "a": [*SPOKEN, *calls.get("a", [])]}, **more)
    return system, Story(system).happen("a call", "b receive")


def test_a_cut_loses_what_is_under_way_and_tells_both_ends():
    """Mutation: keep one direction's messages, or give one end no error."""
    calls = {"a": [("say", "b", "two")], "b": [("say", "a", "three")]}
    system, story = opened(calls, faults=Faults(cut=1))
    story.happen("a call", "b call", "a cut")
    assert story.world.view().messages() == ()
    for node, peer in ("ab", "ba"):
        end = story.end(node, peer)
        assert end.broken and not end.open
        assert story.can(f"{node} broken connection to {peer}")
    assert not story.can("a receive") and not story.can("b receive")
    story.happen("a broken", "b broken")
    assert (story["a"].lost, story["b"].lost) == (["b"], ["a"])
    everywhere(system)


def test_a_cut_needs_a_budget_and_an_open_connection():
    """Mutation: offer a cut for a connection that never opened, or without end."""
    system = talk({"a": [("say", "b", "one"), ("say", "b", "two")]}, faults=Faults(cut=1))
    story = Story(system).happen("a call")
    assert not story.can("a cut")
    story.happen("b receive", "a cut", "a broken", "b broken", "a call", "b receive")
    assert story.end("a", "b").open and not story.can("a cut")
    everywhere(system)


def test_an_error_comes_before_whatever_is_sent_after_it():
    """Mutation: put the error behind the messages of a queue."""
    system, story = opened({"a": [("say", "b", "two")]}, faults=Faults(cut=1))
    story.happen("a cut", "a broken", "a call")
    assert story.can("b broken") and not story.can("b receive")
    story.happen("b broken", "b receive")
    assert story["b"].heard == ["a: one", "a: two"]
    everywhere(system)


def test_what_a_node_sends_before_it_hears_of_an_error_is_discarded():
    """Mutation: leave out that a pending error at the sender holds up its messages."""
    system, story = opened({"a": [("say", "b", "two")]}, faults=Faults(cut=1))
    story.happen("a cut", "b broken", "a call")
    assert story.texts("a", "b") == ["two"]
    assert not story.can("b receive")
    story.happen("a broken")
    assert story.end("a", "b").queued == ()
    everywhere(system)


def test_hearing_of_an_error_leaves_alone_the_one_that_the_peer_is_owed():
    """Mutation: empty both queues, error and all, when one end hears of it."""
    system, story = opened({}, faults=Faults(cut=1))
    story.happen("a cut", "a broken")
    assert story.end("b", "a").broken and not story.end("a", "b").broken
    assert story.happen("b broken")["b"].lost == ["a"]
    everywhere(system)


def test_a_reset_node_breaks_its_open_connections():
    """Mutation: keep the peer's messages, or give the peer no error."""
    calls = {"a": [("say", "b", "two")], "b": [("say", "a", "three")]}
    system, story = opened(calls, faults=Faults(reset=1, nodes=["b"]))
    story.happen("b call", "a call", "b reset")
    assert (story["b"].lives, story["b"].heard, story["b"].up) == (2, [], True)
    assert story.world.view().messages() == ()
    assert story.end("a", "b") == (False, True, ())
    assert story.end("b", "a") == (False, False, ())
    story.happen("a broken")
    assert story["a"].lost == ["b"] and story["b"].lost == []
    everywhere(system)


def test_a_reset_node_still_gets_what_was_sent_to_it_before_any_connection_was_open():
    """Mutation: empty the queues of both ends whether the connection was open or not."""
    calls = {"a": SPOKEN, "b": [("say", "a", "mine")]}
    system = talk(calls, faults=Faults(reset=1, nodes=["b"]))
    story = Story(system).happen("a call", "b call", "b reset")
    assert story.texts("b", "a") == [] and story.texts("a", "b") == ["one"]
    assert not story.can("a broken")
    story.happen("b receive")
    assert (story["b"].lives, story["b"].heard) == (2, ["a: one"])
    everywhere(system)


def test_a_crash_does_to_connections_what_a_reset_does():
    """Mutation: leave connections alone in a crash."""
    system, story = opened({}, faults=Faults(crash=1, nodes=["b"]))
    story.happen("b crash")
    assert story.end("a", "b") == (False, True, ())
    assert story.happen("a broken")["a"].lost == ["b"]
    everywhere(system)


def test_what_a_node_does_in_its_new_life_comes_after_the_reset():
    """Mutation: apply the sends of `start` before connections are reset."""
    from wire.talking import Talker

    system = talk(
        {"a": SPOKEN},
        prototypes={"b": Talker(greets="a")},
        faults=Faults(reset=1, nodes=["b"]),
    )
    story = Story(system).happen("a receive", "b reset")
    assert story.texts("b", "a") == ["life 2"]
    assert not story.can("a receive")  # first it hears that the old connection is gone
    story.happen("a broken", "a receive")
    assert story["a"].heard == ["b: life 1", "b: life 2"]
    everywhere(system)


def test_a_reset_node_does_not_hear_of_the_errors_of_its_former_life():
    """Mutation: keep the error that the node had yet to hear of."""
    system, story = opened({"a": [("say", "b", "two")]}, faults=Faults(cut=1, reset=1, nodes=["b"]))
    story.happen("a cut", "a broken", "a call", "b reset")
    assert not story.can("b broken")
    assert story.happen("b receive")["b"].heard == ["a: two"]
    everywhere(system)
