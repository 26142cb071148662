"""Every class of executions with faults, counted on the live `World`, is met once by `odpor`."""

from itertools import count

import pytest
from reference.batches import batches
from reference.live_classes import LiveClasses
from reference.random_events import struck_system
from reference.random_fields import fielded_system, fields_used, struck_fielded_system
from reference.random_notices import noticed_struck_system
from reference.test_event_reductions import told_alone, whole

EXECUTIONS_MAX = 80
FIRST, NEXT = 4, 30  # systems of the first batch, and of each later one


def uses(system):
    """What services say of the fields that they use; nothing where a property looks at steps."""
    steps = any(prop.kind == "step" for prop in system.properties)
    called = {system.nodes[name].__class__ for name in system.calls}

    def of(cls):
        used = fields_used(cls)
        used[None] |= cls.work.fields if cls in called else set()
        return used

    return None if steps else of


def compare(system, uses=None):
    """Whether there was anything to compare."""
    reduced = told_alone(system, "odpor")  # first, as it leaves aside most of what is large
    if not whole(reduced) or reduced.traces > EXECUTIONS_MAX:
        return False
    every = told_alone(system, "none")
    if not whole(every) or not 2 <= every.traces <= EXECUTIONS_MAX:
        return False
    live = LiveClasses(system, EXECUTIONS_MAX, uses)
    executions, classes = live.explore()
    assert (every.traces, len(every.classes)) == (executions, classes)
    assert (reduced.traces, len(reduced.classes)) == (classes, classes)
    assert set(every.rests) == set(reduced.rests) == live.rests
    return True


def compare_many(batch, make, used=lambda system: None):
    wanted, compared = NEXT if batch else FIRST, 0
    for seed in count(batch * 10_000):
        system = make(seed)
        try:
            compared += compare(system, used(system))
        except AssertionError as error:
            raise AssertionError(f"{make.__name__}({seed}): {error}") from error
        if compared == wanted:
            break


@pytest.mark.parametrize("batch", batches(1, 4))
def test_classes_counted_on_live_worlds_are_met_once(batch):
    compare_many(batch, struck_system)


@pytest.mark.parametrize("batch", batches(0, 2))
def test_classes_are_met_once_where_nodes_hear_of_crashes(batch):
    compare_many(batch, noticed_struck_system)


@pytest.mark.parametrize("make", [fielded_system, struck_fielded_system])
@pytest.mark.parametrize("batch", batches(1, 3))
def test_classes_of_deliveries_that_may_not_meet_are_met_once(batch, make):
    compare_many(batch, make, uses)
