"""raftos 0.2.6, unmodified, over its own UDP: bugs of its tracker, and one that is not there."""

import pytest
from real.raft_node import put, serve, view

from presage import Call, Verdict, always, check, step
from presage.real import Node, RealSystem

pytestmark = pytest.mark.timeout(1200)
RAFTOS = ("raftos==0.2.6", "msgpack==1.1.0")


@always
def one_leader_per_term(world) -> bool:
    terms = [node.term for node in world.nodes if node.role == "Leader"]
    return len(terms) == len(set(terms))


@step
def match_index_grows(before, after) -> bool:
    if before.role != "Leader" or after.role != "Leader" or before.term != after.term:
        return True
    return all(after.match[name] >= index for name, index in before.match.items())


@step
def committed_entries_stay(before, after) -> bool:
    if before.log is None or after.log is None:
        return True
    return after.log[: before.commit] == before.log[: before.commit]


@always
def a_majority_commits(world) -> Verdict | bool:
    for node in world.nodes:
        if node.role != "Leader":
            continue
        for index in range(node.commit + 1, len(node.log) + 1):
            if node.log[index - 1][0] == node.term and max(node.match.values()) >= index:
                return Verdict.fails(f"{node.name} leads and does not commit entry {index}")
    return True


def cluster(library, *properties, timers, writers=(), **options) -> RealSystem:
    """Three nodes of raftos, with the timers of each; `writers` give it one command each."""
    path = (library(*RAFTOS),)
    nodes = {
        f"n{at}": Node(serve, view=view, path=path, timers=bound, **options)
        for at, bound in enumerate(timers)
    }
    calls = {name: [Call(put, "x", at)] for at, name in enumerate(writers)}
    return RealSystem(nodes, properties=properties, calls=calls)


def test_an_answer_to_a_stale_term_has_no_request_id(library) -> None:
    """Issue 27 of raftos; the message of an exception is part of the report."""
    report = check(cluster(library, timers=(1, 1, 1)), depth=7, traces=None)
    (found,) = report.violations
    assert (found.prop, found.steps) == ("no_exception", 6)
    assert "KeyError" in found.message
    assert "request_id" in found.message


@pytest.mark.slow
def test_the_match_index_goes_back(library) -> None:
    """Issue 25: answers that overtook each other are taken as they come."""
    system = cluster(library, match_index_grows, timers=(1, 1, 1), writers=["n0"], exceptions="log")
    (found,) = check(system, depth=9, traces=None).violations
    assert (found.prop, found.steps) == ("match_index_grows", 8)


@pytest.mark.slow
def test_two_nodes_lead_in_one_term(library) -> None:
    """Answers to the votes of an older term are counted."""
    system = cluster(library, one_leader_per_term, timers=(3, 3, 3), exceptions="log")
    (found,) = check(system, depth=9, traces=None).violations
    assert (found.prop, found.steps) == ("one_leader_per_term", 8)


@pytest.mark.slow
def test_a_follower_erases_what_is_committed(library) -> None:
    """Issue 26: a heartbeat that comes late makes it forget all that came after."""
    system = cluster(
        library, committed_entries_stay, timers=(2, 0, 0), writers=["n0"], exceptions="log"
    )
    (found,) = check(system, depth=10, traces=None).violations
    assert (found.prop, found.steps) == ("committed_entries_stay", 9)


@pytest.mark.slow
def test_an_entry_of_an_older_term_stops_the_leader(library) -> None:
    """Issue 30: entries behind it are never committed, though a majority has them."""
    system = cluster(
        library,
        a_majority_commits,
        timers=(1, 1, 0),
        writers=["n0", "n1"],
        exceptions="log",
        merge="view",
    )
    (found,) = check(system, depth=13, traces=None).violations
    assert (found.prop, found.steps) == ("a_majority_commits", 12)
