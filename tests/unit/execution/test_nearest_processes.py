"""The nearest good run of a program of processes."""

from presage import Process, Program, check, replay
from presage.mailbox import Mailbox
from presage.ui.violation import parting


def sender(number):
    Mailbox.by_name("box").put(number)


def taker():
    first, second = Mailbox.by_name("box").get(), Mailbox.by_name("box").get()
    assert first < second, (first, second)


def race():
    one, two = Process(sender, 1), Process(sender, 2)
    return Program({"one": one, "two": two, "taker": Process(taker)})


def stuck():
    return Program({"taker": Process(taker)})


def test_a_race_is_told_with_the_order_that_ends_well():
    program = race()
    found = check(program, traces=None).violations[0]
    assert found.live is not None
    assert found.live.steps[: found.differs_at - 1] == found.trace.steps[: found.differs_at - 1]
    assert "to the end" in found.live.message
    assert parting(found).startswith(f"step {found.differs_at} decides: ")
    again = replay(program, found.live)
    assert again.message == found.live.message
    assert len(again.steps) == len(found.live.steps)


def test_a_program_that_never_ends_well_has_no_good_run():
    found = check(stuck(), traces=None).violations[0]
    assert found.kind == "deadlock"
    assert found.live is None
