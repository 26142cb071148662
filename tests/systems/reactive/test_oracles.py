"""The reactive programs against models of the BEEM benchmark: the same states, or verdicts."""

from systems.beem import lann, planning, tree

from presage import always, check
from presage.systems.reactive import elevator_planning
from presage.systems.reactive import lann as our_lann
from presage.systems.reactive import tree_identification as our_tree


def reachable(initial, successors):
    """All states of a model, and how many transitions they have."""
    seen, waiting, edges = {initial}, [initial], 0
    while waiting:
        found = successors(waiting.pop())
        edges += len(found)
        waiting += new if (new := [*{*found} - seen]) else []
        seen |= {*found}
    return seen, edges


def test_the_planners_oracle_has_the_published_counts():
    seen, edges = reachable(*planning.model(elevator_planning.PUZZLES[2]))
    assert (len(seen), edges) == (27_630, 163_880)


def test_between_orders_the_planner_has_the_states_of_its_oracle():
    """The property is asked once for each distinct thing that it reads, so it can collect."""
    met = set()

    @always
    def collects(world):
        planner = world["planner"]
        if planner.moving is None and not planner.orders:
            met.add((planner.where, planner.floor))
        return True

    system = elevator_planning.system(puzzle=1)
    system.properties = (*system.properties, collects)
    check(system, traces=None)  # the next one finds `met` as it leaves it
    assert check(system, traces=None).exhausted
    oracle, _ = reachable(*planning.model(elevator_planning.PUZZLES[1]))
    expected = {(people, at) for people, at, done in oracle if not done and any(people)}
    assert {state for state in met if any(state[0])} == expected


def test_lann_breaks_where_its_oracle_does():
    seen, _ = reachable(*lann.model(3, discard=False, once=False))
    assert len(seen) == 18_424
    assert any(sum(place == lann.CRITICAL for place, *_ in nodes) > 1 for nodes, _ in seen)
    assert check(our_lann.system(discard=False, bug="reclaim"), traces=None).violations
    seen, _ = reachable(*lann.model(4, discard=True, once=True))
    assert len(seen) == 12_784
    assert all(sum(place == lann.CRITICAL for place, *_ in nodes) <= 1 for nodes, _ in seen)
    check(our_lann.system(nodes=4), traces=None).assert_holds()


def test_a_tree_that_gets_no_answer_dies_as_its_oracle_does():
    seen, _ = reachable(*tree.model(tree.LINE))
    assert len(seen) == 2_441
    stuck = [state for state in seen if not tree.Step(tree.LINE, state).all()]
    assert any(not tree.is_elected(state) for state in stuck)
    [found] = check(our_tree.system(bug="noreply"), traces=None).violations
    assert (found.prop, found.dead) == ("elected", True)
