"""Rules against brute force, on random systems: which pairs they are asked of, and what is wrong.

The reference explorer meets every state; two messages are a pair if one state has both in flight
to one node that is up and lets both in. Both orders are run there without the kernel.
"""

from itertools import combinations, count

import pytest
from reference.batches import batches
from reference.explorer import Explorer
from reference.plain import TooLarge, local
from reference.random_events import lively_system
from reference.random_notices import noticed_lively_system

from presage import Rules, check
from presage.errors import WrongRule
from presage.model.world.rules import checked_rules

STATES_MAX = 150
FIRST, NEXT = 3, 6  # systems of the first batch, and of each later one
WRONG_PER_TEST = 1
UP = 1
FIELDS = ("a", "kept", "fuel", "bag")
HOW = {"traces": None, "keep_going": True, "liveness": "rest"}


class Pairs(Explorer):
    """Collects the pairs of every state, and those whose orders end differently."""

    def __init__(self, system):
        super().__init__(system)
        self.pairs, self.apart = set(), set()

    def meet(self, state, length):
        known = len(self.seen)
        key = super().meet(state, length)
        if len(self.seen) > known:
            for to, automaton in enumerate(self.system.automata):
                if state.nodes[to][0][0] == UP:
                    self.add(state, automaton, self.arriving(state, to))
        return key

    def arriving(self, state, to):
        found = {}
        for source, receiver, message in state.flying:
            first = not (self.system.network == "ordered" and any(s == source for s, _ in found))
            if receiver == to and first:
                found[source, self.encode(message)] = (source, message)
        return list(found.values())

    def add(self, state, automaton, arriving):
        values = state.nodes[automaton.index]
        open_to = [m for m in arriving if self.runs(automaton, values, ("deliver", *m))]
        for one, other in combinations(open_to, 2):
            shown = frozenset(self.encode(m) for m in (one, other))
            a, kept, fuel, bag = (values[automaton.positions[f]] for f in FIELDS)
            fields = (a, kept, fuel, frozenset(bag))
            pair = (automaton.name, self.encode(local(automaton, values)), fields, shown)
            self.pairs.add(pair)
            ends = [self.ends(state, automaton, *order) for order in ((one, other), (other, one))]
            if None in ends or ends[0] != ends[1]:
                self.apart.add(pair)

    def ends(self, state, automaton, one, other):
        """Every state that this order leads to, deliveries aside; None if `other` is kept out."""
        found = set()
        at = automaton.index
        empty = state._replace(flying=())
        for early in self.runs(automaton, state.nodes[at], ("deliver", *one)):
            late_runs = self.runs(automaton, early.values, ("deliver", *other))
            if not late_runs:
                return None
            for late in late_runs:
                end = self.after(self.after(empty, at, early), at, late)
                found.add(self.form(automaton, end))
        return frozenset(found)

    def form(self, automaton, state):
        flying = state.flying
        if self.system.network != "ordered":
            flying = sorted(flying, key=self.encode)
        else:
            flying = sorted(flying, key=lambda envelope: envelope[1])
        values = local(automaton, state.nodes[automaton.index])
        return self.encode((values, state.observers, list(flying)))


def compare(system, rules_of):
    """Whether anything was compared, and whether some orders end differently."""
    reference = Pairs(system)
    try:
        reference.explore(STATES_MAX)
    except TooLarge:
        return False, False
    asked = set()

    def note(node, one, other):
        index, encode = system.index, system.codec.encode
        shown = frozenset(encode((index(m.source), m.message)) for m in (one, other))
        fields = (node.a, node.kept, node.fuel, frozenset(node.bag))
        asked.add((node.name, fields, shown))
        return False

    rules_of(note)
    report = check(system, **HOW)
    assert report.exhausted
    assert asked == {(name, fields, shown) for name, _, fields, shown in reference.pairs}
    commuting = len(reference.pairs) - len(reference.apart)
    said = next(text for text in report.notes if text.startswith("rules"))
    counted = int(said.split(" of ")[1].split()[0].replace(",", ""))
    if not system.observers:
        assert counted == commuting
    assert counted <= commuting
    rules_of(lambda node, one, other: True)
    try:
        check(system, **HOW)
    except WrongRule:
        assert reference.apart
    else:
        assert not reference.apart
    return bool(reference.pairs), bool(reference.apart)


@pytest.mark.parametrize("make", [lively_system, noticed_lively_system])
@pytest.mark.parametrize("batch", batches(1, 4))
def test_rules_are_asked_of_every_pair_and_refused_where_orders_differ(batch, make):
    compared = wrong = 0
    for seed in count(700_000 + batch * 10_000):
        system = make(seed)

        def rules_of(predicate, system=system):
            system.rules = checked_rules([Rules(independent=predicate)], system)

        try:
            met, apart = compare(system, rules_of)
        except AssertionError as error:
            raise AssertionError(f"{make.__name__}({seed}): {error}") from error
        compared += met
        wrong += apart
        if compared >= (NEXT if batch else FIRST) and wrong >= WRONG_PER_TEST:
            assert wrong < compared
            return
