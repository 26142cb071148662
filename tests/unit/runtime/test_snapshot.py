"""From checkpoints to a state: what is under way, what is left out, what is refused."""

from dataclasses import dataclass

import pytest

from presage import Service, System, always, ghost, on, state
from presage._core import DOWN
from presage.model.service.stream import Streams
from presage.model.world.world import World
from presage.runtime.checkpoint import Checkpoint, checkpointed, kept_ends
from presage.runtime.datagrams import Datagrams
from presage.runtime.link import Link
from presage.runtime.pairing import Inconsistent
from presage.runtime.reads import fields_read
from presage.runtime.snapshot import assemble


@dataclass(frozen=True)
class Note:
    n: int


class Desk(Service):
    seen: int = 0
    unread: int = 0
    hops: int = ghost(0)
    blocks: dict[int, bytes] = state(dict, checkpoint=False)

    @on(Note)
    def note(self, message: Note) -> None:
        self.seen = message.n


@always
def small(world) -> bool:
    return all(node.seen < 9 for node in world.of(Desk))


def desks(network: str = "unordered") -> System:
    nodes = {name: Desk() for name in "abc"}
    return System(nodes=nodes, network=network, streams=Streams(), properties=[small])


class Taken:
    """Nodes with nothing but datagrams and links, to take checkpoints of."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.datagrams = {name: Datagrams() for name in system.names}
        self.links = {
            (one, other): Link(one, other, 1) for one in system.names for other in system.names
        }

    def send(self, source: str, to: str, n: int, now: float) -> tuple[int, bytes]:
        body = self.system.codec.encode(Note(n))
        return self.datagrams[source].send(to, body, now), body

    def checkpoint(self, name: str, now: float, **values: object) -> Checkpoint:
        automaton = self.system.automata[self.system.index(name)]
        held = automaton.initial()
        for field, value in values.items():
            held[automaton.positions[field]] = value
        local = tuple(self.system.codec.encode_fields(held))
        ends = {peer: link.end() for (one, peer), link in self.links.items() if one == name}
        return Checkpoint(
            name,
            1,
            1,
            checkpointed(automaton, local, self.system.codec),
            kept_ends(ends, 1),
            self.datagrams[name].held(now),
        )

    def world(self, now: float, round_trip: float = 0.1, nodes: str = "ab") -> World:
        found = {name: self.checkpoint(name, now) for name in nodes}
        world = World(self.system)
        world.restore(assemble(self.system, found, round_trip=round_trip).snapshot)
        return world


def under_way(world: World) -> list[int]:
    return [each.message.n for each in world.view().messages()]


def test_ghosts_and_what_checkpoints_leave_out_have_their_first_values() -> None:
    taken = Taken(desks())
    made = taken.checkpoint("a", 0.0, seen=3, hops=7, blocks={1: b"x" * 1000})
    assert sum(map(len, made.local)) < 100
    world = World(taken.system)
    world.restore(assemble(taken.system, {"a": made}).snapshot)
    node = world.view()["a"]
    assert (node.seen, node.blocks) == (3, {})


def test_who_gave_no_checkpoint_is_outside() -> None:
    taken = Taken(desks())
    found = assemble(taken.system, {"a": taken.checkpoint("a", 0.0)})
    assert found.outside == ("b", "c")
    assert taken.system.codec.decode(found.snapshot.locals[1][0])[0] == DOWN


def test_a_datagram_is_under_way_until_it_is_received_or_too_old() -> None:
    taken = Taken(desks())
    taken.send("a", "b", 1, now=0.0)
    number, body = taken.send("a", "b", 2, now=0.9)
    assert under_way(taken.world(now=1.0, round_trip=10)) == [1, 2]
    assert under_way(taken.world(now=1.0, round_trip=0.1)) == [2]
    taken.datagrams["b"].receive("a", 1, number, body, 1.0)
    assert under_way(taken.world(now=1.0)) == [2]  # it waits for its guard
    taken.datagrams["b"].take()
    assert under_way(taken.world(now=1.0)) == []


def test_on_an_ordered_network_what_was_overtaken_is_lost() -> None:
    taken = Taken(desks("ordered"))
    taken.send("a", "b", 1, now=0.0)
    number, body = taken.send("a", "b", 2, now=0.0)
    taken.send("a", "b", 3, now=0.0)
    taken.datagrams["b"].receive("a", 1, number, body, 0.0)
    taken.datagrams["b"].take()
    assert under_way(taken.world(now=0.0)) == [3]


def test_a_network_that_duplicates_may_deliver_again() -> None:
    taken = Taken(desks("duplicating"))
    number, body = taken.send("a", "b", 1, now=0.0)
    taken.datagrams["b"].receive("a", 1, number, body, 0.0)
    taken.datagrams["b"].take()
    assert under_way(taken.world(now=0.0)) == [1]


def test_what_was_received_and_not_sent_is_no_cut_unless_a_member_is_stale() -> None:
    taken = Taken(desks())
    before = taken.checkpoint("a", 0.0)
    number, body = taken.send("a", "b", 1, now=0.0)
    taken.datagrams["b"].receive("a", 1, number, body, 0.0)
    found = {"a": before, "b": taken.checkpoint("b", 0.0)}
    with pytest.raises(Inconsistent, match="received a datagram that was not sent"):
        assemble(taken.system, found)
    assert assemble(taken.system, found, stale={"a": 2.5}).stale == {"a": 2.5}


def test_messages_to_a_node_that_is_outside_are_left_out() -> None:
    taken = Taken(desks())
    taken.send("a", "c", 1, now=0.0)
    taken.links["a", "c"].send(taken.system.codec.encode(Note(2)))
    assert under_way(taken.world(now=0.0)) == []


def test_the_fields_that_properties_read_are_known() -> None:
    assert fields_read(desks()) == {"Desk": frozenset({"seen"})}
