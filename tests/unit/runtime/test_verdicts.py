"""Verdicts from a few local states agree with the properties themselves."""

import random
from copy import copy

import pytest
from reference.random_events import lively_system

from presage import Service, System, always, on, step
from presage.model.world.snapshot import SnapshotReader
from presage.model.world.view import Outside, WorldView
from presage.model.world.world import World
from presage.runtime import verdicts
from presage.runtime.verdicts import Verdicts


class _Partly(SnapshotReader):
    """A plain reader that says when it is asked for what the trie may not know."""

    def __init__(self, system, saved, hidden):
        super().__init__(system, saved)
        self.hidden = hidden
        self.unknown = False

    def control(self, node):
        self.unknown |= node in self.hidden
        return super().control(node)

    def value(self, node, position):
        self.unknown |= node in self.hidden
        return super().value(node, position)

    def _between(name):
        def read(self, *args):
            self.unknown = True
            return getattr(super(), name)(*args)

        return read

    messages, observer = _between("messages"), _between("observer")
    partition, connection = _between("partition"), _between("connection")


def plainly(system, saved, hidden):
    """The `always` properties that are broken, each asked anew."""
    found = set()
    partly = copy(system)
    partly.outside = tuple(system.names[at] for at in hidden)
    partly.automata = partly.automata_of()
    for prop in system.properties:
        reader = _Partly(system, saved, hidden)
        try:
            holds = prop.kind != "always" or prop.judge(WorldView(partly, reader)).holds
        except Outside:
            continue
        if not holds and not reader.unknown:
            found.add(prop.name)
    return found


@pytest.mark.parametrize("batch", range(4))
def test_a_remembered_verdict_is_the_one_that_asking_again_gives(batch):
    compared = 0
    for seed in range(batch * 25, batch * 25 + 25):
        system, chance = lively_system(seed), random.Random(seed)
        kept = Verdicts(system)
        for _ in range(4):
            world = World.initial(system, ()) if not _chooses(system) else None
            if world is None:
                break
            for _ in range(12):
                events = [(event, runs) for event in world.enabled() if (runs := world.runs(event))]
                if not events:
                    break
                event, runs = chance.choice(events)
                world.apply(event, chance.choice(runs))
                saved = world.save()
                hidden = {at for at in range(len(system.names)) if chance.random() < 0.2}
                known = [None if at in hidden else each for at, each in enumerate(saved.locals)]
                told = {broken.prop for broken in kept.broken(known)}
                assert told == plainly(system, saved, hidden), (seed, hidden)
                compared += 1
    assert compared > 100


def _chooses(system):
    try:
        World.initial(system, ())
    except Exception:
        return True
    return False


class Node(Service):
    value: int = 0

    @on(int)
    def add(self, number: int) -> None:
        self.value += number


asked = []


@always
def small(world):
    asked.append("small")
    return world["a"].value + world["b"].value < 3


@always
def few(world):
    return sum(node.value for node in world.nodes) <= 5


@step
def grows(before, after):
    return after.value >= before.value


def system():
    return System({"a": Node(), "b": Node()}, properties=[small, grows])


def local(system, value):
    return tuple(map(system.codec.encode, [(1, 0, frozenset(), None), value]))


def test_a_predicate_runs_once_for_what_it_reads_and_says_where_it_looked():
    made = system()
    kept, two, one = Verdicts(made), local(made, 2), local(made, 1)
    asked.clear()
    for _ in range(3):
        [broken] = kept.broken([two, one])
        assert (broken.prop, broken.nodes) == ("small", {0, 1})
        assert kept.broken([one, one]) == []
        assert kept.broken([one, None]) == []
    assert len(asked) == 3


def test_a_full_trie_begins_anew(monkeypatch):
    monkeypatch.setattr(verdicts, "FILED_MAX", 10)
    made = system()
    kept = Verdicts(made)
    for _ in range(2):
        for value in range(20):
            states = [local(made, value), local(made, 0)]
            assert bool(kept.broken(states)) == (value >= 3)


def test_what_is_kept_has_a_bound_however_many_values_and_neighbourhoods_there_are(monkeypatch):
    monkeypatch.setattr(verdicts, "FILED_MAX", 100)
    made = system()
    kept, most = Verdicts(made), 0
    for value in range(500):
        states = [local(made, value), local(made, value % 7)]
        states[value % 3 : value % 3 + 1] = [None]
        kept.broken(states[:2])
        most = max(most, kept.filed)
    assert 50 < most <= 100


def test_neighbourhoods_share_what_the_nodes_look_like():
    names = [f"n{at}" for at in range(12)]
    made = System({name: Node() for name in names}, properties=[few, grows])
    kept, chance = Verdicts(made), random.Random(1)
    for _ in range(200):
        known = [local(made, 1) if chance.random() < 0.5 else None for _ in names]
        many = sum(each is not None for each in known) > 5
        assert bool(kept.broken(known)) == many
    assert len(kept._groups) == verdicts.GROUPS_MAX
    assert len({id(trie._system) for tries in kept._groups.values() for trie in tries}) == 1


def test_properties_of_single_steps_are_asked_about_the_step():
    made = system()
    kept, two, one = Verdicts(made), local(made, 2), local(made, 1)
    assert kept.broken_step(0, one, two) == []
    assert [each.prop for each in kept.broken_step(0, two, one)] == ["grows"]


def test_a_predicate_that_raises_is_broken():
    @always
    def fails(world):
        return 1 // world["a"].value > 0

    @step
    def too(before, after):
        return before.value // after.value

    made = System({"a": Node()}, properties=[fails, too])
    zero = local(made, 0)
    [broken] = Verdicts(made).broken([zero])
    assert "ZeroDivisionError" in broken.why
    [broken] = Verdicts(made).broken_step(0, zero, zero)
    assert (broken.prop, broken.why[:24]) == ("too", "raised ZeroDivisionError")
