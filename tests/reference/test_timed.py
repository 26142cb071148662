"""Timed mode: exact small cases, and the kernel against the same rule on absolute times."""

import random
from itertools import count

import pytest
from reference.batches import batches
from reference.explorer import explore
from reference.test_features import within
from reference.test_kernel import compare
from reference.test_live_world import counted
from reference.timed_explorer import NAMES, Declared, Plain, Script, declared, machines

from presage import Service, System, Timed, check, sometimes, timer
from presage.errors import BadCall, BadSystem

STATES_MAX = 400


def random_scripts(seed):
    draw = random.Random(seed)

    def some(most):
        return tuple(sorted(draw.sample(NAMES, draw.randint(0, most))))

    count_of = draw.choice([1, 2, 2, 3])
    scripts = [
        Script(
            delays={name: draw.choice([None, 0, 1, 2, 2, 3, 5]) for name in NAMES},
            rearms={name: some(1) for name in NAMES},
            nudges={name: draw.choice([None, None, draw.randrange(count_of)]) for name in NAMES},
            armed_at_start=some(2),
            armed_when_nudged=some(1),
        )
        for _ in range(count_of)
    ]
    return scripts, draw.choice([0, 0, 1, 2, 4])


@pytest.mark.parametrize("batch", batches(2, 4))
def test_relative_clocks_and_absolute_ones_agree(batch):
    compared = 0
    for seed in count(batch * 10_000):
        scripts, drift = random_scripts(seed)
        expected = Plain(scripts, drift).explore(STATES_MAX)
        if expected is None:
            continue
        report = check(machines(scripts, drift), threads=1 + seed % 2, traces=None)
        assert report.exhausted
        assert (report.unique, report.generated) == expected, seed
        compared += 1
        if compared == 60:
            return


def test_timers_armed_without_a_delay_have_the_one_declared():
    compared = 0
    for seed in count(90_000):
        scripts, drift = random_scripts(seed)
        if all(declared(script) == script for script in scripts):
            continue
        expected = Plain([declared(script) for script in scripts], drift).explore(STATES_MAX)
        if expected is None:
            continue
        report = check(machines(scripts, drift, Declared), traces=None)
        assert report.exhausted
        assert (report.unique, report.generated) == expected, seed
        compared += 1
        if compared == 60:
            return


@pytest.mark.parametrize("batch", batches(1, 2))
def test_kernel_world_and_reference_agree_on_timed_systems(batch):
    compared = 0
    for seed in count(50_000 + batch * 10_000):
        scripts, drift = random_scripts(seed)
        if Plain(scripts, drift).explore(60) is None:
            continue
        system = machines(scripts, drift)
        expected = explore(system)
        compare(system, expected)
        assert counted(system) == (expected.states, expected.generated, expected.depth), seed
        compared += 1
        if compared == 20:
            return


def test_kernel_and_reference_agree_on_timed_systems_with_faults():
    for drift in (0, 1, 2):
        systems = within(820_000 + drift * 1000, 60, wired=drift == 1, clock=Timed(drift=drift))
        for _, (seed, system, expected) in zip(range(3), systems, strict=False):
            try:
                compare(system, expected)
            except AssertionError as error:
                raise AssertionError(f"featured_system({seed}), {drift}: {error}") from error


class Sequence(Service):
    order: tuple[str, ...] = ()

    def start(self):
        self.arm("late", after=5.0)
        self.arm("early", after=2.5)
        self.arm("early_too", after=2.5)

    @timer
    def late(self):
        self.order += ("late",)

    @timer
    def early(self):
        self.order += ("early",)

    @timer
    def early_too(self):
        self.order += ("early_too",)


def ends(system):
    """The orders that one can end in."""
    found = []
    for order in (
        ("early", "early_too", "late"),
        ("early_too", "early", "late"),
        ("early", "late", "early_too"),
        ("late", "early", "early_too"),
    ):
        claim = sometimes(lambda world, o=order: world["n"].order == o, name="-".join(order))
        asked = System(nodes=system.nodes, clock=system.clock, properties=[claim])
        found.append(not check(asked, traces=None).violations)
    return found


def test_timers_of_one_node_fire_in_the_order_of_their_deadlines():
    assert ends(System(nodes={"n": Sequence()}, clock=Timed())) == [True, True, False, False]
    assert ends(System(nodes={"n": Sequence()})) == [True, True, True, True]


class Once(Service):
    delay: float
    done: bool = False

    def start(self):
        self.arm("ring", after=self.delay)

    @timer
    def ring(self):
        self.done = True


@pytest.mark.parametrize(("drift", "possible"), [(0, False), (1.9, False), (2, True), (5, True)])
def test_between_nodes_the_order_holds_beyond_the_drift(drift, possible):
    @sometimes
    def overtaken(world):
        return world["slow"].done and not world["fast"].done

    nodes = {"fast": Once(delay=1), "slow": Once(delay=3)}
    report = check(
        System(nodes=nodes, clock=Timed(drift=drift), properties=[overtaken]), traces=None
    )
    assert not report.violations == possible


class Beating(Service):
    period: float

    def start(self):
        self.arm("beat", after=self.period)

    @timer(periodic=True)
    def beat(self): ...


def test_endless_time_has_finitely_many_states():
    nodes = {"two": Beating(period=2), "three": Beating(period=3)}
    report = check(System(nodes=nodes, clock=Timed()), traces=None)
    # Beats at 2, 3, 4, 6 and 6 in every 6 units, the last two in either order.
    assert report.exhausted
    assert (report.unique, report.generated) == (6, 8)


def test_a_clock_is_timed_and_a_delay_is_a_time():
    with pytest.raises(BadSystem, match="`clock` is a `int`"):
        System(nodes={"n": Once(delay=1)}, clock=3)
    with pytest.raises(BadSystem, match="not an amount of time"):
        Timed(drift=-1)
    with pytest.raises(BadCall, match="after='soon'"):
        check(System(nodes={"n": Once(delay="soon")}), traces=None)
