"""Silent resets, half-open connections and idle ones; each docstring names a fatal mutation."""

from wire.talking import Say, Story, Talker, everywhere, talk

from presage import Faults

SILENT = Faults(silent_reset=1, nodes=["b"])


def opened(calls, **more):
    """A story in which a and b have an open connection."""
    system = talk({**calls, "a": [("say", "b", "one"), *calls.get("a", [])]}, **more)
    return system, Story(system).happen("a call", "b receive")


def test_after_a_silent_reset_the_peer_has_a_half_open_connection_and_no_error():
    """Mutation: give the peer an error, or close its end."""
    system, story = opened({}, faults=SILENT)
    story.happen("b silent")
    assert (story["b"].lives, story["b"].heard) == (2, [])
    assert story.end("a", "b") == (True, False, ())
    assert story.end("b", "a") == (False, False, ())
    assert not story.can("a broken")
    everywhere(system)


def test_what_was_under_way_in_a_silent_reset_is_lost():
    """Mutation: let it reach the next life."""
    calls = {"a": [("say", "b", "two")], "b": [("say", "a", "three")]}
    system, story = opened(calls, faults=SILENT)
    story.happen("a call", "b call", "b silent")
    assert story.world.view().messages() == ()
    everywhere(system)


def test_a_half_open_connection_is_discovered_by_the_next_send():
    """Mutation: deliver what is sent into a half-open connection."""
    system, story = opened({"a": [("say", "b", "two")]}, faults=SILENT)
    story.happen("b silent", "a call")
    assert story["a"].sent == [True, True]  # the send itself finds nothing wrong
    assert not story.can("b receive")
    story.happen("a broken")
    assert story["a"].lost == ["b"] and story.end("a", "b") == (False, False, ())
    everywhere(system)


def test_what_was_sent_into_a_half_open_connection_is_no_message_any_more():
    """Mutation: queue it behind the error that it has turned into."""
    system, story = opened({"a": [("say", "b", "two", "three")]}, faults=SILENT)
    story.happen("b silent")
    step = story.world.apply(story.world.next_call("a"))
    assert [each.message for each in step.sends] == [Say("three")]  # which waits behind the error
    assert story.end("a", "b") == (False, True, (Say("three"),))
    assert [each.message for each in story.world.view().messages()] == [Say("three")]
    everywhere(system)
    system, story = opened({"a": [("say", "b", "two")]}, faults=SILENT)
    story.happen("b silent", "a call")
    assert story.end("a", "b") == (False, True, ())
    assert story.world.view().messages() == ()
    everywhere(system)


def test_a_half_open_connection_is_discovered_by_a_keep_alive():
    """Mutation: leave the keep-alive out."""
    system, story = opened({}, faults=SILENT)
    assert not story.can("a keepalive")
    story.happen("b silent", "a keepalive")
    assert story["a"].lost == ["b"] and story.end("a", "b") == (False, False, ())
    assert not story.world.view().connection("b", "a").open
    everywhere(system)


def test_half_a_connection_cannot_be_cut_nor_closed_as_idle():
    """Mutation: ask one end only whether it is open."""
    for node in "ab":
        faults = Faults(silent_reset=1, nodes=[node], cut=1, idle_close=1)
        system, story = opened({}, faults=faults)
        story.happen(f"{node} silent")
        assert not story.can("a cut") and not story.can("a idle")
        everywhere(system)


def test_a_message_of_the_new_life_opens_a_half_open_connection_again():
    """Mutation: open only the end of the sender, or tell the receiver of the loss."""
    system, story = opened({"b": [("say", "a", "back")]}, faults=SILENT)
    story.happen("b silent", "b call", "a receive")
    assert story["a"].heard == ["b: back"] and story["a"].lost == []
    assert story.end("a", "b").open and story.end("b", "a").open
    everywhere(system)


def test_the_new_life_waits_while_the_peer_has_yet_to_hear_of_the_old_ones_end():
    """Mutation: forget the new life's messages when the discovery makes an error."""
    calls = {"a": [("say", "b", "two")], "b": [("say", "a", "back")]}
    system, story = opened(calls, faults=SILENT)
    story.happen("b silent", "b call", "a call")
    assert not story.can("a receive")
    story.happen("a broken", "a receive")
    assert story["a"].heard == ["b: back"]
    everywhere(system)


def test_a_silent_reset_without_an_open_connection_is_a_reset():
    """Mutation: lose what the peer has sent."""
    system = talk({"a": [("say", "b", "one")]}, faults=SILENT)
    story = Story(system).happen("a call", "b silent", "b receive")
    assert (story["b"].lives, story["b"].heard) == (2, ["a: one"])
    everywhere(system)


def test_an_idle_connection_may_be_closed_and_nobody_is_told():
    """Mutation: close one end only, or run the `@broken` method."""
    system, story = opened({}, faults=Faults(idle_close=1))
    story.happen("a idle")
    assert story.end("a", "b") == story.end("b", "a") == (False, False, ())
    assert not story.can("a broken") and not story.can("b broken")
    assert story["a"].lost == story["b"].lost == []
    everywhere(system)


def test_a_connection_with_something_under_way_is_not_idle():
    """Mutation: look at one direction only."""
    for speaker, listener in ("ab", "ba"):
        system, story = opened(
            {"a": [("say", "b", "two")], "b": [("say", "a", "two")]}, faults=Faults(idle_close=1)
        )
        story.happen(f"{speaker} call")
        assert not story.can("a idle")
        assert story.happen(f"{listener} receive").can("a idle")
    everywhere(system)


def test_after_an_idle_close_a_reset_goes_unnoticed():
    """What a silent loss of state needs: no connection, so nobody is told and nothing is lost."""
    faults = Faults(idle_close=1, reset=1, nodes=["b"])
    system, story = opened({"a": [("say", "b", "two")]}, faults=faults)
    story.happen("a idle", "b reset", "a call", "b receive")
    assert story["b"].heard == ["a: two"] and story["a"].lost == []
    everywhere(system)


def test_a_failed_node_refuses():
    """Mutation: deliver to a node whose handler raised."""

    class Fragile(Talker):
        def say(self, to, *texts):
            raise ValueError("no")

    system = talk(
        {"a": [("say", "b", "one")], "b": [("say", "a", "one")]}, prototypes={"b": Fragile()}
    )
    story = Story(system).happen("b call", "a call")
    assert not story.can("b receive")
    assert story.happen("a refused")["a"].lost == ["b"]
    everywhere(system)
