"""Interchangeable nodes in a search: whoever is told apart is found out, and traces are real."""

from collections.abc import Callable
from typing import Any

import pytest

from presage import (
    Faults,
    Service,
    System,
    Verdict,
    action,
    always,
    check,
    eventually,
    on,
    replay,
    sometimes,
    state,
    step,
)
from presage.errors import BadSystem, NotSymmetric

NAMES = ("a", "b", "c")


class Voter(Service):
    """Asks everyone else for a vote, and gives its own to who asks first."""

    peers: tuple[str, ...]
    vote: str = ""
    votes: set[str] = state(set)

    @action(when=lambda self: not self.vote)
    def stand(self) -> None:
        self.vote = self.name
        for peer in self.peers:
            self.send(peer, "vote for me")

    @on(str)
    def heard(self, word: str, source: str) -> None:
        if word == "yes":
            self.votes.add(source)
        elif not self.vote:
            self.vote = source
            self.send(source, "yes")


class Fickle(Voter):
    """Lets the smaller name have its vote."""

    @on(str)
    def heard(self, word: str, source: str) -> None:
        super().heard(word, source)
        if word != "yes" and source < self.vote:
            self.vote = source


class Wandering(Voter):
    """Changes a list of names that is not the same for all."""

    @on(str)
    def heard(self, word: str, source: str) -> None:
        self.peers = tuple(peer for peer in self.peers if peer != source)


class Boasting(Voter):
    """Keeps a name inside a longer text."""

    @on(str)
    def heard(self, word: str, source: str) -> None:
        self.vote = f"for {source}"


class Recording(Voter):
    def start(self) -> None:
        self.record("here")


class Order:
    """Observes who recorded, in order."""

    def initial(self) -> tuple[str, ...]:
        return ()

    def observe(self, state: tuple[str, ...], node: str, record: object) -> tuple[str, ...]:
        return (*state, node)


class Favourite(Order):
    def observe(self, state: tuple[str, ...], node: str, record: object) -> tuple[str, ...]:
        return state if node == "b" else ("someone",)


def voters(service: type[Voter] = Voter, *properties: Any, **options: Any) -> System:
    nodes = {name: service(peers=tuple(n for n in NAMES if n != name)) for name in NAMES}
    return System(nodes, properties=properties, symmetric=[NAMES], **options)


def searched(system: System, **options: Any) -> Any:
    options.setdefault("liveness", "rest")
    return check(system, symmetry=True, keep_going=True, traces=None, **options)


def test_one_state_stands_for_all_its_arrangements() -> None:
    plain = check(voters(), traces=None)
    report = searched(voters())
    assert report.exhausted
    assert (plain.unique, report.unique) == (44, 11)
    assert report.depth == plain.depth
    assert report.notes == ("states that differ by exchanging nodes count as one: a, b, c",)


@pytest.mark.parametrize(
    ("service", "reason"),
    [
        (Fickle, "it differed in `vote`"),
        (Boasting, "it differed in `vote`"),
        (Wandering, "lists interchangeable nodes in an order, and was changed"),
    ],
)
def test_a_handler_that_tells_nodes_apart_is_found_out(service: type[Voter], reason: str) -> None:
    with pytest.raises(NotSymmetric) as refused:
        searched(voters(service))
    assert reason in str(refused.value)


def by_name(world: Any) -> bool:
    return bool(world["a"].vote != "b")


def by_place(world: Any) -> bool:
    return not world.nodes[0].votes


def by_order_of_names(world: Any) -> bool:
    return all(node.vote <= node.name for node in world.nodes)


@pytest.mark.parametrize("decorate", [always, eventually])
@pytest.mark.parametrize("predicate", [by_name, by_place, by_order_of_names])
def test_a_property_that_tells_nodes_apart_is_refused_by_its_name(
    decorate: Callable[..., Any], predicate: Callable[[Any], bool]
) -> None:
    with pytest.raises(NotSymmetric, match=f"property `{predicate.__name__}` gives another"):
        searched(voters(Voter, decorate(predicate)))


def test_a_property_that_is_never_reached_is_compared_too() -> None:
    never = sometimes(lambda world: world["a"].vote == "b" and world["b"].vote == "c", name="never")
    twice = sometimes(lambda world: world["a"].vote == "b" == world["c"].vote, name="twice")
    assert searched(voters(Voter, never)).properties == {"never": "unreached"}
    with pytest.raises(NotSymmetric, match="`twice`"):
        searched(voters(Voter, twice))


def test_a_property_that_only_a_rotation_would_give_away_is_refused() -> None:
    def cast(world: Any) -> list[str]:
        return [node.vote for node in world.nodes]

    # False in one of the six arrangements of a state: three of them are no exchange of two in it.
    claim = always(lambda world: cast(world) != ["b", "b", ""], name="not_this")
    with pytest.raises(NotSymmetric, match="`not_this`"):
        searched(voters(Voter, claim))


def test_a_step_property_that_tells_nodes_apart_is_refused() -> None:
    claim = step(lambda before, after: after.name != "b" or after.vote != "b", name="not_b")
    with pytest.raises(NotSymmetric, match="declared interchangeable"):
        searched(voters(Voter, claim))


def test_an_observer_that_tells_nodes_apart_is_found_out() -> None:
    class Noting(Voter):
        @on(str)
        def heard(self, word: str, source: str) -> None:
            self.record(word)

    with pytest.raises(NotSymmetric, match="observer `seen` takes their records differently"):
        searched(voters(Noting, observers={"seen": Favourite()}))


def test_records_at_the_start_come_in_an_order_that_tells_nodes_apart() -> None:
    with pytest.raises(NotSymmetric, match="the states in which the system begins"):
        searched(voters(Recording, observers={"seen": Order()}))


@pytest.mark.parametrize("search", ["bfs", "dfs", "walk"])
def test_a_trace_is_an_execution_of_the_system_as_it_is(search: str) -> None:
    @always
    def nobody_wins(world: Any) -> Verdict:
        winners = [node.name for node in world.nodes if len(node.votes) == 2]
        return Verdict(not winners, f"{winners} won")

    @step
    def loyal(before: Any, after: Any) -> bool:
        return not before.votes or before.votes == after.votes

    system = voters(Voter, nobody_wins, loyal, faults=Faults(crash=1, drop=1))
    report = searched(system, search=search)
    assert {found.prop for found in report.violations} == {"nobody_wins", "loyal"}
    for found in report.violations:
        assert replay(system, found.trace).message is not None
        assert found.message


def test_symmetry_is_refused_where_it_cannot_be_had() -> None:
    nodes = {name: Voter(peers=()) for name in NAMES}
    with pytest.raises(BadSystem, match="declares no interchangeable nodes"):
        check(System(nodes), symmetry=True)
    with pytest.raises(BadSystem, match="symmetry and the reduction `sleep` are both asked for"):
        check(voters(), symmetry=True, reduction="sleep")
