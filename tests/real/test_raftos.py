"""raftos 0.2.6, unmodified, over its own UDP: bugs of its tracker, and one that is not there."""

from typing import Any, NamedTuple

import pytest
from real.raft_node import put, serve, view
from real.raftos_mends import mended

from presage import Call, Verdict, always, check, sometimes, step
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


@sometimes
def a_node_leads(world) -> bool:
    return any(node.role == "Leader" for node in world.nodes)


@sometimes
def an_entry_is_committed(world) -> bool:
    return any(node.commit for node in world.nodes)


class Case(NamedTuple):
    """A bug, and the bounds within which it is found."""

    properties: tuple[Any, ...]
    reached: Any  # what the fixed version comes to within them
    timers: tuple[int, ...]
    steps: int  # to the bug; both versions are searched one step further
    writers: tuple[str, ...] = ()
    options: dict[str, str] = {}  # noqa: RUF012

    def cluster(self, folder: str, *more: Any) -> RealSystem:
        """Three nodes of raftos, with the timers of each; `writers` give it one command each."""
        nodes = {
            f"n{at}": Node(serve, view=view, path=(folder,), timers=bound, **self.options)
            for at, bound in enumerate(self.timers)
        }
        calls = {name: [Call(put, "x", at)] for at, name in enumerate(self.writers)}
        return RealSystem(nodes, properties=(*self.properties, *more), calls=calls)


LOG, VIEW = {"exceptions": "log"}, {"exceptions": "log", "merge": "view"}
CASES = {
    # An answer to a stale term has no request id.
    "issue 27": Case((), a_node_leads, (1, 1, 1), 6),
    # Answers that overtook each other are taken as they come: the match index goes back.
    "issue 25": Case((match_index_grows,), an_entry_is_committed, (1, 1, 1), 8, ("n0",), LOG),
    # Answers to the votes of an older term are counted.
    "two leaders": Case((one_leader_per_term,), a_node_leads, (3, 3, 3), 8, (), LOG),
    # A heartbeat that comes late makes a follower forget all that came after.
    "issue 26": Case((committed_entries_stay,), an_entry_is_committed, (2, 0, 0), 9, ("n0",), LOG),
    # Entries behind one of an older term are never committed, though a majority has them.
    "issue 30": Case(
        (a_majority_commits,), an_entry_is_committed, (1, 1, 0), 12, ("n0", "n1"), VIEW
    ),
}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in CASES if name != "issue 27"]


@pytest.mark.parametrize("name", ["issue 27", *SLOW])
def test_the_bug_is_found(library, name) -> None:
    case = CASES[name]
    (found,) = check(case.cluster(library(*RAFTOS)), depth=case.steps + 1, traces=None).violations
    assert found.steps == case.steps
    if case.properties:
        assert found.prop == case.properties[0].name
    else:
        assert found.prop == "no_exception"
        assert "KeyError" in found.message
        assert "request_id" in found.message


@pytest.mark.parametrize("name", ["issue 27", *SLOW])
def test_without_its_bugs_it_is_clean_within_the_same_bounds(library, name) -> None:
    """The nodes come as far as before: they lead and commit, and the search goes as deep."""
    case = CASES[name]
    system = case.cluster(mended(library(*RAFTOS)), case.reached)
    report = check(system, depth=case.steps + 1, traces=None)
    assert not report.violations, report
    assert report.depth == case.steps + 1
    assert report.properties[case.reached.name] == "reached"
