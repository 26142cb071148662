"""Reversals that wait in a queue meet every class of executions once, and tell what states do."""

from itertools import count

import pytest
from reference.batches import batches
from reference.live_classes import LiveClasses
from reference.random_events import lively_system, struck_system
from reference.random_fields import fielded_system
from reference.random_notices import noticed_lively_system
from reference.test_event_reductions import STATES_MAX, kernel_of, told, whole
from reference.test_live_classes import EXECUTIONS_MAX, uses

from presage import check
from presage.errors import BadSystem
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.limits import Limits
from presage.search.tree import check_tree

FIRST, NEXT = 6, 60  # systems of the first batch, and of each later one
QUEUED_MAX = 20_000
FEW = 3  # executions, of systems that have more classes
TREE = {"search": "tree", "reduction": "dpor", "reversals": "queue", "keep_going": True}


def limited(executions):
    return Limits(depth=40, walks=executions, keep_going=True)


def queued(kernel):
    raw = kernel.explore("dpor", limited(QUEUED_MAX), classes=True, reversals="queue")
    return raw, {finding.at for finding in raw.found}


def compare(system, sandbox, *, alone):
    """Whether there was anything to compare. `alone`: by a kernel that knows nothing yet."""
    kernel = kernel_of(system, sandbox)
    optimal, _ = told(kernel, "odpor")
    if not whole(optimal) or optimal.traces < 2:
        return False
    raw, found = queued(kernel_of(system, sandbox) if alone else kernel)
    assert whole(raw)
    assert set(raw.classes) == set(optimal.classes)
    assert raw.traces == len(raw.classes)
    assert set(raw.rests) == set(optimal.rests)
    states, broken = told(kernel)
    assert states.unique >= STATES_MAX or found == broken
    every, _ = told(kernel, "none")
    if whole(every):
        assert set(raw.classes) == set(every.classes)
        assert set(raw.rests) == set(every.rests)
    return True


def compare_many(batch, make):
    wanted, compared = NEXT if batch else FIRST, 0
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        for seed in count(batch * 10_000):
            system = make(seed)
            try:
                check_tree(system)
                compared += compare(system, sandbox, alone=seed % 4 == 0)
            except BadSystem:
                continue
            except AssertionError as error:
                raise AssertionError(f"{make.__name__}({seed}): {error}") from error
            if compared == wanted:
                return


@pytest.mark.parametrize("batch", batches(1, 2))
@pytest.mark.parametrize(
    "make", [lively_system, struck_system, fielded_system, noticed_lively_system]
)
def test_a_queue_meets_the_classes_of_odpor_and_tells_what_states_tell(make, batch):
    compare_many(batch, make)


@pytest.mark.parametrize("batch", batches(1, 2))
@pytest.mark.parametrize("make", [lively_system, struck_system, noticed_lively_system])
def test_a_queue_that_stops_early_does_not_claim_all_classes(make, batch):
    wanted, compared = NEXT if batch else 3, 0
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        for seed in count(700_000 + batch * 10_000):
            system = make(seed)
            kernel = kernel_of(system, sandbox)
            optimal, _ = told(kernel, "odpor")
            if not whole(optimal) or len(optimal.classes) <= FEW:
                continue
            for executions in (FEW, len(optimal.classes) - 1):
                raw = kernel.explore("dpor", limited(executions), classes=True, reversals="queue")
                assert not whole(raw) and raw.traces <= executions, seed
                assert set(raw.classes) < set(optimal.classes), seed
            report = check(system, walks=FEW, traces=None, **TREE)
            assert not report.exhausted and "exhaustively" not in str(report), seed
            compared += 1
            if compared == wanted:
                return


# Two things at once keep a fault from happening, or messages stay: see `test_event_reductions`.
@pytest.mark.parametrize(
    ("make", "seed"),
    [(struck_system, seed) for seed in (82, 85, 172, 673, 1_000_058, 1_000_608)]
    + [(fielded_system, 1_000_365)],
)
def test_a_queue_meets_what_is_easily_missed(make, seed):
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        assert compare(make(seed), sandbox, alone=True)


def compare_live(system, uses=None):
    """Whether there was anything to compare with classes counted one by one."""
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        every, _ = told(kernel_of(system, sandbox), "none")
        if not whole(every) or not 2 <= every.traces <= EXECUTIONS_MAX:
            return False
        live = LiveClasses(system, EXECUTIONS_MAX, uses)
        _, classes = live.explore()
        raw, _ = queued(kernel_of(system, sandbox))
    assert (raw.traces, len(raw.classes)) == (classes, classes)
    assert set(raw.rests) == live.rests
    return True


@pytest.mark.parametrize("batch", batches(1, 2))
@pytest.mark.parametrize(
    ("make", "used"), [(struck_system, lambda system: None), (fielded_system, uses)]
)
def test_a_queue_meets_each_class_counted_on_live_worlds_once(make, used, batch):
    wanted, compared = NEXT if batch else 4, 0
    for seed in count(500_000 + batch * 10_000):
        system = make(seed)
        compared += compare_live(system, used(system))
        if compared == wanted:
            return
