"""What a node does with its streams: bounded queues, connect, close, a stream to itself."""

import pytest
from wire.talking import Story, Talker, everywhere, talk

from presage import Connect, Faults, on
from presage.errors import BadCall, UnknownNode


def test_a_full_queue_takes_nothing_and_send_says_so():
    """Mutation: take one message more, or say True."""
    system = talk({"a": [("say", "b", "1", "2", "3"), ("say", "b", "4")]}, queue_size=2)
    story = Story(system).happen("a call")
    assert story["a"].sent == [True, True, False]
    assert story.texts("a", "b") == ["1", "2"]
    story.happen("b receive", "a call")
    assert story["a"].sent == [True, True, False, True]
    assert story.texts("a", "b") == ["2", "4"]
    everywhere(system)


def test_each_queue_has_its_own_room():
    """Mutation: count the messages of all queues of a node together."""
    calls = {"a": [("say", "b", "1"), ("say", "c", "1")], "b": [("say", "a", "1")]}
    system = talk(calls, queue_size=1, nodes="abc")
    story = Story(system).happen("a call", "a call", "b call")
    assert story["a"].sent == [True, True] and story["b"].sent == [True]
    everywhere(system)


def test_hearing_of_an_error_makes_room_before_the_handler_runs():
    """Mutation: count what is about to be discarded."""
    calls = {"a": [("say", "b", "1"), ("say", "b", "2")]}
    system = talk(
        calls,
        queue_size=1,
        prototypes={"a": Talker(answers=True)},
        faults=Faults(cut=1),
    )
    story = Story(system).happen("a call", "b receive", "a cut", "a call", "a broken")
    assert story.texts("a", "b") == ["are you there?"]
    everywhere(system)


def test_a_node_that_takes_its_own_message_has_room_for_the_next():
    """Mutation: count the queue of a node to itself before the message is taken."""

    class Echo(Talker):
        def hear(self, say, source):
            super().hear(say, source)
            if len(self.heard) < 3:
                self.say(self.name, say.text + "!")

    system = talk({"a": [("say", "a", "1")]}, queue_size=1, prototypes={"a": Echo()})
    story = Story(system).happen("a call", "a receive", "a receive", "a receive")
    assert story["a"].heard == ["a: 1", "a: 1!", "a: 1!!"]
    assert story["a"].sent == [True, True, True]
    everywhere(system)


def test_connecting_opens_a_connection_without_a_message():
    """Mutation: fail a receiver that does not handle `Connect`."""

    class Doorman(Talker):
        @on(Connect)
        def enter(self, connect, source):
            self.heard.append(f"{source} is here")

    system = talk({"a": [("connect", "b")]})
    story = Story(system).happen("a call", "b receive")
    assert story.end("a", "b").open and story.end("b", "a").open
    assert story["b"].up and story["b"].heard == []
    everywhere(system)
    system = talk({"a": [("connect", "b")]}, prototypes={"b": Doorman()})
    assert Story(system).happen("a call", "b receive")["b"].heard == ["a is here"]


def test_connecting_to_a_node_that_is_down_is_refused():
    """Mutation: never refuse what is no message of the user's."""
    system = talk({"a": [("connect", "b")]}, faults=Faults(crash=1, nodes=["b"]))
    story = Story(system).happen("b crash", "a call", "a refused")
    assert story["a"].lost == ["b"]
    everywhere(system)


def test_a_closed_connection_is_an_error_for_the_peer_and_none_for_who_closed_it():
    """Mutation: tell both, or none, or keep what is under way."""
    calls = {"a": [("say", "b", "1"), ("say", "b", "2"), ("close", "b", "3")]}
    system = talk({**calls, "b": [("say", "a", "4")]})
    story = Story(system).happen("a call", "b receive", "a call", "b call", "a call")
    assert story.texts("a", "b") == ["3"] and story.texts("b", "a") == []
    assert story.end("b", "a").broken and not story.end("a", "b").broken
    story.happen("b broken", "b receive")
    assert story["b"].lost == ["a"] and story["a"].lost == []
    assert story["b"].heard == ["a: 1", "a: 3"]
    everywhere(system)


def test_closing_makes_room():
    """Mutation: count what was queued before the connection was closed."""
    system = talk({"a": [("say", "b", "1"), ("close", "b", "2", "3")]}, queue_size=1)
    story = Story(system).happen("a call", "a call")
    assert story["a"].sent == [True, True, False] and story.texts("a", "b") == ["2"]
    everywhere(system)


def test_a_stream_to_oneself_never_breaks_and_ends_with_the_process():
    """Mutation: offer to cut it, or keep its messages over a reset."""
    calls = {"a": [("say", "a", "note"), ("say", "a", "to self")]}
    system = talk(calls, faults=Faults(cut=1, idle_close=1, reset=1, nodes=["a"]))
    story = Story(system).happen("a call", "a receive", "a call")
    assert story["a"].heard == ["a: note"]
    assert not story.can("a cut") and not story.can("a idle")
    assert story.happen("a reset").texts("a", "a") == []
    everywhere(system)


def test_a_handler_that_fails_only_where_a_queue_is_full_fails_only_there():
    """Mutation: drop the condition of a branch whose handler raised."""

    class Strict(Talker):
        def say(self, to, *texts):
            for text in texts:
                assert self.stream.send(to, text), "full"

        @on(str)
        def text(self, text):
            pass

    def system(size):
        calls = {"a": [("say", "b", "1"), ("say", "b", "2")]}
        return talk(calls, queue_size=size, prototypes={"a": Strict(), "b": Strict()})

    from presage import check

    assert check(system(2), traces=None).violations == ()
    [violation] = check(system(1), traces=None).violations
    assert violation.steps == 2
    everywhere(system(1))


def test_streams_are_refused_where_there_are_none():
    from presage import Call, System, check

    system = System(nodes={"a": Talker()}, calls={"a": [Call("say", "a", "1")]})
    with pytest.raises(BadCall, match="without streams"):
        check(system)


def test_an_unknown_peer_is_an_error_that_names_the_line():
    system = talk({"a": [("say", "z", "1")]})
    with pytest.raises(UnknownNode, match=r"talking.py:\d+: `stream.send`"):
        Story(system).happen("a call")
