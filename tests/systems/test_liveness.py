"""Exact liveness on models whose numbers others have counted: states, edges, dead, critical.

State and edge counts are those of the BEEM benchmark; the numbers of dead states and of critical
transitions were computed before with an interpreter of its language.
"""

import pytest
from systems.beem import commands, elevator, lann, lifts, tree

from presage import check

TOKEN_RING = lann.model(3, discard=False, once=False), lann.one_critical
CORRECT_RING = lann.model(4, discard=True, once=True), lann.one_critical
ELEVATOR = elevator.model(), elevator.first_inside


def surveyed(model, holds, **how):
    report = check(commands.system(*model, holds), traces=None, **how)
    [told] = report.liveness.values()
    assert told.unknown == 0
    return report, (report.unique, report.generated - 1, told.dead, told.critical)


@pytest.mark.parametrize(
    ("model", "holds", "expected"),
    [
        pytest.param(*TOKEN_RING, (18_424, 39_673, 22, 12), id="lann.1"),
        pytest.param(*CORRECT_RING, (12_784, 34_192, 0, 0), id="lann.2"),
        pytest.param(*ELEVATOR, (2_825, 5_274, 0, 0), id="elevator.2"),
        pytest.param(
            tree.model(tree.CYCLE), tree.is_elected, (272, 864, 272, 0), id="firewire_tree.1"
        ),
        pytest.param(
            tree.model(tree.LINE), tree.is_elected, (2_441, 5_692, 1_153, 89), id="firewire_tree.2"
        ),
        pytest.param(
            tree.model(tree.TREE),
            tree.is_elected,
            (86_556, 317_063, 38_485, 3_968),
            id="firewire_tree.3",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            lifts.model(3),
            lifts.moving_up,
            (30_772, 53_247, 29_067, 273),
            id="lifts.3",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_states_edges_dead_states_and_critical_transitions_are_the_published_ones(
    model, holds, expected
):
    assert surveyed(model, holds, keep_going=True)[1] == expected


def test_a_ring_that_is_correct_holds_on_every_endless_execution():
    report, _ = surveyed(*CORRECT_RING)
    assert (report.violations, report.exhausted) == ((), True)
    assert report.notes == ("endless executions were examined too (recurs: weak fairness)",)


def test_an_elevator_without_dead_states_can_leave_a_person_out_for_ever():
    report, _ = surveyed(*ELEVATOR)
    [violation] = report.violations
    assert (violation.kind, violation.dead, violation.critical) == ("liveness", False, None)
    assert violation.loop is not None
    assert violation.outlook.startswith("livelock")


@pytest.mark.slow
def test_a_ring_that_stops_names_the_transition_that_made_it_inevitable():
    report, _ = surveyed(*TOKEN_RING, keep_going=True)
    [violation] = report.violations
    assert (violation.dead, violation.loop) == (True, None)
    assert violation.critical is not None and 0 < violation.critical <= violation.steps
    # Without looking on after the violation, the graph is followed far enough to say the same.
    first = check(commands.system(*TOKEN_RING[0], TOKEN_RING[1]), traces=None)
    assert first.stopped_by == "violation"
    assert first.violations[0].critical == violation.critical
