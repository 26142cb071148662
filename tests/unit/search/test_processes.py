"""`check` of programs: what is found, how it is told, what is refused."""

import random
import threading
import time

import pytest

from presage import Process, Program, always, at_most, check, replay
from presage.errors import BadCall, BadSystem, Escaped, Nondeterminism
from presage.mailbox import Actor, Mailbox, choose, publish, this_actor
from presage.mailbox import aio as waiting
from presage.systems.simgrid import philosophers


def receiver(count, last):
    box = Mailbox.by_name("box")
    got = [box.get() for _ in range(count)]
    assert last is None or got[-1] == last, f"{got} came"


def sender(number):
    Mailbox.by_name("box").put(number)


async def async_sender(number):
    await waiting.Mailbox.by_name("box").put(number)


def many_to_one(senders, last=None, body=sender):
    """All senders send to one receiver; which comes last is open."""
    clients = {f"s{n}": Process(body, n) for n in range(1, senders + 1)}
    return Program({"receiver": Process(receiver, senders, last), **clients}, name="many to one")


@pytest.mark.parametrize(
    ("senders", "nodes", "traces"), [(1, 5, 1), (2, 16, 2), (3, 58, 6), (4, 247, 24)]
)
def test_optimal_reduction_runs_one_execution_of_each_class(senders, nodes, traces):
    report = check(many_to_one(senders), traces=None)
    assert (report.unique, report.traces, report.executions) == (nodes, traces, traces)
    assert report.exhausted and not report.violations
    assert (report.search, report.reduction) == ("tree", "odpor")


@pytest.mark.parametrize(("senders", "nodes"), [(1, 13), (2, 520), (3, 60_893)])
def test_without_reduction_every_execution_is_run(senders, nodes):
    assert check(many_to_one(senders), reduction="none", traces=None).unique == nodes


@pytest.mark.parametrize(("senders", "states"), [(1, 7), (2, 42), (3, 299), (4, 2_586)])
def test_a_search_of_states_counts_them(senders, states):
    report = check(many_to_one(senders), search="bfs", traces=None)
    assert report.unique == states and report.exhausted


def test_coroutines_and_functions_have_the_same_executions():
    plain = check(many_to_one(3), traces=None)
    mixed = check(many_to_one(3, body=async_sender), traces=None)
    assert (plain.unique, plain.traces) == (mixed.unique, mixed.traces)


@pytest.mark.parametrize("how", [{}, {"reduction": "sdpor"}, {"search": "bfs"}])
def test_an_assertion_that_depends_on_the_order_is_found(how, tmp_path):
    report = check(many_to_one(3, last=3), traces=tmp_path, **how)
    (found,) = report.violations
    assert (found.prop, found.kind) == ("no_exception", "exception")
    assert found.message.startswith("AssertionError: [")
    assert report.properties["no_exception"] == "violated" and report.exit_status == 1
    again = replay(many_to_one(3, last=3), found.trace)
    assert again.message == found.message


def test_a_trace_says_who_sent_what_to_whom():
    (found,) = check(many_to_one(2, last=2), traces=None).violations
    told = [(step.node, step.kind, step.source) for step in found.trace.steps]
    assert told[-1][1] == "receive" and told[-1][2] in ("s1", "s2")
    assert {send.to for step in found.trace.steps for send in step.sends} == {"receiver"}


def crossing(mine, other):
    Mailbox.by_name(mine).put("hello")
    Mailbox.by_name(other).get()


def test_a_deadlock_says_who_waits_for_what():
    program = Program({"a": Process(crossing, "x", "y"), "b": Process(crossing, "y", "x")})
    (found,) = check(program, traces=None).violations
    assert (found.prop, found.kind) == ("no_deadlock", "deadlock")
    assert found.fact.startswith("no_deadlock fails: nothing can happen after step")
    assert "a waits for 'hello' to be taken, which went to `x`" in found.message


def test_a_daemon_may_wait_for_ever():
    def serve():
        while True:
            Mailbox.by_name("work").get()

    def work():
        Mailbox.by_name("work").put(1)

    assert not check(Program({"d": Process(serve, daemon=True), "w": work}), traces=None).violations
    (found,) = check(Program({"d": serve, "w": work}), traces=None).violations
    assert found.kind == "deadlock"


def test_what_is_left_over_is_told_on_request():
    def leave():
        Mailbox.by_name("nobody").put_async(1).detach()

    assert not check(Program({"p": leave}), traces=None).violations
    (found,) = check(Program({"p": leave}, leftovers=True), traces=None).violations
    assert found.prop == "no_leftovers" and "`p` sent 1 to `nobody`" in found.message


@always
def one_at_a_time(world):
    return at_most(1, world.nodes, lambda node: bool(node.busy))


def test_properties_see_what_processes_publish():
    def work(name, box):
        if box:
            Mailbox.by_name("token").get()
        publish(busy=True)
        publish(busy=False)
        if box:
            Mailbox.by_name("token").put_async(1).detach()

    def program(guarded):
        processes = {n: Process(work, n, guarded) for n in ("a", "b")}
        first = {"first": lambda: Mailbox.by_name("token").put_async(1).detach()}
        return Program({**processes, **first}, properties=[one_at_a_time])

    (found,) = check(program(False), traces=None).violations
    assert found.prop == "one_at_a_time" and "at most 1 should be, 2 are: a, b" in found.message
    held = check(program(True), traces=None)
    assert not held.violations and held.properties["one_at_a_time"] == "held"


def test_choices_are_all_tried():
    def gamble():
        assert (choose(6), choose(6)) != (3, 4)

    (found,) = check(Program({"p": gamble}), traces=None).violations
    assert [step.choices for step in found.trace.steps] == [((3, 6),), ((4, 6),)]


def test_created_processes_run_and_are_joined():
    def child(number):
        Mailbox.by_name("out").put(number)

    def parent():
        actors = [Actor.create(f"child {n}", None, child, n) for n in (1, 2)]
        got = {Mailbox.by_name("out").get() for _ in actors}
        for actor in actors:
            actor.join()
        assert got == {1, 2}

    report = check(Program({"parent": parent}), traces=None)
    assert not report.violations and report.traces == 2


def test_time_and_chance_are_under_control():
    seen = set()

    def process():
        started = time.time()
        this_actor.sleep_for(2)
        seen.add((random.random(), random.randint(0, 9), time.time() - started))

    check(Program({"p": process}), traces=None)
    assert len(seen) == 1 and next(iter(seen))[2] == 2.0


def test_a_process_that_starts_a_thread_is_refused_by_name():
    def process():
        threading.Thread(target=print).start()

    with pytest.raises(Escaped, match="process `p` starts a thread"):
        check(Program({"p": process}), traces=None)


def test_a_process_that_is_not_a_function_of_its_responses_is_found():
    runs = []

    def fickle():
        runs.append(1)
        Mailbox.by_name(f"box {len(runs)}").put_async(1).detach()
        Mailbox.by_name("end").get()

    with pytest.raises(Nondeterminism, match="process `p`"):
        check(Program({"p": fickle}), traces=None)


def test_what_cannot_be_sent_is_refused_where_it_is_sent():
    def process():
        Mailbox.by_name("box").put(threading.Lock())

    with pytest.raises(BadCall, match=r"test_processes.py:\d+: a message holds a `_thread.lock`"):
        check(Program({"p": process}), traces=None)


def test_the_receiver_does_not_share_what_is_sent():
    def one():
        value = [1]
        comm = Mailbox.by_name("box").put_async(value)
        value.append(2)
        comm.wait()

    def two():
        assert Mailbox.by_name("box").get() == [1]

    assert not check(Program({"one": one, "two": two}), traces=None).violations


def test_polling_ends_and_says_so():
    def poll():
        comm = Mailbox.by_name("box").get_async()
        while not comm.test():
            pass

    program = Program({"poll": poll, "s": Process(sender, 1)})
    for search in ("tree", "bfs"):
        report = check(program, search=search, traces=None)
        assert (report.stopped_by, report.exhausted) == ("spins", False)
        assert "tested in vain 2 times in a row" in report.notes[0]
    endless = check(program, spins=0, depth=30, traces=None)
    assert endless.stopped_by == "depth"


def test_every_property_that_breaks_is_told_also_where_others_break():
    claims = [always(lambda world: world["p"].n != 1, name=name) for name in ("one", "other")]
    program = Program({"p": lambda: publish(n=1)}, properties=claims)
    for search in ("tree", "bfs"):
        report = check(program, search=search, keep_going=True, traces=None)
        assert {found.prop for found in report.violations} == {"one", "other"}


def test_limits_end_the_exploration():
    report = check(many_to_one(4), walks=5, traces=None)
    assert (report.stopped_by, report.traces, report.exhausted) == ("runs", 5, False)
    assert check(many_to_one(4), search="bfs", states=100, traces=None).stopped_by == "states"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"search": "hunt"}, "the search `hunt` was given for a program"),
        ({"reduction": "sleep"}, "the reduction `sleep` was given for a program"),
        (
            {"search": "bfs", "reduction": "odpor"},
            "the reduction `odpor` is given for the search `bfs`",
        ),
        ({"symmetry": True}, "`symmetry` was given for a program"),
        ({"states": 5}, "`states` is given for the search `tree`"),
        ({"search": "bfs", "walks": 5}, "`walks` is given for the search `bfs`"),
    ],
)
def test_options_of_systems_are_refused(options, told):
    with pytest.raises(BadSystem, match=told):
        check(many_to_one(1), traces=None, **options)


def test_who_waits_for_a_lock_is_said_to():
    [found] = check(philosophers.program(variant="mutex_deadlock"), traces=None).violations
    assert found.message.startswith("main waits for the end of philosopher 0; philosopher 0 waits")
    assert "philosopher 0 waits for the mutex `fork 1`" in found.message


@pytest.mark.parametrize("reduction", ["odpor", "sdpor", "dpor"])
def test_a_process_that_begins_by_waiting_for_another_begins_after_its_creation(
    reduction: str,
) -> None:
    done = Mailbox.by_name("done")

    def worker() -> None:
        this_actor.yield_()

    def waiter() -> None:
        Actor.by_name("worker").join()
        done.put("waiter")

    def main() -> None:
        Actor.create("worker", None, worker)
        done.put("main")
        Actor.create("waiter", None, waiter)

    def sink() -> None:
        assert [done.get() for _ in range(2)] == ["main", "waiter"]

    program = Program({"main": Process(main), "sink": Process(sink)})
    report = check(program, reduction=reduction, traces=None)
    assert report.exhausted and not report.violations
    assert report.traces == 1
