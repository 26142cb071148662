"""What a predicate sees: read-only, lazily read, with the service's own methods."""

from dataclasses import dataclass

import pytest

from presage.errors import GhostRead, ReadOnly, UnknownNode, UnknownObserver
from presage.model.service.declare import durable, ghost, on, state, timer
from presage.model.service.service import Service
from presage.model.world.event import Envelope
from presage.model.world.system import Call, Faults, System
from presage.model.world.view import NodeView, WorldView, node_view
from presage.model.world.world import World


@dataclass(frozen=True)
class Ping:
    n: int


@dataclass(frozen=True)
class Loud(Ping):
    pass


class Base(Service):
    peers: tuple[str, ...] = ()
    votes: set[str] = state(set)
    term: int = durable(1)
    hops: int = ghost(0)

    def start(self):
        self.arm("tick", 3)
        self.votes = {self.name}
        for peer in self.peers:
            self.send(peer, Ping(2))
            self.send(peer, Loud(1))

    @on(Ping)
    def ping(self, message):
        pass

    @timer
    def tick(self, n):
        pass

    def majority(self):
        return len(self.votes) * 2 > len(self.peers)

    @property
    def title(self):
        return f"{self.name} in {self.term}"

    def cheat(self):
        self.term = 9


class Server(Base):
    def majority(self):
        return super().majority() and self.armed("tick", 3)


class Client(Base):
    pass


class Names:
    def initial(self):
        return ("nobody",)

    def observe(self, state, node, record):
        return state


def a_world():
    return World.initial(
        System(
            {"s": Server(peers=("c", "s")), "c": Client()},
            faults=Faults(crash=1),
            observers={"other": Names(), "names": Names()},
        )
    )


def test_a_view_shows_fields_methods_and_properties_of_the_service():
    node = a_world().view()["s"]
    assert (node.name, node.up, node.timers) == ("s", True, {("tick", 3)})
    assert (node.votes, node.term, node.peers) == ({"s"}, 1, ("c", "s"))
    assert (node.majority(), node.title) == (False, "s in 1")
    assert isinstance(node, NodeView)
    assert isinstance(node, Server)


def test_super_works_in_a_view():
    assert a_world().view()["c"].majority() is True


def test_nodes_are_found_by_name_class_and_status():
    world = a_world()
    assert [node.name for node in world.view().nodes] == ["s", "c"]
    assert [node.name for node in world.view().of(Base)] == ["s", "c"]
    assert [node.name for node in world.view().of(Client)] == ["c"]
    crash = next(event for event in world.enabled() if event.kind == "crash")
    world.apply(crash)
    assert [node.name for node in world.view().up()] == ["c"]
    with pytest.raises(UnknownNode, match="no node 'x'"):
        world.view()["x"]


def test_a_node_that_is_down_shows_durable_fields_as_saved_and_others_at_their_defaults():
    system = System({"a": Client()}, calls={"a": [Call("cheat")]}, faults=Faults(crash=1))
    world = World.initial(system)
    world.apply(world.next_call("a"))
    world.apply(next(event for event in world.enabled() if event.kind == "crash"))
    node = world.view()["a"]
    assert (node.up, node.term, node.votes, node.timers) == (False, 9, set(), frozenset())


def test_messages_are_found_by_class_bases_included():
    world = a_world().view()
    assert len(world.messages()) == len(world.messages(Ping)) == 4
    assert sorted(world.messages(Loud)) == [
        Envelope("s", "c", Loud(1)),
        Envelope("s", "s", Loud(1)),
    ]
    assert world.messages(str) == ()
    assert len(world.messages(Loud, str)) == 2


def test_observers_are_found_by_name():
    world = a_world().view()
    assert world.observer("names") == ("nobody",)
    with pytest.raises(UnknownObserver, match="no observer 'x'; there are: `other`, `names`"):
        world.observer("x")


def test_what_a_predicate_gets_is_its_own():
    world = a_world()
    seen = world.view()
    seen["s"].votes.add("intruder")
    assert seen["s"].votes == {"s"}
    assert world.view()["s"].votes == {"s"}


@pytest.mark.parametrize(
    "change",
    [
        lambda node: node.cheat(),
        lambda node: setattr(node, "votes", set()),
        lambda node: setattr(node, "novel", 1),
        lambda node: delattr(node, "term"),
        lambda node: node.send("c", Ping(1)),
        lambda node: node.choose([1]),
        lambda node: node.random,
        lambda node: node.arm("tick", 1),
        lambda node: node.disarm("tick", 1),
        lambda node: node.record(1),
    ],
)
def test_a_view_cannot_change_anything(change):
    with pytest.raises(ReadOnly, match="test_view.py"):
        change(a_world().view()["s"])


def test_a_ghost_cannot_be_read_and_a_missing_field_is_named():
    node = a_world().view()["s"]
    with pytest.raises(GhostRead, match=r"test_view.py:\d+.*`Server.hops`"):
        _ = node.hops
    with pytest.raises(AttributeError, match="node `s` has no field or method `vots`"):
        _ = node.vots


def test_a_node_can_be_seen_from_its_values_alone():
    automaton = a_world().system.automata[1]
    values = automaton.initial()
    assert node_view(automaton, values).up is True
    assert node_view(automaton, values).term == 1


class Noting:
    """A reader that notes what it was asked."""

    def __init__(self):
        self.reads = []

    def control(self, node):
        self.reads.append(("control", node))
        return (1, 0, frozenset(), None)

    def value(self, node, position):
        self.reads.append(("value", node, position))
        return 7

    def messages(self, types):
        self.reads.append(("messages", types))
        return [(1, 0, Ping(1))]

    def count(self, types):
        self.reads.append(("count", types))
        return 1

    def observer(self, index):
        self.reads.append(("observer", index))
        return "state"


def test_only_what_is_asked_for_is_read():
    reader = Noting()
    world = WorldView(a_world().system, reader)
    assert [node.name for node in world.nodes] == ["s", "c"]
    assert world.of(Server)
    assert reader.reads == []
    assert (world["c"].term, world["s"].up) == (7, True)
    assert world.messages(Ping) == (Envelope("c", "s", Ping(1)),)
    world.messages()
    assert world.messages() and len(world.messages(Ping)) == 1
    world.observer("names")
    assert reader.reads == [
        ("value", 1, 3),
        ("control", 0),
        ("messages", (Ping,)),
        ("count", None),
        ("count", (Ping,)),
        ("observer", 1),
    ]
