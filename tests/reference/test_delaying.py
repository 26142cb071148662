"""Searches in the order of delays against live worlds, bound by bound, and against `bfs`."""

import random
from itertools import count, islice

import pytest
from reference.batches import batches, portion
from reference.delaying import Delaying, DelayingProgram
from reference.random_features import featured_system
from reference.random_processes import random_program
from reference.random_systems import random_system

from presage._core import ProcessKernel
from presage.execution.sandbox import Sandbox
from presage.limits import DelayPlan, Limits
from presage.search.check import build
from presage.search.kernel.bridge import Bridge
from presage.systems import abd, paxos, two_phase_commit

SCHEDULERS = ("rtc", "rr", "random")
COSTS = ("log", "position", "deviation")
STATES_MAX = 150
SYSTEMS_PER_TEST = 12  # of each kind; each with one scheduler and random prices


def kinds():
    yield random_system
    yield lambda seed: random_system(seed, wired=True)
    yield lambda seed: featured_system(seed, wired=seed % 2 == 1)


def searched(system, plan=None, **limits):
    """By delays with a plan, breadth first without."""
    with Sandbox() as sandbox:
        kernel = build(system, Bridge(system, sandbox))
        within = Limits(keep_going=True, **limits)
        return kernel.search("bfs", within) if plan is None else kernel.delay(plan, within)


def small(make, first):
    """(seed, system, what `bfs` says) of systems that end."""
    for seed in count(first):
        system = make(seed)
        outcome = searched(system, states=STATES_MAX + 1)
        if outcome.stopped_by is None:
            yield seed, system, outcome


def prices(pick):
    cost = pick.choice(COSTS)
    own = {"cost": cost, "choice": pick.choice((0, 1, 1, 2)), "fault": pick.randrange(4)}
    return {**own, "commuting": pick.choice((0, 1, 3))}


def same_findings(outcome, breadth):
    return {found.at for found in outcome.found} == {found.at for found in breadth.found}


@pytest.mark.parametrize("batch", batches(1, 3))
def test_each_bound_meets_what_live_worlds_meet(batch):
    for make in kinds():
        meet_each_bound(make, batch * 10_000, portion(batch, SYSTEMS_PER_TEST))


def meet_each_bound(make, first, number):
    for at, (seed, system, breadth) in enumerate(islice(small(make, first), number)):
        how = prices(random.Random(seed))
        scheduler = SCHEDULERS[at % 3]
        reference = Delaying(system, scheduler, seed=seed, **how)
        expected = [len(states) for states in reference.run()]
        outcome = searched(system, DelayPlan(scheduler, **how), seed=seed)
        assert outcome.bounds == expected, (seed, scheduler, how)
        assert outcome.walks == reference.executions, (seed, scheduler, how)
        assert outcome.generated == breadth.generated
        assert same_findings(outcome, breadth)


@pytest.mark.parametrize("batch", batches(1, 4))
def test_a_search_that_ends_has_met_the_states_of_bfs(batch):
    for make in kinds():
        meet_states_of_bfs(make, 100_000 + batch * 10_000, portion(batch, 30))


def meet_states_of_bfs(make, first, number):
    for at, (seed, system, breadth) in enumerate(islice(small(make, first), number)):
        how = DelayPlan(SCHEDULERS[at % 3], **prices(random.Random(seed)))
        outcome = searched(system, how, threads=1 + at % 4)
        assert outcome.stopped_by is None and not outcome.cut
        assert (outcome.unique, outcome.generated) == (breadth.unique, breadth.generated), seed
        assert outcome.bounds[-1] == outcome.unique
        assert same_findings(outcome, breadth)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize(
    ("system", "states"),
    [
        *((two_phase_commit.system(rms=n), s) for n, s in ((2, 56), (3, 288), (5, 8_832))),
        (paxos.system(clients=1), 265),
        (paxos.system(clients=2), 16_668),
        (abd.system(clients=2), 544),
    ],
)
def test_published_counts_are_met_in_every_order(system, states, scheduler):
    for threads in (1, 2):
        outcome = searched(system, DelayPlan(scheduler), threads=threads)
        assert (outcome.unique, outcome.stopped_by) == (states, None)


def test_a_limit_of_delays_ends_the_search_when_the_bound_is_done():
    system = two_phase_commit.system(rms=3)
    whole = searched(system, DelayPlan("rtc")).bounds
    for delays in range(len(whole) - 1):
        outcome = searched(system, DelayPlan("rtc", delays=delays))
        assert outcome.stopped_by == "delays"
        assert outcome.bounds == whole[: delays + 1]
    assert searched(system, DelayPlan("rtc", delays=len(whole))).stopped_by is None


def kernel_of(bridge, processes):
    return ProcessKernel(bridge, [(bridge.local(at), False) for at in range(processes)])


def programs(first):
    """(seed, kernel, scripts, how many processes, what `bfs` says) of programs that end."""
    for seed in count(first):
        bridge, processes = random_program(seed)
        outcome = kernel_of(bridge, processes).search(Limits(keep_going=True, states=STATES_MAX))
        if outcome.stopped_by is None:
            yield seed, bridge, processes, outcome


def run_findings(outcome):
    return {(found.kind, tuple(found.detail)) for found in outcome.run_findings}


@pytest.mark.parametrize("batch", batches(1, 3))
def test_each_bound_of_a_program_meets_what_plain_processes_meet(batch):
    few = zip(range(portion(batch, 40)), programs(batch * 1_000), strict=False)
    for number, (seed, bridge, processes, breadth) in few:
        how = {"cost": COSTS[number % 3], "choice": seed % 3}
        scheduler = SCHEDULERS[number % 2]
        reference = DelayingProgram(bridge, processes, scheduler, **how)
        expected = [len(states) for states in reference.run()]
        kernel = kernel_of(bridge, processes)
        outcome = kernel.search(Limits(keep_going=True), plan=DelayPlan(scheduler, **how))
        assert outcome.bounds == expected, (seed, scheduler, how)
        assert outcome.walks == reference.executions, (seed, scheduler, how)
        assert outcome.generated == breadth.generated
        assert run_findings(outcome) == run_findings(breadth)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_search_of_a_program_that_ends_has_met_the_states_of_bfs(scheduler):
    for seed, bridge, processes, breadth in islice(programs(50_000), 200):
        how = DelayPlan(scheduler, cost=COSTS[seed % 3], choice=seed % 3)
        limits = Limits(keep_going=True, seed=seed)
        outcome = kernel_of(bridge, processes).search(limits, plan=how)
        assert outcome.stopped_by is None and not outcome.cut
        assert (outcome.unique, outcome.generated) == (breadth.unique, breadth.generated), seed
        assert outcome.bounds[-1] == outcome.unique
        assert run_findings(outcome) == run_findings(breadth)
