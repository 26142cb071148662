"""pysyncobj 0.3.11 over its own TCP transport: four bugs of its tracker, all gone in 0.3.12.

Nodes merge by their view; twins test it all along. Each fixed version is searched as far as the
broken one was when it failed.
"""

import pytest
from real.sync_node import add, serve, view

from presage import Call, Faults, always, check, step
from presage.real import Node, RealSystem

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@step
def only_own_terms_are_counted(before, after) -> bool:
    if before.role != "leader" or after.role != "leader" or after.commit <= before.commit:
        return True
    return any(index == after.commit and term == after.term for index, term, _ in after.log)


@step
def the_commit_index_grows(before, after) -> bool:
    return before.commit is None or after.commit >= before.commit


@always
def the_next_index_is_above_the_match_index(world) -> bool:
    return all(
        node.next[peer] > node.match[peer]
        for node in world.nodes
        if node.role == "leader"
        for peer in node.match
    )


@step
def the_match_index_grows(before, after) -> bool:
    if before.role != "leader" or after.role != "leader" or before.term != after.term:
        return True
    return all(after.match[peer] >= index for peer, index in before.match.items())


PROPERTIES = (
    only_own_terms_are_counted,
    the_commit_index_grows,
    the_next_index_is_above_the_match_index,
    the_match_index_grows,
)
# Property -> timers of the two nodes, commands, connections that break, steps.
BUGS = {
    "169": (only_own_terms_are_counted, (2, 1), 0, 0, 13),
    "166": (the_commit_index_grows, (2, 1), 0, 0, 15),
    "167a": (the_next_index_is_above_the_match_index, (4, 0), 1, 1, 20),
    "167b": (the_match_index_grows, (2, 0), 0, 1, 15),
}


def pair(library, version, properties, timers, commands, cuts) -> RealSystem:
    """Two nodes of pysyncobj."""
    path = (library(f"pysyncobj=={version}"),)
    nodes = {
        f"n{at}": Node(serve, view=view, merge="view", path=path, timers=timers[at], preemptions=0)
        for at in range(2)
    }
    calls = {"n0": [Call(add, number) for number in range(commands)]} if commands else {}
    return RealSystem(nodes, properties=properties, calls=calls, faults=Faults(cut=cuts))


@pytest.mark.parametrize("issue", BUGS)
def test_a_broken_version_is_found_out(library, issue) -> None:
    prop, *bounds, steps = BUGS[issue]
    report = check(pair(library, "0.3.11", [prop], *bounds), depth=steps + 1, traces=None)
    (found,) = report.violations
    assert (found.prop, found.steps) == (prop.name, steps)


@pytest.mark.parametrize("issue", BUGS)
def test_the_fixed_version_holds_as_far(library, issue) -> None:
    _, *bounds, steps = BUGS[issue]
    report = check(pair(library, "0.3.12", PROPERTIES, *bounds), depth=steps + 1, traces=None)
    assert not report.violations
    assert set(report.properties.values()) == {"held"}
