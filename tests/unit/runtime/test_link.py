"""Two ends of a stream and the frames between them; random executions are in `tests/reference`."""

from presage.runtime.frame import Kind
from presage.runtime.link import Link, first_life, stays


class Pair:
    """The links of two processes, joined by a socket that loses nothing."""

    def __init__(self, one: int = 1, other: int = 1) -> None:
        self.a, self.b = Link("a", "b", one), Link("b", "a", other)
        self.join()

    def join(self) -> None:
        self.a.attach()
        self.b.attach()
        self.exchange()

    def exchange(self) -> None:
        """Let frames go until both are silent."""
        while frames := [(self.b, each) for each in self.a.drain()] + [
            (self.a, each) for each in self.b.drain()
        ]:
            for link, frame in frames:
                act = {Kind.LIFE: link.greet, Kind.MESSAGE: link.receive}
                act.get(frame.kind, link.acknowledge)(frame)


def test_messages_arrive_in_order_and_are_held_until_they_are_handled() -> None:
    pair = Pair(3, 7)
    for body in (b"one", b"two"):
        pair.a.send(body)
    pair.exchange()
    assert (pair.a.held(), pair.a.life, pair.b.life) == (2, first_life(7), first_life(7))
    assert [pair.b.take(), pair.b.take()] == [b"one", b"two"]
    pair.exchange()
    assert (pair.a.held(), pair.a.open, pair.b.open) == (0, True, True)


def test_closing_an_open_end_is_an_error_at_the_other_and_loses_what_is_under_way() -> None:
    pair = Pair()
    pair.a.send(b"one")
    pair.exchange()
    pair.b.take()
    pair.b.send(b"lost")
    pair.a.close()
    pair.exchange()
    assert (pair.b.error, pair.b.held(), pair.b.ready) == (True, 1, False)
    pair.a.send(b"next")
    pair.exchange()
    assert not pair.b.ready  # until the node has heard
    pair.b.hear()
    assert (pair.b.held(), pair.b.take()) == (0, b"next")


def test_closing_an_end_that_is_not_open_loses_only_its_own_messages() -> None:
    pair = Pair()
    pair.a.send(b"mine")
    pair.b.send(b"theirs")
    pair.a.close()
    pair.exchange()
    assert (pair.b.error, pair.b.ready, pair.a.take()) == (False, False, b"theirs")


def test_the_closing_end_says_what_it_had_handled() -> None:
    pair = Pair()
    pair.b.send(b"handled")
    pair.exchange()
    pair.a.take()
    pair.a.close()  # b does not know yet that its message was handled
    pair.exchange()
    assert pair.b.error


def test_what_a_step_sends_and_then_closes_never_leaves() -> None:
    pair = Pair()
    pair.a.send(b"never")
    pair.a.close()
    assert Kind.MESSAGE not in [frame.kind for frame in pair.a.drain()]


def test_a_lost_socket_breaks_an_open_end_and_nothing_else() -> None:
    pair = Pair()
    pair.a.send(b"again")
    pair.a.lost()
    pair.b.lost()
    assert (pair.a.error, pair.a.wanted) == (False, True)
    pair.join()
    assert pair.b.take() == b"again"
    pair.b.lost()
    assert pair.b.error


def test_a_silent_restart_leaves_a_half_open_end() -> None:
    pair = Pair()
    pair.b.send(b"old")
    pair.exchange()
    pair.a.take()
    pair.exchange()
    pair.b = Link("b", "a", 2)
    pair.join()
    assert (pair.a.half, pair.a.error) == (True, False)
    pair.b.send(b"new")
    pair.exchange()
    assert (pair.a.take(), pair.a.half) == (b"new", False)


def test_a_message_sent_at_a_half_open_end_is_an_error_and_no_message() -> None:
    pair = Pair()
    pair.b.send(b"old")
    pair.exchange()
    pair.a.take()
    pair.exchange()
    pair.b = Link("b", "a", 2)
    pair.join()
    pair.a.send(b"gone")
    assert (pair.a.error, pair.a.held()) == (True, 0)
    pair.exchange()
    assert not pair.b.ready


def test_messages_under_way_to_a_process_that_has_ended_are_an_error() -> None:
    pair = Pair()
    pair.a.send(b"maybe handled")
    pair.exchange()
    pair.b = Link("b", "a", 2)
    pair.join()
    assert (pair.a.error, pair.b.ready) == (True, False)


def test_messages_that_were_never_written_reach_the_next_process() -> None:
    pair = Pair()
    pair.a.lost()
    pair.a.send(b"kept")
    pair.b = Link("b", "a", 2)
    pair.join()
    assert pair.b.take() == b"kept"


def test_a_message_that_arrived_and_was_not_handled_ties_no_life_to_its_sender() -> None:
    pair = Pair()
    pair.b.send(b"not handled")
    pair.exchange()
    pair.a.lost()
    pair.a.send(b"kept")
    pair.b = Link("b", "a", 2)
    pair.join()
    assert (pair.a.error, pair.b.take()) == (False, b"kept")


def test_a_node_that_sends_to_itself_has_one_queue_and_nothing_to_break() -> None:
    link = Link("a", "a", 1)
    link.send(b"one")
    link.lost()
    assert (link.held(), link.take(), link.held(), link.open) == (1, b"one", 0, False)
    link.send(b"two")
    link.close()
    assert (link.held(), link.ready, link.error) == (0, False, False)


def test_of_two_sockets_the_one_of_the_smaller_name_stays() -> None:
    assert stays("a", "b")
    assert not stays("b", "a")
