"""How long things take: every time here was worked out by hand, and is met exactly."""

import time

import pytest
from simulate.talking import (
    GF,
    MB,
    TICK,
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

from presage import Process, Program, simulate
from presage.process.context import awaiting, exchange, sleep
from presage.process.ops import Recv, Send


def kinds(line):
    return [(each.kind, each.start, each.end) for each in line.intervals]


def test_ping_pong_takes_latency_and_bandwidth_each_way():
    def ping():
        put("ping", size=MB)
        get("pong")

    def pong():
        get("ping")
        put("pong", size=MB / 4)

    done = simulate(Program({"ping": ping, "pong": pong}), pair(latency=TICK))
    assert done.makespan == (TICK + 1) + (TICK + 0.25)
    assert done.outcome == "finished"
    assert [(t.source, t.to, t.size, t.start, t.end) for t in done.transfers] == [
        ("ping", "pong", MB, 0.0, TICK + 1),
        ("pong", "ping", MB / 4, TICK + 1, done.makespan),
    ]
    [wire] = done.links
    assert (wire.amount, wire.busy) == (1.25 * MB, 1.25)
    assert wire.share == 1.25 / done.makespan
    assert kinds(done["ping"]) == [
        ("send", 0.0, TICK + 1),
        ("recv", TICK + 1, done.makespan),
    ]


def two_flows(sizes, platform):
    bodies = {}
    for at, size in enumerate(sizes):
        bodies[f"from{at}"] = Process(put, f"box{at}", None, size, host="a")
        bodies[f"to{at}"] = Process(get, f"box{at}", host="b")
    return simulate(Program(bodies), platform)


def test_two_flows_share_a_link_and_the_second_has_it_alone_at_the_end():
    done = two_flows([MB, 3 * MB], pair())
    assert [each.end for each in done.transfers] == [2.0, 4.0]
    assert done.links[0].share == 1.0


def test_flows_of_a_fat_pipe_do_not_meet():
    done = two_flows([MB, 3 * MB], pair(sharing="fatpipe"))
    assert [each.end for each in done.transfers] == [1.0, 3.0]


def test_the_latency_is_waited_for_before_the_share_counts():
    def late():
        rest(0.5)
        put("late")

    bodies = {
        "early": Process(put, "early", host="a"),
        "late": Process(late, host="a"),
        "to_early": Process(get, "early", host="b"),
        "to_late": Process(get, "late", host="b"),
    }
    done = simulate(Program(bodies), pair(latency=0.25))
    # early flows alone 0.25..0.75, then both at half: it ends at 1.75; late has 0.5 left
    assert [each.end for each in done.transfers] == [1.75, 2.25]


def test_three_flows_with_a_bottleneck():
    names = ("left", "middle", "right")
    platform = {
        "hosts": {name: {"speed": GF} for name in names},
        "links": {"thin": {"bandwidth": MB}, "wide": {"bandwidth": 2 * MB}},
        "routes": [
            {"from": "left", "to": "middle", "links": ["thin"]},
            {"from": "left", "to": "right", "links": ["thin", "wide"]},
            {"from": "middle", "to": "right", "links": ["wide"]},
        ],
    }
    flows = [("left", "middle", MB), ("left", "right", MB), ("middle", "right", 3 * MB)]
    bodies = {}
    for at, (source, to, size) in enumerate(flows):
        bodies[f"from{at}"] = Process(put, f"box{at}", None, size, host=source)
        bodies[f"to{at}"] = Process(get, f"box{at}", host=to)
    done = simulate(Program(bodies), platform)
    assert [each.end for each in done.transfers] == [2.0, 2.0, 2.0]  # at 0.5, 0.5, 1.5 MB/s
    assert [each.share for each in done.links] == [1.0, 1.0]


def test_computations_share_a_core():
    def late():
        rest(0.5)
        compute(GF)

    program = Program({"early": Process(compute, GF), "late": late})
    done = simulate(program, single())
    assert (done["early"].ended, done["late"].ended) == (1.5, 2.0)
    assert kinds(done["late"]) == [("sleep", 0.0, 0.5), ("compute", 0.5, 2.0)]
    assert [(host.amount, host.busy, host.share) for host in done.hosts] == [(2 * GF, 2.0, 1.0)]


@pytest.mark.parametrize(("cores", "each"), [(1, 3.0), (2, 1.5), (3, 1.0), (8, 1.0)])
def test_computations_have_one_core_each_at_most(cores, each):
    program = Program({f"p{at}": Process(compute, GF) for at in range(3)})
    assert simulate(program, single(cores)).makespan == each


def master(workers):
    for worker in workers:
        put(worker)
    for _ in workers:
        worker = get("results")
        put(worker)
    for _ in workers:
        get("results")


def worker(name):
    for _ in range(2):
        get(name)
        compute(4 * GF)
        put("results", name, size=MB / 4)


def test_master_and_workers():
    names = ["w0", "w1"]
    platform = {
        "hosts": {name: {"speed": GF, "uplink": f"up-{name}"} for name in ["m", *names]},
        "links": {f"up-{name}": {"bandwidth": MB} for name in ["m", *names]},
        "default_route": {"links": []},
        "placement": {"master": "m"} | {name: name for name in names},
    }
    bodies = {"master": Process(master, names)} | {name: Process(worker, name) for name in names}
    done = simulate(Program(bodies), platform)
    # w0: task 0-1, computes to 5, result to 5.25, task to 6.25, computes to 10.25, result to 10.5
    # w1: task 1-2, computes to 6, waits for the master to 6.25, result to 6.5, task to 7.5, ...
    assert done.makespan == 11.75
    assert done["w0"].ended == 10.5
    assert kinds(done["w1"])[:5] == [
        ("wait", 0.0, 1.0),
        ("recv", 1.0, 2.0),
        ("compute", 2.0, 6.0),
        ("wait", 6.0, 6.25),
        ("send", 6.25, 6.5),
    ]
    assert done["w1"].total("compute") == 8.0


def test_within_a_host_a_message_takes_no_time_unless_a_route_says_so():
    program = Program({"from": Process(put, "box"), "to": Process(get, "box")})
    assert simulate(program, single()).makespan == 0.0
    loop = single() | {
        "links": {"loop": {"bandwidth": 2 * MB}},
        "routes": [{"from": "a", "to": "a", "links": ["loop"]}],
    }
    assert simulate(program, loop).makespan == 0.5


def test_a_buffered_offer_lets_its_sender_go_on():
    def sender():
        put("box", buffered=True)
        compute(GF / 4)

    def receiver():
        rest(0.5)
        get("box")

    done = simulate(Program({"sender": sender, "receiver": receiver}), pair())
    assert (done["sender"].ended, done["receiver"].ended) == (0.25, 1.5)


def test_sends_that_nobody_waits_for_overlap_with_computing():
    def sender():
        slot = put_async("box")
        compute(GF / 2)
        wait(slot)

    done = simulate(Program({"sender": sender, "receiver": Process(get, "box")}), pair())
    assert done.makespan == 1.0
    assert kinds(done["sender"]) == [("compute", 0.0, 0.5), ("send", 0.5, 1.0)]


def test_a_wait_returns_what_is_complete_first():
    def receiver():
        slots = get_async("slow"), get_async("quick")
        print([wait(*slots).choice, wait(slots[0]).choice])

    bodies = {
        "slow": Process(put, "slow", None, 4 * MB, host="a"),
        "quick": Process(put, "quick", None, MB, host="a"),
        "receiver": Process(receiver, host="b"),
    }
    done = simulate(Program(bodies), pair())
    assert [line.text for line in done.log] == ["[1, 0]"]
    assert done.makespan == 5.0  # both at half to 2.0; then the slow one's other 3 MB


@pytest.mark.parametrize(("timeout", "told"), [(0.5, "-1 at 0.5"), (1.0, "0 at 1.0")])
def test_a_timeout_ends_a_wait_and_what_comes_at_that_moment_has_come(timeout, told):
    def receiver():
        slot = get_async("box")
        got = wait(slot, timeout=timeout).choice
        print(f"{got} at {time.monotonic()}")
        if got < 0:
            wait(slot)

    done = simulate(Program({"sender": Process(put, "box"), "receiver": receiver}), pair())
    assert [line.text for line in done.log] == [told]
    assert done.makespan == 1.0


def test_clocks_of_processes_show_the_time_of_the_simulation():
    def sleeper():
        began = time.time()
        time.sleep(0.5)
        compute(GF)
        print(time.time() - began, time.monotonic())

    done = simulate(Program({"sleeper": sleeper}), single())
    [line] = done.log
    assert (line.text, line.time) == ("1.5 1.5", 1.5)


def test_coroutines_are_simulated_too():
    async def sender():
        await awaiting(sleep(0.5))
        await awaiting(exchange(Send("box", "hello", size=MB)))

    async def receiver():
        payload, _ = await awaiting(exchange(Recv("box")))
        print(payload)

    done = simulate(Program({"sender": sender, "receiver": receiver}), pair())
    assert (done.makespan, done.log[0].text) == (1.5, "hello")


def test_a_message_is_as_large_as_its_payload_unless_it_says():
    payload = {"numbers": list(range(1000))}
    program = Program({"s": Process(put, "box", payload, 0.0), "r": Process(get, "box")})
    [transfer] = simulate(program, pair()).transfers
    assert transfer.size == len(program.codec.encode(payload)) > 1000
