"""Several threads explore what one does: the same executions, in the same order, with the same end.

Dice stand for threads in most of these: they say which part of a tree is explored ahead, when, and
whether it is ever taken. So each seed is one order of hand-overs, and the same every time. A few
explore with real threads.
"""

from itertools import count

import pytest
from reference.batches import batches
from reference.random_events import lively_system, struck_system
from reference.random_features import featured_system
from reference.random_fields import fielded_system
from reference.random_notices import noticed_lively_system
from reference.random_processes import random_program
from reference.random_systems import random_system
from reference.test_event_reductions import kernel_of
from reference.test_process_reductions import kernel

from presage.errors import BadSystem
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.limits import Limits
from presage.search.tree import check_tree

REDUCTIONS = ("odpor", "sdpor", "dpor", "none")
EXECUTIONS = 120  # of each system: at most
DICE = range(3)
SYSTEMS = (lively_system, struck_system, fielded_system, noticed_lively_system, featured_system)
FIRST, NEXT = 5, 20  # systems of each kind in the first batch, and in each later one
PROGRAMS = 120
COUNTED = (
    "unique",
    "generated",
    "traces",
    "blocked",
    "depth",
    "restarts",
    "cut",
    "stopped_by",
    "walks",
    "faults",
    "spun",
    "passed",
    "notes",
)


def facts(raw, before=0, *, exact=True):
    """All that a report can tell, but for the time. `before`: handlers run for earlier ones.

    `exact`: the steps that were run to analyse races, too. How often an analysis of services looks
    twice depends on what its thread has looked up before.
    """
    counted = {name: getattr(raw, name) for name in COUNTED}
    if not exact:
        del counted["generated"]
    found = [(one.at, one.choices, one.initial, *map(plain, one.events)) for one in raw.found]
    runs = [(one.kind, one.detail, one.path, one.count) for one in raw.run_findings]
    handlers = raw.handler_runs - before
    return counted, handlers, sorted(raw.classes), sorted(raw.rests), found, runs


def plain(event):
    return event.kind, event.node, event.choices, event.fingerprint


def covered(coverage):
    ran = coverage.deliveries, coverage.sent, coverage.own
    return [sorted(map(repr, each)) for each in ran], coverage.reads


def limits(threads=1, *, keep_going=True, executions=EXECUTIONS):
    return Limits(depth=40, walks=executions, keep_going=keep_going, threads=threads)


def compare_system(system, sandbox, reduction, *, keep_going):
    """How many parts were taken over."""

    def explored(kernel, threads=1, seed=None):
        within, before = limits(threads, keep_going=keep_going), ran.get(kernel, 0)
        raw = kernel.explore(reduction, within, classes=True, hand_overs=seed)
        ran[kernel] = raw.handler_runs
        seen = facts(raw, before, exact=reduction == "none")
        return raw, (seen, covered(kernel.coverage()))

    kernel, other, ran = kernel_of(system, sandbox), kernel_of(system, sandbox), {}
    _, cold = explored(kernel)
    _, warm = explored(kernel)
    collected = 0
    for seed in DICE:
        raw, seen = explored(kernel, seed=seed)
        assert seen == warm, seed
        collected += raw.collected
    assert explored(other, threads=3)[1] == cold, "three threads that know nothing"
    assert explored(other, threads=3)[1] == warm, "three threads"
    return collected


@pytest.mark.parametrize("batch", batches(1, 2))
@pytest.mark.parametrize("make", SYSTEMS)
def test_systems_are_explored_as_by_one_thread(make, batch):
    compared = collected = 0
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        for seed in count(batch * 10_000):
            system = make(seed)
            try:
                check_tree(system)
            except BadSystem:
                continue
            for reduction in REDUCTIONS:
                keep_going = bool(seed % 2)
                try:
                    collected += compare_system(system, sandbox, reduction, keep_going=keep_going)
                except AssertionError as error:
                    raise AssertionError(
                        f"{make.__name__}({seed}), {reduction}: {error}"
                    ) from error
            compared += 1
            if compared >= (NEXT if batch else FIRST):
                break
    assert collected > compared  # something was handed over


def compare_program(seed, reduction):
    bridge, processes = random_program(seed)

    def explored(engine, threads=1, dice=None):
        ended = []
        raw = engine.explore(
            reduction,
            limits(threads, keep_going=bool(seed % 2)),
            each=lambda *end: ended.append(end),
            hand_overs=dice,
        )
        return raw, (facts(raw), ended)

    engine = kernel(bridge, processes)
    _, cold = explored(engine)
    _, warm = explored(engine)
    collected = 0
    for dice in DICE:
        raw, seen = explored(engine, dice=dice)
        assert seen == warm, (seed, reduction, dice)
        collected += raw.collected
    again = kernel(bridge, processes)
    assert explored(again, threads=3)[1] == cold, (seed, reduction)
    assert explored(again, threads=3)[1] == warm, (seed, reduction)
    return collected


@pytest.mark.parametrize("batch", batches(2, 6))
def test_programs_are_explored_as_by_one_thread(batch):
    first = batch * 1_000
    programs = range(first, first + PROGRAMS)
    collected = sum(compare_program(seed, REDUCTIONS[seed % 4]) for seed in programs)
    assert collected > PROGRAMS // 4


def test_an_execution_is_the_last_however_many_threads_there_are():
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        known = kernel_of(random_system(3), sandbox)
        raw = [
            known.explore("none", limits(threads, executions=50), classes=True)
            for threads in (1, 1, 2, 4)
        ]
        first, *others = ([facts(one)[:1], *facts(one)[2:]] for one in raw)
        assert all(other == first for other in others)
