"""What became of the messages of a trace."""

import msgspec

from presage.trace.flow import START, Flow
from presage.trace.trace import Sent, Trace, TraceStep


def step(index, kind="deliver", node="b", source="a", detail="m", sends=()):
    return TraceStep(
        index=index,
        node=node,
        kind=kind,
        label=kind,
        detail=detail,
        source=source,
        sends=tuple(Sent(*each) for each in sends),
        fingerprint=index,
    )


def flow(*steps):
    return Flow(
        Trace(
            target=None,
            system="s",
            prop="p",
            kind="safety",
            message="",
            step=0,
            initial=0,
            steps=steps,
        )
    )


def fates(told, sent_by):
    return [(flight.fate, flight.step) for flight in told.sent[sent_by]]


def test_equal_messages_are_handled_in_the_order_they_were_sent():
    two = [("a", "b", "m"), ("a", "b", "m")]
    told = flow(step(1, "timer", "a", None, sends=two), step(2), step(3, "drop"))
    assert fates(told, 1) == [("delivered", 2), ("dropped", 3)]
    assert told.handled[3].sent == 1


def test_what_is_not_handled_is_under_way():
    told = flow(step(1, "timer", "a", None, sends=[("a", "b", "m"), ("a", "c", "m")]), step(2))
    assert fates(told, 1) == [("delivered", 2), ("under way", None)]


def test_what_no_step_sent_was_sent_at_the_start():
    told = flow(step(1), step(2, "receive", detail="other"))
    assert [told.handled[index].sent for index in (1, 2)] == [START, START]


def test_a_copy_has_the_same_sender():
    told = flow(
        step(1, "timer", "a", None, sends=[("a", "b", "m")]), step(2, "duplicate"), step(3), step(4)
    )
    assert [told.handled[index].sent for index in (2, 3, 4)] == [1, 1, 1]


def test_a_network_that_keeps_messages_delivers_one_of_them_again():
    told = flow(step(1, "timer", "a", None, sends=[("a", "b", "m")]), step(2), step(3))
    assert told.handled[3] is told.handled[2] and told.handled[3].sent == 1


def test_what_goes_down_with_its_stream_is_lost_there():
    sent = [("a", "b", "m"), ("a", "b", "m"), ("b", "a", "k")]
    cut = msgspec.structs.replace(step(3, "cut", "a", None), lost=(Sent("a", "b", "m"),))
    told = flow(step(1, "timer", "a", None, sends=sent), step(2, "receive"), cut)
    assert fates(told, 1) == [("delivered", 2), ("lost", 3), ("under way", None)]


def test_what_a_step_sends_and_loses_at_once_is_lost_in_it():
    both = msgspec.structs.replace(
        step(1, "timer", "a", None, sends=[("a", "b", "m")]), lost=(Sent("a", "b", "m"),)
    )
    assert fates(flow(both), 1) == [("lost", 1)]
