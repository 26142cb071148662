"""A tree explored in parts by processes that know nothing of each other: the same classes.

Each part is explored by a kernel of its own, which numbers all that it meets anew. So nothing but
what is handed over can connect them.
"""

import functools
from itertools import count
from math import ceil

import pytest
from reference.batches import FACTOR
from reference.random_events import lively_system, struck_system
from reference.random_features import featured_system
from reference.random_fields import fielded_system
from reference.random_lanes import mixed
from reference.random_notices import noticed_lively_system
from reference.random_streams import linked_system
from reference.test_event_reductions import kernel_of
from reference.test_parts import Several

from presage._results import Parts
from presage.distribute import subtree
from presage.distribute.farm import Farm, Harvest, Terms
from presage.distribute.pool import WorkerLost
from presage.distribute.subtree import search_tree
from presage.errors import BadSystem
from presage.execution.budget import Budget
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.limits import Limits
from presage.search.check import check
from presage.search.settings import Settings
from presage.search.tree import check_tree


def laned_system(seed):
    return mixed(lively_system, seed)


REDUCTIONS = ("odpor", "sdpor", "dpor", "none")
MAKERS = (
    lively_system,
    struck_system,
    fielded_system,
    featured_system,
    laned_system,
    linked_system,
    noticed_lively_system,
)
RUNS_MAX = 300
TRACES_MAX = 60
FIRST, NEXT = 1, 20  # systems of each kind in the first batch, and in each later one
WITHIN = Limits(depth=40, keep_going=True)


def is_small(make, sandbox):
    """Whether there are so few classes that some reduction may do with `TRACES_MAX` traces."""
    limits = Limits(depth=40, keep_going=True, walks=TRACES_MAX + 1)
    return kernel_of(make(), sandbox).explore("odpor", limits).stopped_by is None


def at_once(make, reduction, sandbox):
    """What one process meets, and the properties decided; None if that is too much."""
    limits = Limits(depth=40, keep_going=True, walks=RUNS_MAX)
    raw = kernel_of(make(), sandbox).explore(reduction, limits, classes=True)
    if raw.stopped_by is not None or raw.cut or raw.notes:
        return None
    return raw, {each.at for each in raw.found}


def in_parts(make, reduction, sandbox, levels, most, *, backwards=False):
    """The same by parts, each explored by a kernel of its own; and how many there were."""
    parts, number = Parts(reduction, levels, 1, classes=True), 0
    kernel, decided = kernel_of(make(), sandbox), set()
    while True:
        raw, wanted = parts.explore(kernel, WITHIN)
        decided |= {each.at for each in raw.found}
        if not wanted:
            return raw, decided, number
        for part in wanted[::-1] if backwards else wanted:
            number += 1
            found, handed = parts.explore_one(kernel_of(make(), sandbox), part, most, WITHIN)
            decided |= {each.at for each in found.found}
            assert found.stopped_by is None
            if handed is None:
                parts.divide(part)
            else:
                parts.learn(part, handed)


def counted(raw):
    names = ("unique", "generated", "traces", "blocked", "depth", "cut", "faults", "stopped_by")
    return [getattr(raw, name) for name in names], sorted(raw.classes), sorted(raw.rests)


def compare(make, reduction, seed, sandbox):
    """How many parts there were; None: nothing could be compared."""
    alone = at_once(make, reduction, sandbox)
    if alone is None or not 2 <= alone[0].traces <= TRACES_MAX:
        return None
    whole, broken = alone
    levels, most = 1 + seed % 3, (3, 1_000)[seed % 2]
    raw, decided, number = in_parts(make, reduction, sandbox, levels, most)
    assert set(raw.classes) == set(whole.classes)
    assert set(raw.rests) == set(whole.rests)
    assert decided == broken
    assert not raw.cut and raw.stopped_by is None
    if reduction in ("odpor", "none"):
        assert raw.traces == whole.traces
    if reduction == "none":
        assert (raw.unique, raw.faults) == (whole.unique, whole.faults)
    again, _, _ = in_parts(make, reduction, sandbox, levels, most, backwards=True)
    assert counted(again) == counted(raw)
    return number


@pytest.mark.parametrize(
    ("make", "batch"),
    [
        *((make, 0) for make in MAKERS[:3]),
        *(
            pytest.param(make, batch, marks=pytest.mark.slow)
            for make in MAKERS
            for batch in range(1, 1 + ceil(FACTOR))
        ),
    ],
)
def test_parts_meet_the_classes_that_one_process_meets(make, batch):
    compared, number, wanted = 0, 0, NEXT if batch else FIRST
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        for seed in count(batch * 10_000):
            one = functools.partial(make, seed)
            try:
                check_tree(one())
            except BadSystem:
                continue
            if not is_small(one, sandbox):
                continue
            for reduction in REDUCTIONS:
                try:
                    parts = compare(one, reduction, seed, sandbox)
                except AssertionError as error:
                    text = f"{make.__name__}({seed}), {reduction}: {error}"
                    raise AssertionError(text) from error
                compared += parts is not None
                number += parts or 0
            if compared >= wanted and number > wanted:  # something was in parts
                break


@pytest.fixture
def small_parts(monkeypatch):
    for name, value in {"LEVELS": 1, "FIRST": 1, "MOST": 4}.items():
        monkeypatch.setattr(subtree, name, value)


def do_by(pool, keep_going, budget=None):
    terms = Terms(budget or Budget(), keep_going, lambda reports: None)
    return lambda tasks: Farm(pool, tasks, terms, Harvest()).run()


def reported(report):
    numbers = (report.unique, report.generated, report.traces, report.executions, report.depth)
    found = [(each.prop, each.kind, each.step, each.message) for each in report.violations]
    return numbers, report.faults, report.properties, report.stopped_by, report.exhausted, found


def settings(**more):
    return Settings(search="tree", depth=40, liveness="rest", traces=None, **more)


SMALL = [(lively_system, 3), (struck_system, 3), (fielded_system, 1)]
LARGER = [(lively_system, 1), (linked_system, 1), (struck_system, 102), (fielded_system, 0)]


@pytest.mark.parametrize("keep_going", [True, False])
@pytest.mark.parametrize(
    ("make", "seed"), [*SMALL, *(pytest.param(*each, marks=pytest.mark.slow) for each in LARGER)]
)
def test_the_report_is_the_same_on_any_number_of_workers(make, seed, keep_going, small_parts):
    make = functools.partial(make, seed)
    given = settings(keep_going=keep_going)

    def found(workers):
        do = do_by(Several(workers), keep_going)
        return reported(search_tree(make, make(), given, do))

    one, two, five = (found(workers) for workers in (1, 2, 5))
    assert one == two == five
    how = {"depth": 40, "liveness": "rest", "traces": None, "keep_going": keep_going}
    whole = reported(check(make(), search="tree", **how))
    assert bool(one[-1]) == bool(whole[-1])
    if keep_going or not whole[-1]:
        (_, _, executions, *_), *verdict = one
        assert executions == whole[0][2]  # of `odpor`: one of each class
        assert verdict[:4] == list(whole[1:5])
        assert {each[:2] for each in verdict[4]} == {each[:2] for each in whole[5]}


class Mortal(Several):
    """The workers die of each task that `dies` picks."""

    def __init__(self, dies):
        super().__init__(2)
        self._dies, self._parts, self.died = dies, {}, 0

    def submit(self, task):
        handle = super().submit(task)
        self._parts[handle] = task.settings.part.below
        return handle

    def answer(self, handle):
        answer = super().answer(handle)
        if self._dies(self._parts[handle]):
            self.died += 1
            raise WorkerLost
        return answer


def test_a_part_that_is_lost_is_explored_in_parts_and_nothing_is_lost(small_parts):
    make = functools.partial(fielded_system, 1)
    whole = reported(search_tree(make, make(), settings(), do_by(Several(1), False)))
    seen = []

    def once(part):
        seen.append(part)
        return len(seen) == 2

    pool = Mortal(once)
    report = search_tree(make, make(), settings(), do_by(pool, False))
    assert pool.died == 1
    assert report.exhausted == whole[4] and report.traces == whole[0][2]
    assert report.properties == whole[2]


def test_what_is_lost_again_is_said_to_be_lost_and_nothing_held(small_parts):
    make = functools.partial(fielded_system, 1)
    pool = Mortal(lambda part: True)
    report = search_tree(make, make(), settings(), do_by(pool, False))
    assert pool.died > 1
    assert report.stopped_by == "lost" and not report.exhausted
    assert "held" not in report.properties.values()
    assert any("their workers died" in note for note in report.notes)


def test_where_time_ends_nothing_held(small_parts):
    class Spent(Budget):
        asked = 0

        @property
        def spent_by(self):
            self.asked += 1
            return "seconds" if self.asked > 2 else None

    make = functools.partial(fielded_system, 1)
    do = do_by(Several(1), False, Spent())
    report = search_tree(make, make(), settings(), do)
    assert not report.exhausted
    assert "held" not in report.properties.values()


@pytest.mark.parametrize(
    ("option", "more"),
    [("walks", {"walks": 3}), ("memory", {"memory_mib": 100}), ("causes", {"causes": 2})],
)
def test_what_needs_one_process_is_refused(option, more):
    make = functools.partial(fielded_system, 1)
    with pytest.raises(BadSystem, match=f"`{option}` is given together with `cluster`"):
        search_tree(make, make(), settings(**more), None)
