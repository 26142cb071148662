"""Every class of executions with faults, counted on the live `World`, is met once by `odpor`."""

from itertools import count

import pytest
from reference.batches import batches
from reference.live_classes import LiveClasses
from reference.random_events import struck_system
from reference.test_event_reductions import told_alone, whole

EXECUTIONS_MAX = 80
FIRST, NEXT = 4, 30  # systems of the first batch, and of each later one


def compare(system):
    """Whether there was anything to compare."""
    every = told_alone(system, "none")
    if not whole(every) or not 2 <= every.traces <= EXECUTIONS_MAX:
        return False
    live = LiveClasses(system, EXECUTIONS_MAX)
    executions, classes = live.explore()
    assert (every.traces, len(every.classes)) == (executions, classes)
    reduced = told_alone(system, "odpor")
    assert (reduced.traces, len(reduced.classes)) == (classes, classes)
    assert set(every.rests) == set(reduced.rests) == live.rests
    return True


@pytest.mark.parametrize("batch", batches(1, 13))
def test_classes_counted_on_live_worlds_are_met_once(batch):
    wanted, compared = NEXT if batch else FIRST, 0
    for seed in count(batch * 10_000):
        system = struck_system(seed)
        try:
            compared += compare(system)
        except AssertionError as error:
            raise AssertionError(f"struck_system({seed}): {error}") from error
        if compared == wanted:
            break
