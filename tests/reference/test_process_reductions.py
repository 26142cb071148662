"""Every reduction finds what all interleavings find, on random programs, and nothing twice."""

import pytest
from reference.classes import class_of
from reference.interleavings import Explored, explore, outcome, replay
from reference.random_processes import random_program
from unit.process.scripts import Bridge

from presage._core import ProcessKernel
from presage.limits import Limits

REDUCTIONS = ("dpor", "sdpor", "odpor")
BATCH = 40
QUICK = range(0, 240, BATCH)
SLOW = range(1000, 1500, 125)


def kernel(bridge: Bridge, count: int) -> ProcessKernel:
    return ProcessKernel(bridge, [(bridge.local(at), False) for at in range(count)])


def small_programs(seeds: range, most: int):
    """Those with few interleavings, each with all of them. The native count must be the same."""
    for seed in seeds:
        bridge, count = random_program(seed)
        report = kernel(bridge, count).explore("none", Limits(walks=most, keep_going=True))
        if report.stopped_by is None:
            full = explore(bridge, count)
            assert (report.unique, report.traces) == (full.nodes, len(full.paths)), seed
            yield seed, bridge, count, full


def run(bridge: Bridge, count: int, reduction: str):
    """The report of a reduction, and the executions it ran to the end."""
    ended = []
    engine = kernel(bridge, count)
    engine.explore("none", Limits(walks=1))  # so that fewer wants come as a surprise
    report = engine.explore(reduction, Limits(keep_going=True), each=lambda *end: ended.append(end))
    final = ended[len(ended) - report.traces - report.blocked :]
    return report, [path for path, how in final if how == "over"]


def check_covers(seed: int, bridge: Bridge, count: int, full: Explored) -> None:
    """All classes, all outcomes; the optimal one each class once, and nothing in vain."""
    everything = [replay(bridge, count, path) for path in full.paths]
    classes = {class_of(*ended, full.wants) for ended in everything}
    outcomes = {outcome(world) for world, _ in everything}
    for reduction in REDUCTIONS:
        report, paths = run(bridge, count, reduction)
        ended = [replay(bridge, count, path) for path in paths]
        found = [class_of(*execution, full.wants) for execution in ended]
        assert set(found) == classes, (seed, reduction)
        assert {outcome(world) for world, _ in ended} == outcomes, (seed, reduction)
        assert len(found) == len(classes), (seed, reduction)  # sleep sets: no class twice
        if reduction == "odpor":
            assert report.blocked == 0, seed


def check_states(seed: int, bridge: Bridge, count: int, full: Explored) -> None:
    """The search over states meets each once, with the same deadlocks and failures."""
    searched = kernel(bridge, count).search(Limits(keep_going=True))
    explored = kernel(bridge, count).explore("odpor", Limits(keep_going=True))
    assert searched.unique == len(full.states), seed
    assert searched.generated == full.edges, seed

    def findings(report):
        return {(each.kind, tuple(each.detail)) for each in report.run_findings}

    assert findings(searched) == findings(explored) == full.findings, seed


def check_independence(seed: int, bridge: Bridge, count: int) -> int:
    wrong, tried = kernel(bridge, count).verify(10_000)
    assert not wrong, (seed, wrong[0])
    return tried


def compare(seeds: range, most: int) -> None:
    compared = tried = 0
    for seed, bridge, count, full in small_programs(seeds, most):
        check_covers(seed, bridge, count, full)
        check_states(seed, bridge, count, full)
        tried += check_independence(seed, bridge, count)
        compared += 1
    assert compared > len(seeds) // 2
    assert tried > len(seeds)


@pytest.mark.parametrize("first", QUICK)
def test_reductions_find_what_all_interleavings_find(first):
    compare(range(first, first + BATCH), most=400)


def test_two_that_wait_for_the_end_of_one_process_are_independent():
    [(seed, bridge, count, full)] = small_programs(range(2046, 2047), most=400)
    check_covers(seed, bridge, count, full)
    assert run(bridge, count, "odpor")[0].traces == 1 < len(full.paths)


@pytest.mark.slow
@pytest.mark.parametrize("first", SLOW)
def test_reductions_find_what_all_interleavings_of_larger_programs_find(first):
    compare(range(first, first + SLOW.step), most=3000)
