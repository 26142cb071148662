"""Puts and gets, for plain functions."""

import pytest
from process.explore import explore
from process.running import failures, first_failure, program, returned

from presage import PresageError
from presage.mailbox import ActivitySet, Comm, Mailbox, TimeoutException

box = Mailbox.by_name("box")
other = Mailbox.by_name("other")


def put(*payloads, to=box):
    for payload in payloads:
        to.put(payload)


def get():
    return box.get()


def test_a_get_gets_what_was_put():
    assert returned(a=(put, {"x": [1, 2]}), b=lambda: str(box.get())) == {(None, "{'x': [1, 2]}")}


def test_messages_of_one_sender_keep_their_order():
    assert returned(a=(put, 1, 2), b=lambda: (box.get(), box.get())) == {(None, (1, 2))}


def test_messages_of_different_senders_come_in_any_order():
    results = returned(a=(put, 1), b=(put, 2), c=lambda: (box.get(), box.get()))
    assert results == {(None, None, (1, 2)), (None, None, (2, 1))}


def test_a_put_waits_for_its_get():
    assert explore(program({"a": (put, 1)})).deadlocks == {("a",)}


def test_a_detached_put_does_not_wait():
    assert returned(a=lambda: box.put_init(1).detach() and None) == {(None,)}


def test_a_put_that_was_started_can_be_detached():
    def sends():
        box.put_async(7).detach()
        return "gone on"

    assert returned(a=sends) == {("gone on",)}
    assert returned(a=sends, b=get) == {("gone on", 7)}


def test_what_is_received_is_not_what_was_sent():
    mine = [1]

    def sends():
        comm = box.put_async(mine)
        comm.wait()
        return tuple(mine)

    def receives():
        got = box.get()
        got.append(2)
        return tuple(got)

    found = explore(program({"a": sends, "b": lambda: receives()}), reduced=True)
    assert found.ok and mine == [1]


def test_a_mailbox_can_be_sent():
    def asks():
        box.put(Mailbox.by_name("back"))
        return Mailbox.by_name("back").get()

    assert returned(a=asks, b=lambda: box.get().put("hello")) == {("hello", None)}


def test_comms_are_waited_for_in_any_order():
    def receives():
        first, second = box.get_async(), box.get_async()
        second.wait()
        first.wait()
        return first.get_payload(), second.get_payload()

    assert returned(a=(put, 1, 2), b=receives) == {(None, (1, 2))}


def test_wait_gives_the_comm():
    assert returned(a=(put, 1), b=lambda: box.get_async().wait().get_payload()) == {(None, 1)}


def test_wait_any_tells_which():
    def receives():
        comms = [box.get_async(), other.get_async()]
        return Comm.wait_any(comms)

    put_both = {"a": lambda: box.put_init(1).detach() and None}
    put_both["b"] = lambda: other.put_init(2).detach() and None
    assert returned(**put_both, c=receives) == {(None, None, 0), (None, None, 1)}


def test_wait_all_waits_for_each():
    def receives():
        comms = [box.get_async(), other.get_async()]
        Comm.wait_all(comms)
        return tuple(comm.get_payload() for comm in comms)

    assert returned(a=(put, 1), b=lambda: put(2, to=other), c=receives) == {(None, None, (1, 2))}


def test_test_says_whether_it_is_complete():
    def receives():
        comm = box.get_async()
        if comm.test():
            return comm.get_payload()
        return comm.wait().get_payload() + 10

    assert returned(a=(put, 1), b=receives) == {(None, 1), (None, 11)}


def test_test_any_finds_one_or_none():
    def receives():
        comms = [box.get_async()]
        found = Comm.test_any(comms)
        if found < 0:
            comms[0].wait()
        return found

    assert returned(a=(put, 1), b=receives) == {(None, 0), (None, -1)}
    assert returned(a=lambda: Comm.test_any([])) == {(-1,)}


def test_a_complete_comm_can_be_tested_again_and_waited_for_once():
    def receives():
        comm = box.get_async()
        while not comm.test():
            comm.wait()
        return comm.test(), comm.get_payload()

    assert returned(a=lambda: box.put_init(1).detach() and None, b=receives) == {(None, (True, 1))}


def test_cancel_withdraws_what_was_not_met():
    def gives_up():
        comm = box.put_async(1)
        if comm.cancel():
            return "withdrawn"
        comm.wait()
        return "met"

    def receives():
        try:
            return box.get(timeout=1)
        except TimeoutException:
            return "nothing"

    results = returned(a=gives_up, b=receives)
    assert results == {("withdrawn", "nothing"), ("met", 1)}


def test_a_get_that_times_out_leaves_nothing_behind():
    def receives():
        try:
            return box.get(timeout=1)
        except TimeoutException:
            return box.get()

    assert returned(a=(put, 1), b=receives) == {(None, 1)}


def test_a_put_with_a_timeout():
    def sends():
        try:
            box.put(1, timeout=2)
        except TimeoutException:
            return "nobody"
        return "sent"

    assert returned(a=sends) == {("nobody",)}


def test_a_wait_that_times_out_can_be_repeated():
    def receives():
        comm = box.get_async()
        try:
            comm.wait_for(1)
        except TimeoutException:
            comm.wait()
        return comm.get_payload()

    assert returned(a=(put, 1), b=receives) == {(None, 1)}


def test_wait_any_for_says_when_nothing_came():
    def receives():
        comm = box.get_async()
        return Comm.wait_any_for([comm], 1)

    assert returned(a=receives) == {(-1,)}


def test_an_activity_set_loses_what_is_complete():
    def receives():
        pending = ActivitySet([box.get_async()])
        pending.push(other.get_async())
        got = []
        while not pending.empty():
            got.append(pending.wait_any().get_payload())
        return tuple(got), len(pending)

    results = returned(a=(put, 1), b=lambda: put(2, to=other), c=receives)
    assert results == {(None, None, ((1, 2), 0)), (None, None, ((2, 1), 0))}


def test_an_activity_set_tests_waits_for_all_and_times_out():
    def receives():
        pending = ActivitySet([box.get_async()])
        if pending.test_any() is None:
            pending.wait_all()
        last = other.get_async()
        pending.push(last)
        pending.erase(last)
        pending.push(last)
        try:
            pending.wait_any_for(1)
        except TimeoutException:
            return len(pending)

    assert returned(a=(put, 1), b=receives) == {(None, 1)}


MISUSES = {
    "waits for get at `box`, which is over": lambda comm: (comm.wait(), comm.wait()),
    "waits for get at `box`, which is cancelled": lambda comm: (comm.cancel(), comm.wait()),
    "is read, which is under way": lambda comm: comm.get_payload(),
    "is started twice": lambda comm: comm.start(),
    "get at `box` is detached": lambda comm: comm.detach(),
    "waits for one of no communications": lambda comm: Comm.wait_any([]),
}


@pytest.mark.parametrize("text", MISUSES)
def test_misuse_is_a_violation_that_names_process_and_cause(text):
    def receives():
        MISUSES[text](box.get_async())

    def sends():
        box.put_init(1).detach()

    told = first_failure(wrong=receives, a=sends)
    assert "process `wrong`" in told and text in told
    assert "usual cause:" in told and "way out:" in told
    assert {kind for kind, _ in failures(a=sends, wrong=receives)} == {"misuse"}


def test_a_comm_of_another_process_cannot_be_waited_for():
    shared = []

    def starts():
        shared.append(box.get_async())

    def waits():
        if shared:
            shared[-1].wait()

    told = first_failure(starter=starts, thief=waits)
    assert told is None or "which process `starter` has started" in told


def test_what_cannot_be_sent_is_named():
    with pytest.raises(PresageError, match="a message holds a `generator`"):
        returned(a=lambda: box.put(x for x in ()))


def test_outside_of_a_process_there_is_nobody_to_wait():
    with pytest.raises(PresageError, match="no process is running here"):
        box.put(1)
