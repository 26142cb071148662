"""Messages that say which lane they take, one rule each."""

from dataclasses import dataclass
from typing import Any

import pytest

from presage import Faults, Partition, Service, System, check, on
from presage.errors import BadLane, BadSystem, Nondeterminism, NotEnabled, NotState, NotSymmetric
from presage.model.world.event import Deliver, Drop, Duplicate
from presage.model.world.filters import Filter
from presage.model.world.lane import lane_of
from presage.model.world.origin import begun_in
from presage.model.world.world import World


@dataclass(frozen=True)
class Part:
    text: str
    lane: Any = None


class Sender(Service):
    sends: tuple[Part, ...] = ()
    got: tuple[str, ...] = ()

    def start(self):
        for part in self.sends:
            self.send("b", part)

    @on(Part)
    def take(self, part):
        self.got += (part.text,)


class Idle(Service):
    @on(Part)
    def take(self, part):
        pass


def system(*parts, receiver=Sender, **more):
    return System({"a": Sender(sends=parts), "b": receiver()}, network="lanes", **more)


def texts(world, kind=Deliver):
    return sorted(event.message.text for event in world.enabled() if isinstance(event, kind))


def test_a_lane_keeps_its_order_and_others_do_not_wait_for_it():
    parts = (Part("1", "x"), Part("2", "x"), Part("3", "y"), Part("4"), Part("5"))
    world = World.initial(system(*parts))
    assert texts(world) == ["1", "3", "4", "5"]
    world.apply(Deliver("b", "a", parts[0]))
    assert texts(world) == ["2", "3", "4", "5"]
    with pytest.raises(NotEnabled, match="no such message is next"):
        world.apply(Deliver("b", "a", parts[0]))


def test_only_datagrams_are_lost_or_repeated():
    parts = (Part("1", "x"), Part("2"))
    world = World.initial(system(*parts, faults=Faults(drop=1, duplicate=1)))
    assert texts(world, Drop) == texts(world, Duplicate) == ["2"]
    with pytest.raises(NotEnabled, match="or it has a lane"):
        world.apply(Drop("b", "a", parts[0]))
    world.apply(Duplicate("b", "a", parts[1]))
    assert [each.message.text for each in world.view().messages()] == ["1", "2", "2"]


def test_a_partition_delays_a_lane_and_loses_nothing_of_it():
    apart = Partition({"one": ["a"], "other": ["b"]})
    faults = Faults(partition=1, heal=1, partitions=[apart])
    report = check(system(Part("1", "x"), Part("2", "x"), faults=faults))
    assert report.exhausted and report.unique == 3 * 3  # delivered so many; whole, split, healed


@pytest.mark.parametrize("skip_noops", [None, True, False])
def test_what_does_nothing_is_taken_from_its_lane(skip_noops):
    parts = (Part("1", "x"), Part("2", "x"))
    laned = check(system(*parts, receiver=Idle, skip_noops=skip_noops))
    assert (laned.unique, laned.generated) == (3, 3)
    alone = check(system(Part("1"), Part("2"), receiver=Idle, skip_noops=skip_noops))
    assert alone.unique == (4 if skip_noops is False else 1)


def test_lanes_of_two_directions_and_of_other_pairs_are_others():
    class Both(Service):
        def start(self):
            for to in ("a", "b", "c"):
                self.send(to, Part("1", "x"))
                self.send(to, Part("2", "x"))

        @on(Part)
        def take(self, part):
            pass

    nodes = {"a": Both(), "b": Both(), "c": Idle()}
    world = World.initial(System(nodes, network="lanes"))
    assert len(world.enabled()) == 6
    assert check(System(nodes, network="lanes")).unique == 3**6


# -- what is refused -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Broken:
    n: int

    @property
    def lane(self):
        return self.number  # there is no such field


@dataclass(frozen=True)
class Named:
    names: frozenset[str]

    @property
    def lane(self):
        return next(iter(self.names))


class Teller(Service):
    message: Any = None

    def start(self):
        self.send("b", self.message)


def told(message):
    return System({"a": Teller(message=message), "b": Idle()}, network="lanes")


def test_a_property_that_raises_is_no_datagram():
    with pytest.raises(BadLane, match=r"test_lane.py:\d+.*`Broken` raised AttributeError"):
        check(told(Broken(1)))
    with pytest.raises(BadLane):
        World.initial(told(Broken(1)))


def test_a_lane_that_cannot_be_state_is_named():
    with pytest.raises(NotState, match="message Locked: lane"):
        check(told(Locked(1)))


@dataclass(frozen=True)
class Locked:
    n: int

    def lane(self):
        return self.n


def test_a_lane_that_depends_on_the_order_of_a_set_is_refused():
    with pytest.raises(Nondeterminism, match="the lane of a `Named`"):
        check(told(Named(frozenset({"x", "y", "z"}))))


def test_what_has_no_lane_is_a_datagram():
    assert lane_of(3) is None and lane_of("text") is None and lane_of(Part) is None


def test_other_networks_ask_for_no_lane():
    nodes = {"a": Teller(message=Broken(1)), "b": Idle()}
    assert check(System(nodes), keep_going=True).unique == 2


def test_filters_of_deliveries_and_live_nodes_are_refused():
    laned = system(Part("1", "x"))
    saved = World.initial(laned).save()
    with pytest.raises(BadSystem, match="a filter of deliveries"):
        begun_in(laned, saved, filters=[Filter("b", "deliver", "Part")])
    with pytest.raises(BadSystem, match="cannot run live"):
        laned.live()


@dataclass(frozen=True)
class Ranked:
    about: str

    @property
    def lane(self):
        return "first" if self.about == "n0" else "later"


class Peer(Service):
    def start(self):
        self.send("hub", Ranked(self.name))


class Hub(Service):
    @on(Ranked)
    def take(self, message):
        pass


def test_interchangeable_nodes_have_lanes_with_their_names_exchanged():
    nodes = {"n0": Peer(), "n1": Peer(), "hub": Hub()}
    ranked = System(nodes, network="lanes", symmetric=[["n0", "n1"]])
    with pytest.raises(NotSymmetric, match="the lane of a `Ranked`"):
        check(ranked, symmetry=True)


def test_fingerprints_are_those_of_the_networks_that_lanes_generalise():
    def fingerprint(network, *parts):
        nodes = {"a": Sender(sends=()), "b": Sender()}
        world = World.initial(System(nodes, network=network))
        for part in parts:
            world._transport.network.send(world._envelope(0, 1, part))
        return world.fingerprint

    laned, alone = (Part("1", "x"), Part("2", "x")), (Part("1"), Part("2"))
    assert fingerprint("lanes", *laned) == fingerprint("ordered", *laned)
    assert fingerprint("lanes", *laned) != fingerprint("lanes", *reversed(laned))
    assert fingerprint("lanes", *alone) == fingerprint("unordered", *alone)
    assert fingerprint("lanes", *alone) == fingerprint("lanes", *reversed(alone))
