"""A search that is stopped and gone on with says what the uninterrupted one says.

Stopped after a level or in the middle of one, by a limit, and gone on with by a system that is made
anew, so that every class and every id has to be found again.
"""

import importlib
from itertools import count

import pytest
from reference.batches import batches
from reference.random_features import featured_system
from reference.random_systems import random_system

from presage import Timed, check

SYSTEMS_PER_TEST = 4
FEATURED_PER_TEST = 2
WIRED = 10
STATES_MAX = 3_000


def told(report):
    """What must be the same. Which of several shortest traces is shown may differ."""
    violations = sorted(
        (found.prop, found.kind, found.step, found.steps) for found in report.violations
    )
    totals = (report.unique, report.generated, report.depth, report.exhausted, report.stopped_by)
    return totals, report.faults, report.properties, sorted(report.errors), violations


def searched(seed, make=random_system, **options):
    return check(make(seed), traces=None, **options)


def large_enough(first, make=random_system, systems=SYSTEMS_PER_TEST):
    """Seeds of systems that have something to interrupt, with their plain reports."""
    found = 0
    for seed in count(first):
        plain = searched(seed, make, keep_going=True, states=STATES_MAX)
        if plain.stopped_by is None and plain.depth >= 4:
            yield seed, plain
            found += 1
        if found == systems:
            return


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", batches(1, 3))
def test_a_search_stopped_after_any_level_goes_on_to_the_same_totals(tmp_path, threads, batch):
    for seed, plain in large_enough(700_000 + 10_000 * threads + 3_000 * batch):
        folder = tmp_path / str(seed)
        depth = 1 + seed % (plain.depth - 1)
        options = {"keep_going": True, "checkpoint": folder}
        first = searched(seed, depth=depth, **options)
        assert first.stopped_by == "depth" and first.checkpoints == 1, seed
        second = searched(seed, depth=depth + 1, resume=True, **options)
        assert second.resumed_from == first.unique, seed
        last = searched(seed, resume=True, threads=threads, **options)
        assert last.resumed_from == second.unique, seed
        assert told(last) == told(plain), seed


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", batches(1, 3))
def test_a_search_stopped_in_the_middle_of_a_level_loses_nothing(tmp_path, threads, batch):
    for seed, plain in large_enough(740_000 + 10_000 * threads + 3_000 * batch):
        options = {"keep_going": True, "checkpoint": tmp_path / str(seed), "threads": threads}
        searched(seed, states=plain.unique // 3 + 1, **options)
        searched(seed, states=plain.unique * 2 // 3 + 1, resume=True, **options)
        last = searched(seed, resume=True, **options)
        assert told(last) == told(plain), seed


@pytest.mark.parametrize("batch", batches(1, 3))
def test_on_one_thread_even_the_moment_of_the_first_violation_is_the_same(tmp_path, batch):
    compared = 0
    for seed in count(780_000 + 3_000 * batch):
        plain = searched(seed, states=STATES_MAX)
        if plain.stopped_by != "violation" or plain.unique < 40:
            continue
        options = {"checkpoint": tmp_path / str(seed)}
        searched(seed, states=plain.unique // 2, **options)
        last = searched(seed, resume=True, **options)
        assert told(last) == told(plain), seed
        events = [[str(step) for step in found.trace.steps] for found in last.violations]
        expected = [[str(step) for step in found.trace.steps] for found in plain.violations]
        assert events == expected, seed
        again = searched(seed, resume=True, **options)
        assert told(again) == told(plain), seed
        onward = searched(seed, resume=True, keep_going=True, states=STATES_MAX, **options)
        whole = searched(seed, keep_going=True, states=STATES_MAX)
        if whole.stopped_by is None:
            assert told(onward) == told(whole), seed
        compared += 1
        if compared == SYSTEMS_PER_TEST:
            return


@pytest.mark.parametrize("batch", batches(1, 3))
def test_a_search_in_files_counts_what_one_in_memory_counts(tmp_path, monkeypatch, batch):
    # Small systems come to files only below what the process holds, a limit that is else refused.
    module = importlib.import_module("presage.search.check")
    monkeypatch.setattr(module, "check_memory", lambda memory_mib: None)
    for seed, plain in large_enough(790_000 + 3_000 * batch):
        options = {"memory_mib": 1, "spill": tmp_path / "spill"}
        spilled = searched(seed, keep_going=True, **options)
        if spilled.stopped_by is None:  # short ones end before anyone looks at the memory
            assert told(spilled) == told(plain), seed
    assert list((tmp_path / "spill").iterdir()) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_connections_and_partitions_survive_a_stop(tmp_path, threads):
    def make(seed):
        return random_system(seed, wired=True)

    streams = partitions = 0
    for seed, plain in large_enough(820_000 + 10_000 * threads, make, WIRED):
        options = {"keep_going": True, "checkpoint": tmp_path / str(seed), "threads": threads}
        searched(seed, make, states=plain.unique // 3 + 1, **options)
        searched(seed, make, depth=plain.depth - 1, resume=True, **options)
        last = searched(seed, make, resume=True, **options)
        assert told(last) == told(plain), seed
        streams += make(seed).streams is not None
        partitions += last.faults.get("partition", 0) > 0
    assert streams > WIRED // 3 and partitions


@pytest.mark.parametrize("clock", [None, Timed(drift=1)], ids=["untimed", "timed"])
@pytest.mark.parametrize("batch", batches(1, 2))
def test_disks_times_clocks_and_slow_nodes_survive_a_stop(tmp_path, clock, batch):
    def make(seed):
        return featured_system(seed, clock=clock)

    happened = 0
    for seed, plain in large_enough(760_000 + 3_000 * batch, make, FEATURED_PER_TEST):
        options = {"keep_going": True, "checkpoint": tmp_path / str(seed)}
        searched(seed, make, states=plain.unique // 3 + 1, **options)
        searched(seed, make, states=plain.unique * 2 // 3 + 1, resume=True, **options)
        last = searched(seed, make, resume=True, **options)
        assert told(last) == told(plain), seed
        happened += last.faults.get("slow", 0)
    assert happened
