"""What ends a simulation, what processes do to each other, and what is left to chance."""

import time

import pytest
from simulate.talking import (
    GF,
    MB,
    compute,
    get,
    get_async,
    pair,
    put,
    put_async,
    rest,
    single,
    wait,
)

from presage import Process, Program, always, simulate
from presage.errors import BadCall, Escaped, UnknownNode
from presage.process.context import blocking, cancel, current, test_any
from presage.process.ops import Choose, Create, Join, Kill, Probe, Publish
from presage.simulate import engine
from presage.simulate.platform import BadPlatform


def ask(op):
    return current().ask(op)


def test(*slots):
    return blocking(test_any(slots)).choice


test.__test__ = False


def said(done):
    return [line.text for line in done.log]


def test_a_deadlock_tells_who_waits_for_what():
    def one():
        rest(1.0)
        get("left")

    def two():
        put("right")

    def three():
        ask(Join("two"))

    def four():
        ask(Probe("left", blocking=True))

    bodies = {"one": one, "two": two, "three": three, "four": four}
    bodies["helper"] = Process(get, "nowhere", daemon=True)
    done = simulate(Program(bodies), single())
    assert (done.outcome, done.exit_status, done.makespan) == ("deadlock", 1, 1.0)
    assert done.problem == (
        "one waits for a message at `left`; two waits for somebody who receives at `right`;"
        " three waits until `two` has ended; four waits for a message at `left`, to look at"
    )
    assert [each.kind for each in done["two"].intervals] == ["wait"]


def test_who_waits_for_one_of_several_is_told_of_all():
    def one():
        wait(get_async("a"), get_async("b"), put_async("c"))

    assert simulate(Program({"one": one}), single()).problem == (
        "one waits for a message at `a` or a message at `b` or somebody who receives at `c`"
    )


def test_daemons_are_not_waited_for():
    def server():
        while True:
            get("box")

    done = simulate(
        Program({"server": Process(server, daemon=True), "client": Process(put, "box")}), pair()
    )
    assert (done.outcome, done.makespan, done["server"].ended) == ("finished", 1.0, None)


def test_what_a_process_raises_ends_the_simulation():
    def wrong():
        rest(0.5)
        assert time.monotonic() > 1, "too early"

    done = simulate(Program({"wrong": wrong, "other": Process(rest, 3.0)}), single())
    assert (done.outcome, done.exit_status, done.makespan) == ("failed", 1, 0.5)
    assert done.problem.startswith("wrong: ") and "too early" in done.problem

    def at_once():
        raise ValueError("no")

    assert "ValueError" in simulate(Program({"p": at_once}), single()).problem


def test_properties_of_what_processes_publish_are_judged():
    @always
    def small(world):
        return all((node.value or 0) < 2 for node in world.nodes)

    def counter():
        for value in range(5):
            rest(1.0)
            ask(Publish("value", value))

    done = simulate(Program({"counter": counter}, properties=[small]), single())
    assert (done.outcome, done.makespan) == ("failed", 3.0)
    assert done.problem.startswith("property `small` is broken")


def test_a_property_that_raises_is_a_failure():
    @always
    def wrong(world):
        return world["nobody"].value is None

    @always
    def raising(world):
        return 1 / (world["counter"].value or 1) > 0

    def counter():
        ask(Publish("value", 1))
        ask(Publish("value", "text"))

    done = simulate(Program({"counter": counter}, properties=[raising]), single())
    assert done.problem.startswith("property `raising` raised: TypeError")
    with pytest.raises(UnknownNode, match="there is no node 'nobody'"):
        simulate(Program({"counter": counter}, properties=[wrong]), single())
    with pytest.raises(UnknownNode, match="there is no node 'nobody'"):
        done["nobody"]


def test_until_stops_it():
    def endless():
        while True:
            rest(1.0)

    done = simulate(Program({"endless": endless}), single(), until=2.5)
    assert (done.outcome, done.exit_status, done.makespan) == ("stopped", 0, 2.5)
    assert done["endless"].intervals[-1].end == 2.5


def test_a_killed_process_gives_its_core_back():
    def killer():
        rest(1.0)
        ask(Kill("victim"))
        ask(Join("victim"))
        print(time.monotonic())

    bodies = {"early": Process(compute, GF), "victim": Process(compute, 9 * GF), "killer": killer}
    done = simulate(Program(bodies), single())
    assert (done["early"].ended, done["victim"].ended, said(done)) == (1.5, 1.0, ["1.0"])
    assert done.hosts[0].amount == 1.5 * GF


def test_a_process_that_ends_itself_and_one_that_is_over():
    def suicidal():
        ask(Kill("over"))
        ask(Kill("suicidal"))
        rest(5.0)

    done = simulate(Program({"over": Process(rest, 0.0), "suicidal": suicidal}), single())
    assert (done.outcome, done.makespan) == ("finished", 0.0)


def test_created_processes_run_where_their_creator_does_or_as_they_say():
    def child():
        print(current().name, time.monotonic())
        compute(GF)

    def parent():
        rest(0.5)
        ask(Create("near", child))
        ask(Create("far", child, (), False, "b"))
        ask(Join("near"))
        print("joined", time.monotonic())

    done = simulate(Program({"parent": parent}), pair())
    assert [(each.process, each.host, each.started) for each in done.processes] == [
        ("parent", "a", 0.0),
        ("near", "a", 0.5),
        ("far", "b", 0.5),
    ]
    assert said(done) == ["near 0.5", "far 0.5", "joined 1.5"]
    assert done.makespan == 1.5


def test_choices_are_drawn_by_the_seed():
    def chooser():
        print([ask(Choose(100)).choice for _ in range(5)])

    def run(seed):
        return simulate(Program({"chooser": chooser, "other": chooser}), single(), seed=seed)

    assert said(run(1)) == said(run(1)) != said(run(2))
    assert said(run(1))[0] != said(run(1))[1]
    assert (run(1).draws, run(1).seed) == (10, 1)


def test_the_same_run_twice_is_the_same_in_every_respect():
    def body(name, other):
        for turn in range(20):
            slots = get_async(name), put_async(other, turn, size=MB / (turn + 1))
            compute(GF * ask(Choose(3)).choice)
            print(wait(*slots).choice, time.monotonic())

    def run():
        names = ["p0", "p1", "p2"]
        bodies = {name: Process(body, name, names[at - 1]) for at, name in enumerate(names)}
        return simulate(Program(bodies), pair(latency=1e-3), seed=7).to_json()

    first = run()
    assert first["log"] and first == run()


def test_a_test_fails_until_the_message_is_there_and_polling_ends():
    def receiver():
        slot, tests = get_async("box"), 0
        while test(slot) < 0:
            tests += 1
            compute(GF / 4)
        print(tests, time.monotonic())

    done = simulate(Program({"s": Process(put, "box"), "r": Process(receiver, host="b")}), pair())
    assert said(done) == ["4 1.0"]
    assert done.early_tests == 4


def test_within_a_host_a_message_is_there_at_once():
    def receiver():
        rest(1.0)
        print(test(get_async("box")))

    done = simulate(Program({"s": Process(put, "box"), "r": receiver}), single())
    assert (said(done), done.early_tests) == (["0"], 0)


@pytest.mark.parametrize("between", [lambda: None, lambda: rest(0.0), lambda: ask(Choose(2))])
def test_polling_without_any_time_between_waits_for_what_happens(between):
    def receiver():
        slots = get_async("box"), get_async("never")
        while test(slots[0]) < 0 and test(slots[1]) < 0:
            between()
        print(time.monotonic())

    def sender():
        rest(1.0)
        put("box")

    done = simulate(Program({"r": receiver, "s": sender}), pair())
    assert said(done) == ["2.0"]


def test_polling_for_ever_is_a_deadlock():
    def receiver():
        slot = get_async("never")
        while test(slot) < 0:
            pass

    def looker():
        while not ask(Probe("never")).choice:
            pass

    done = simulate(Program({"receiver": receiver, "looker": looker}), single())
    assert done.problem == (
        "receiver tests again and again for a message at `never`;"
        " looker looks again and again for a message at `never`, to look at"
    )


def test_a_loop_by_the_clock_goes_on_when_time_does():
    def impatient():
        slot = get_async("never")
        while test(slot) < 0 and time.monotonic() < 2.0:
            pass
        print(time.monotonic())

    def ticking():
        for _ in range(5):
            rest(0.75)

    done = simulate(Program({"impatient": impatient, "ticking": ticking}), single())
    assert said(done) == ["2.25"]


def test_probes_see_an_offer_as_soon_as_it_is_made():
    def looker():
        print(ask(Probe("box")).choice, ask(Probe("box", blocking=True)).key, time.monotonic())
        get("box")

    def sender():
        rest(0.5)
        put("box", key=(3, 4))

    done = simulate(Program({"looker": looker, "sender": sender}), pair())
    assert said(done) == ["0 (3, 4) 0.5"]
    assert done.makespan == 1.5


def test_what_is_under_way_cannot_be_withdrawn():
    def receiver():
        early, late = get_async("nobody"), get_async("box")
        rest(0.5)
        print(blocking(cancel(early)), blocking(cancel(late)))
        wait(late)

    done = simulate(Program({"s": Process(put, "box"), "r": receiver}), pair())
    assert said(done) == ["True False"]
    assert done.makespan == 1.0


def test_steps_without_end_at_one_moment_are_an_error(monkeypatch):
    monkeypatch.setattr(engine, "STEPS_AT_ONCE_MAX", 1_000)

    def busy():
        while True:
            ask(Choose(2))

    with pytest.raises(BadCall, match="without time passing, the last by `busy`"):
        simulate(Program({"busy": busy}), single())


def test_wrong_calls_are_told():
    with pytest.raises(BadCall, match="a `str` cannot be simulated"):
        simulate("paxos", single())

    def twice():
        ask(Create("twice", rest, (0.0,)))

    with pytest.raises(BadCall, match="creates a second process `twice`"):
        simulate(Program({"twice": twice}), single())

    def over():
        slot = put_async("box", buffered=True)
        wait(slot)
        wait(slot)

    with pytest.raises(BadCall, match="waits for a communication that is over"):
        simulate(Program({"over": over}), single())

    def escaping():
        import socket

        socket.socket()

    with pytest.raises(Escaped, match="escaping"):
        simulate(Program({"escaping": escaping}), single())

    bodies = {"s": Process(put, "box", host="a"), "r": Process(get, "box", host="b")}
    with pytest.raises(BadPlatform, match="there is no route from host `a` to host `b`"):
        simulate(Program(bodies), {"hosts": pair()["hosts"]})
