"""Work that begins and ends at any time: compared with a plain recomputation in exact fractions."""

from fractions import Fraction
from random import Random

import pytest
from simulate.talking import GF, MB, compute, get, put, rest

from presage import Process, Program, simulate
from presage.simulate.sharing import core_rate, fair_rates

CASES = 250
HOSTS = ("h0", "h1", "h2")
LINKS = ("l0", "l1", "l2", "l3")


def random_case(random):
    """Links, routes, and works: (start, amount, route or host)."""
    links = {
        name: {
            "bandwidth": MB * random.randint(1, 4),
            "sharing": random.choice(("shared", "shared", "fatpipe")),
        }
        for name in LINKS
    }
    hosts = {
        name: {"speed": GF * random.randint(1, 3), "cores": random.randint(1, 2)} for name in HOSTS
    }
    routes = [
        {"from": a, "to": b, "links": random.sample(LINKS, random.randint(1, 3))}
        for a in HOSTS
        for b in HOSTS
        if a < b
    ]
    works = []
    for _ in range(random.randint(1, 10)):
        start = Fraction(random.randint(0, 8), 4)
        if random.random() < 0.3:
            works.append((start, int(GF) * random.randint(1, 9), random.choice(HOSTS)))
        else:
            works.append((start, int(MB) * random.randint(1, 9), random.choice(routes)))
    return {"hosts": hosts, "links": links, "routes": routes}, works


def rates_of(running, platform):
    """The rate of each running work, from scratch."""
    links = platform["links"].items()
    shared = {n: Fraction(each["bandwidth"]) for n, each in links if each["sharing"] == "shared"}
    own = {n: Fraction(each["bandwidth"]) for n, each in links if each["sharing"] == "fatpipe"}
    flows = [at for at, (_, _, where) in running.items() if isinstance(where, dict)]
    rates = dict(
        zip(flows, fair_rates([running[at][2]["links"] for at in flows], shared, own), strict=True)
    )
    for at, (_, _, where) in running.items():
        if at not in rates:
            host = platform["hosts"][where]
            busy = sum(other == where for _, _, other in running.values())
            rates[at] = core_rate(Fraction(host["speed"]), host["cores"], busy)
    return rates


def plain(platform, works):
    """When each work ends: at every event everything is moved on, and all rates are recomputed."""
    now, ends = Fraction(0), {}
    left = {at: Fraction(amount) for at, (_, amount, _) in enumerate(works)}
    while left:
        running = {at: works[at] for at in left if works[at][0] <= now}
        rates = rates_of(running, platform)
        moments = [now + left[at] / rates[at] for at in running]
        moments += [works[at][0] for at in left if at not in running]
        after = min(moments)
        for at in running:
            left[at] -= rates[at] * (after - now)
            if left[at] == 0:
                ends[at] = after
                del left[at]
        now = after
    return [ends[at] for at in range(len(works))]


def sender(start, box, size):
    rest(start)
    put(box, size=size)


def computer(start, flops):
    rest(start)
    compute(flops)


def processes(works):
    made = {}
    for at, (start, amount, where) in enumerate(works):
        if isinstance(where, dict):
            given = float(start), f"box{at}", float(amount)
            made[f"work{at}"] = Process(sender, *given, host=where["from"])
            made[f"end{at}"] = Process(get, f"box{at}", host=where["to"])
        else:
            made[f"work{at}"] = Process(computer, float(start), float(amount), host=where)
    return made


@pytest.mark.parametrize("part", range(2))
def test_random_work_ends_when_a_plain_recomputation_says(part):
    for number in range(part, CASES, 2):
        platform, works = random_case(Random(number))
        done = simulate(Program(processes(works)), platform)
        got = [done[f"work{at}"].ended for at in range(len(works))]
        assert got == pytest.approx([float(end) for end in plain(platform, works)], rel=1e-9)
