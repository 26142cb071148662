"""Which datagrams are known to be under way."""

from presage.runtime.datagrams import Datagrams


def test_numbers_count_up_for_each_receiver_and_old_ones_are_forgotten() -> None:
    sender = Datagrams()
    assert [sender.send("b", b"x", 0.0), sender.send("c", b"x", 1.0)] == [1, 1]
    assert sender.send("b", b"y", 2.5) == 2
    held = sender.held(3.0)
    assert [(each.number, each.time) for each in held.sent["b"]] == [(2, 0.5)]
    assert held.numbers == {"b": 2, "c": 1}


def test_what_was_received_is_noted_whatever_the_order() -> None:
    receiver = Datagrams()
    for number in (1, 3, 2, 6):
        assert receiver.receive("a", 1, number, b"x", 0.0)
    got = receiver.held(0.0).got["a"]
    assert (got.floor, got.above) == (3, (6,))
    assert [number in got for number in (3, 4, 6)] == [True, False, True]


def test_what_a_process_sent_that_has_ended_is_refused_and_a_new_one_counts_from_1() -> None:
    receiver = Datagrams()
    receiver.receive("a", 2, 1, b"new", 0.0)
    assert not receiver.receive("a", 1, 9, b"old", 0.0)
    assert receiver.held(0.0).got["a"].process == 2
    assert [each.message for each in receiver.waiting] == [b"new"]


def test_notes_do_not_grow_where_datagrams_are_lost() -> None:
    receiver = Datagrams()
    for number in range(1, 20_000, 2):
        receiver.receive("a", 1, number, b"x", number / 100)
        receiver.take()
    assert len(receiver.held(200.0).got["a"].above) < 1000
