"""Faults left out as like others, on random systems: never a state or violation that is not there.

Also: nothing is lost where nothing is left out, nor where nodes are interchangeable.
"""

import random
import weakref
from collections import Counter
from copy import copy
from itertools import count, islice

import pytest
from reference.batches import batches
from reference.random_features import featured_system
from reference.random_notices import noticed_symmetric_system
from reference.random_systems import random_system
from reference.symmetric_features import keeping_system
from reference.symmetric_systems import symmetric_system

from presage import Delay, Faults, Service, System, check
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.model.service.declare import action, durable, on
from presage.props.property import always
from presage.search.check import build
from presage.search.kernel.bridge import Bridge

SKIP = "symmetric-faults"
STATES_MIN, STATES_MAX = 8, 100
FIRST, NEXT = 2, 5  # systems of the first batch, and of each later one
SYSTEMS_MAX = 50  # until one is met in which something is left out
SCHEDULERS = ("rtc", "rr", "random")


def wanted(batch):
    return NEXT if batch else FIRST


def with_states(system):
    """The same system, and a set that a property of it fills with the states that are judged."""
    states, encode = set(), system.codec.encode
    met = weakref.ref(states)  # or the search would find that a property keeps something

    def everything(world):
        reader = world._reader
        parts = [reader.messages(None)]
        for node in system.automata:
            parts.append(reader.control(node.index)[:3])
            own = (at for at in range(1, len(node.fields) + 1) if at not in node.ghosts)
            parts.append([reader.value(node.index, at) for at in own])
        parts.append([reader.observer(at) for at in range(len(system.observers))])
        met().add(encode(parts))
        return True

    watched = copy(system)
    watched.properties = (*system.properties, always(everything))
    return watched, states


def searched(system, **how):
    watched, states = with_states(system)
    report = check(watched, keep_going=True, traces=None, liveness="rest", **how)
    return report, states


def broken(report):
    return {found.prop for found in report.violations if found.kind != "unreached"}


def small(make, first, faults):
    """(seed, system, what `bfs` says, its states) of systems that end and have these faults."""
    for seed in count(first):
        system = make(seed)
        if not any(getattr(system.faults, fault) for fault in faults):
            continue
        if not ends(system):
            continue
        report, states = searched(system, threads=1)
        if report.exhausted:  # its code does not depend on the order of a set
            yield seed, system, report, states


def ends(system):
    with Sandbox() as sandbox:
        kernel = build(system, Bridge(system, sandbox))
        outcome = kernel.search("bfs", Limits(keep_going=True, states=STATES_MAX))
        return outcome.stopped_by is None and outcome.unique > STATES_MIN


def kinds():
    yield random_system
    yield lambda seed: random_system(seed, wired=True)
    yield lambda seed: featured_system(seed, wired=seed % 2 == 1)


def prices(seed, number):
    pick = random.Random(seed)
    fault = pick.randrange(3)
    return Delay(SCHEDULERS[number % 3], fault_delays=fault, choice_delays=pick.randrange(2))


@pytest.mark.parametrize("batch", batches(1, 6))
def test_what_is_met_and_found_is_there(batch):
    outcomes = Counter()
    for make in kinds():
        systems = small(make, 30_000 + batch * 10_000, ("crash",))
        for number, (seed, system, breadth, states) in enumerate(islice(systems, wanted(batch))):
            how = {"search": "delay", "delay": prices(seed, number), "audit": 20 * (number % 3)}
            report, met = searched(system, skip=SKIP, **how)
            assert met <= states, seed
            assert report.unique <= breadth.unique
            # Each was replayed on live code, or it would not be reported.
            assert broken(report) <= broken(breadth), seed
            lost = report.skipped.skipped > 0
            outcomes[lost, report.unique < breadth.unique] += 1
            if lost:
                assert not report.exhausted and report.is_partial
                assert "held" not in report.properties.values()
                assert "exhaustively" not in str(report) and " held" not in str(report)
            else:
                assert report.exhausted
                assert (report.unique, met) == (breadth.unique, states), seed
                assert report.properties == breadth.properties
    assert outcomes[False, True] == 0
    assert outcomes[True, True] > 0  # something was left out, and something was missed by it


@pytest.mark.parametrize("batch", batches(1, 4))
def test_walks_meet_and_find_what_is_there_whatever_the_threads(batch):
    skipped = 0
    for make in kinds():
        systems = small(make, 200_000 + batch * 10_000, ("crash",))
        for seed, system, breadth, states in islice(systems, 2 if batch else 1):
            how = {"search": "walk", "skip": SKIP, "walks": 30, "depth": 30}
            report, met = searched(system, **how)
            assert met <= states and broken(report) <= broken(breadth), seed
            again, twice = searched(system, threads=3, **how)
            assert (met, report.skipped, report.generated) == (
                twice,
                again.skipped,
                again.generated,
            )
            assert not report.exhausted
            if report.skipped.skipped:
                skipped += 1
                assert "held" not in report.properties.values()
    assert skipped


class Scribe(Service):
    """Writes down all that happens to it, so that what is in flight follows from what nodes know.

    What recovery depends on is all of that, and the name: no two states are alike.
    """

    peers: tuple[str, ...]
    table: tuple[int, ...]
    log: tuple = durable(())

    def note(self, what, number):
        to = self.peers[self.table[number % len(self.table)] % len(self.peers)]
        sends = len(self.log) < 3 and self.table[(number + 1) % len(self.table)] < 3
        self.log += ((what, number, to if sends else None),)
        if sends:
            self.send(to, number + 1)

    @on(int)
    def hear(self, number, source):
        self.note(source, number)

    @action(when=lambda self: len(self.log) < 1)
    def begin(self):
        self.note("", self.table[0])

    def recovery(self):
        return (self.name, self.log)


@pytest.mark.parametrize("batch", batches(1, 6))
def test_nothing_is_left_out_where_roles_say_everything(batch):
    for seed in range(batch * 1_000, batch * 1_000 + 12):
        pick = random.Random(seed)
        names = ("a", "b", "c")[: pick.choice((2, 3))]
        nodes = {
            name: Scribe(
                peers=tuple(other for other in names if other != name),
                table=tuple(pick.randrange(5) for _ in range(4)),
            )
            for name in names
        }
        system = System(nodes, faults=Faults(crash=1))
        breadth, states = searched(system)
        report, met = searched(system, search="delay", skip=SKIP, delay=prices(seed, seed))
        assert report.skipped.places > 0 and report.skipped.skipped == 0
        assert report.exhausted and (report.unique, met) == (breadth.unique, states), seed


def images(system, **how):
    """What `check` says, and the states judged: those met, and all that exchanges make of them."""
    report, met = searched(system, symmetry=True, **how)
    assert report.exhausted
    return report, met


@pytest.mark.parametrize("batch", batches(1, 8))
@pytest.mark.parametrize("make", [symmetric_system, keeping_system])
def test_faults_compared_up_to_an_exchange_of_nodes_miss_no_state(batch, make):
    compare_exchanged(batch, make)


@pytest.mark.parametrize("batch", batches(0, 2))
def test_nor_do_they_where_nodes_hear_of_crashes(batch):
    compare_exchanged(batch, noticed_symmetric_system)


def compare_exchanged(batch, make):
    fewer = 0
    systems = small(make, 300_000 + batch * 10_000, ("crash", "drop", "reset", "slow"))
    for number, (seed, system, breadth, states) in enumerate(islice(systems, SYSTEMS_MAX)):
        if number >= wanted(batch) and fewer:
            break
        how = {"search": "delay", "skip": SKIP, "delay": prices(seed, number)}
        orbits, expected = images(system)
        report, met = images(system, **how)
        assert met == expected == states, seed
        assert orbits.unique <= report.unique <= breadth.unique
        assert report.properties == orbits.properties == breadth.properties
        assert broken(report) == broken(breadth)
        assert (report.unique < breadth.unique) <= (report.skipped.skipped > 0)
        fewer += report.unique < breadth.unique
    assert fewer > 0
