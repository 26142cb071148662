"""`mark`: histories that do not matter any more are searched as one."""

import random

import pytest
from process.running import program

from presage import PresageError, Process, Program, check
from presage.errors import Nondeterminism
from presage.mailbox import Mailbox, choose, mark, this_actor

box = Mailbox.by_name("box")


def collect(count, marked):
    total = 0
    for left in range(count, 0, -1):
        if marked:
            mark((left, total) if marked != "wrongly" else total)
        total += box.get()
    assert total < 100


def sends(number):
    box.put(number)


def collecting(marked):
    senders = {f"sender {n}": (sends, n) for n in range(4)}
    return program({"collector": (collect, 4, marked), **senders})


def test_states_of_equal_marks_are_one():
    free, merged = (check(collecting(marked), search="bfs") for marked in (False, True))
    assert merged.unique < free.unique
    assert merged.exhausted and not merged.violations


def test_marks_do_not_change_the_traces():
    free, merged = (check(collecting(marked)) for marked in (False, True))
    assert (merged.traces, merged.unique) == (free.traces, free.unique)
    assert merged.handler_runs < free.handler_runs


def test_a_mark_that_leaves_out_what_matters_is_found():
    with pytest.raises(Nondeterminism):
        check(collecting("wrongly"), search="bfs")


def test_an_endless_process_has_finitely_many_marked_states():
    def server():
        count = 0
        while True:
            mark(count)
            back = box.get()
            count = (count + 1) % 3
            back.put_init(count).detach()

    def client():
        mine = Mailbox.by_name(this_actor.get_name())
        while True:
            mark(None)
            box.put(mine)
            assert mine.get() < 3

    report = check(program({"server": server, "one": client, "two": client}), search="bfs")
    assert report.exhausted and not report.violations


def test_the_same_mark_at_another_place_is_another_state():
    def twice():
        choose(2)
        mark("same")
        this_actor.yield_()
        mark("same")
        this_actor.sleep_for(1)
        return "end"

    assert check(program({"a": twice}), search="bfs").unique == 4


def test_a_function_called_from_two_places_is_two_places():
    def helper():
        mark("same")
        this_actor.yield_()

    def body():
        if choose(2):
            helper()
            raise AssertionError("only here")
        helper()

    assert [v.prop for v in check(program({"a": body}), search="bfs").violations] == [
        "no_exception"
    ]


def test_what_is_under_way_counts():
    def body():
        if choose(2):
            comm = box.get_async()
        else:
            comm = Mailbox.by_name("other").get_async()
        mark("same")
        comm.wait()

    report = check(program({"a": body, "b": (sends, 1)}), search="bfs", keep_going=True)
    assert [v.prop for v in report.violations] == ["no_deadlock"]


def test_after_a_mark_chance_begins_anew():
    def body():
        for _ in range(choose(3)):
            random.random()
        mark("here")
        draw = random.random()
        this_actor.yield_()
        return draw

    report = check(program({"a": body}), search="bfs")
    assert report.exhausted and report.unique == 3


def test_what_cannot_be_marked_is_named():
    def body():
        mark(box.get_async())

    with pytest.raises(PresageError, match="process `a` marks a state that holds a"):
        check(program({"a": body}))


def test_a_mark_does_not_outlive_the_next_response():
    """Each of two messages may come first, and what comes second depends on which did."""

    def receiver():
        box = Mailbox.by_name("box")
        mark("nothing so far")
        first = box.get()
        second = box.get()
        Mailbox.by_name(f"third {first}").put_async((first, second)).detach()

    def sender(number):
        Mailbox.by_name("box").put(number)

    def listener(number):
        Mailbox.by_name(f"third {number}").get()
        raise AssertionError(f"{number} was first")

    senders = {f"s{n}": Process(sender, n) for n in (1, 2, 3)}
    listeners = {f"l{n}": Process(listener, n, daemon=True) for n in (1, 2, 3)}
    program = Program({"receiver": receiver, **senders, **listeners})
    report = check(program, keep_going=True, traces=None)
    told = {v.message.split(" at ")[0] for v in report.violations if v.prop == "no_exception"}
    assert told == {f"AssertionError: {n} was first" for n in (1, 2, 3)}
