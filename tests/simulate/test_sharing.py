"""Fair sharing: cases worked out by hand, and two independent descriptions of the same thing."""

from fractions import Fraction
from math import inf
from random import Random

from presage.simulate.sharing import core_rate, fair_rates

CASES = 600
UNIT = 24  # what the plain way counts in: a rate of at most 4 flows is a multiple of 1/24


def test_one_flow_gets_the_narrowest_link():
    assert fair_rates([["a", "b", "c"]], {"a": 5.0, "b": 2.0, "c": 9.0}, {}) == [2.0]


def test_flows_on_one_link_divide_it():
    assert fair_rates([["a"]] * 4, {"a": 2.0}, {}) == [0.5] * 4


def test_what_a_bottleneck_leaves_goes_to_the_others():
    routes = [["thin"], ["thin", "wide"], ["wide"]]
    assert fair_rates(routes, {"thin": 1.0, "wide": 2.0}, {}) == [0.5, 0.5, 1.5]


def test_the_line_of_links_that_textbooks_draw():
    routes = [["a", "b", "c"], ["a"], ["b"], ["c"], ["c"]]
    rates = fair_rates(routes, {"a": 1.0, "b": 2.0, "c": 0.75}, {})
    assert rates == [0.25, 0.75, 1.75, 0.25, 0.25]


def test_a_fat_pipe_gives_each_flow_all_of_it():
    assert fair_rates([["pipe"], ["pipe"]], {}, {"pipe": 3.0}) == [3.0, 3.0]
    rates = fair_rates([["pipe", "wire"], ["wire"]], {"wire": 10.0}, {"pipe": 2.0})
    assert rates == [2.0, 8.0]


def test_without_links_a_flow_takes_no_time():
    assert fair_rates([[], ["a"]], {"a": 1.0}, {}) == [inf, 1.0]
    assert fair_rates([], {}, {}) == []


def test_computations_divide_the_cores_and_none_has_two():
    assert core_rate(6.0, 1, 1) == 6.0
    assert core_rate(6.0, 1, 3) == 2.0
    assert core_rate(6.0, 4, 2) == 6.0
    assert core_rate(6.0, 2, 3) == 4.0


def random_case(random, flows_max):
    names = "abcde"[: random.randint(1, 5)]
    capacity = {name: Fraction(random.randint(1, 9)) for name in names}
    own = {"p": Fraction(random.randint(1, 9)), "q": Fraction(random.randint(1, 9))}
    routes = [
        random.sample([*names, *own], random.randint(1, len(names)))
        for _ in range(random.randint(1, flows_max))
    ]
    return routes, capacity, own


def filled_in_steps(routes, capacity, own):
    """The plain way: raise all by the same small step; who meets a full link stays there."""
    rates = [0] * len(routes)
    room = {name: int(left * UNIT) for name, left in capacity.items()}
    growing = set(range(len(routes)))
    while growing:
        for flow in sorted(growing):
            used = {
                name: sum(rate for rate, route in zip(rates, routes, strict=True) if name in route)
                for name in room
            }
            most = [own[name] * UNIT for name in routes[flow] if name in own]
            full = [name for name in routes[flow] if name in room and used[name] >= room[name]]
            if full or rates[flow] in most:
                growing.discard(flow)
        step_fits = all(
            sum(rates[f] for f in range(len(routes)) if name in routes[f])
            + sum(1 for f in growing if name in routes[f])
            <= room[name]
            for name in room
        )
        assert step_fits or not growing, "a step does not fit: the unit is too coarse"
        for flow in growing:
            rates[flow] += 1
    return [Fraction(rate, UNIT) for rate in rates]


def test_random_cases_agree_with_filling_in_small_steps():
    random = Random(1)
    for _ in range(CASES):
        routes, capacity, own = random_case(random, flows_max=4)
        assert fair_rates(routes, capacity, own) == filled_in_steps(routes, capacity, own)


def test_in_random_cases_every_flow_has_a_bottleneck_and_no_link_is_overfull():
    """An allocation is max-min fair exactly if this holds."""
    random = Random(2)
    for _ in range(CASES):
        routes, capacity, own = random_case(random, flows_max=12)
        rates = fair_rates(routes, capacity, own)
        on = {
            name: [rate for rate, route in zip(rates, routes, strict=True) if name in route]
            for name in capacity
        }
        assert all(sum(on[name]) <= capacity[name] for name in capacity)
        for rate, route in zip(rates, routes, strict=True):
            assert all(rate <= own[name] for name in route if name in own)
            assert any(
                rate == own[name]
                if name in own
                else sum(on[name]) == capacity[name] and rate == max(on[name])
                for name in route
            )
