"""Saved states for the reference explorer, filters and nodes outside, with the rules as told.

A filter replaces a delivery by the loss of the message, a reception by the break of the
connection, if that is open at both ends; else the message waits. A timer or an action that it
refuses does not happen. What a node sends to one outside is
gone, and nodes outside do nothing.
"""

import random

from reference import wire
from reference.explorer import DUPLICATE, Explorer
from reference.plain import Result, State, TooLarge, key_of, view

from presage.model.world.filters import Filter
from presage.model.world.view import Outside
from presage.model.world.world import World


def plain_state(system, saved):
    """A snapshot in the reference's own terms."""
    decode = system.codec.decode
    network = saved.transport.network
    if system.network in ("ordered", "lanes"):
        network = [each for _, channel in network for each in channel]
    queues, opened, errors = saved.transport.streams
    lines = {end: [("message", decode(each.encoded)[2]) for each in q] for end, q in queues}
    for node, peer in errors:
        lines.setdefault((peer, node), []).insert(0, wire.ERROR)
    return State(
        tuple([decode(value) for value in local] for local in saved.locals),
        tuple(decode(state) for state in saved.observers),
        saved.budgets,
        tuple(decode(each.encoded) for each in network),
        (tuple((pair, tuple(items)) for pair, items in sorted(lines.items())), opened),
        saved.transport.partition,
    )


class OriginExplorer(Explorer):
    """Explores `system` from the state it begins in; filters and outside are given apart."""

    def __init__(self, system, filters=(), outside=()):
        super().__init__(system)
        self.filters, self.beyond = filters, {system.index(name) for name in outside}

    def begin(self):
        self.meet(plain_state(self.system, self.system.origin.snapshot), 0)
        return 1

    def runs(self, automaton, *step, **more):
        if automaton.index in self.beyond:
            return []
        found = super().runs(automaton, *step, **more)
        return [
            outcome._replace(
                sends=[each for each in outcome.sends if each[0] not in self.beyond],
                flows=[flow for flow in outcome.flows if flow.peer not in self.beyond],
            )
            for outcome in found
        ]

    def notices(self, crashed):
        return [each for each in super().notices(crashed) if each[0] not in self.beyond]

    def judge(self, length, kinds, *seen, service=object):
        whole = list(self.system.properties)
        for prop in whole:
            self.system.properties = (prop,)
            try:
                super().judge(length, kinds, *seen, service=service)
            except Outside:
                continue
            finally:
                self.system.properties = tuple(whole)

    def refused(self, kind, node, name, source=None):
        names = self.system.names
        found = [each for each in self.filters if (each.node, each.kind) == (names[node], kind)]
        if source is None:
            return any(each.name == name for each in found)
        sent = [each for each in found if each.source in (None, names[source]) and source != node]
        return any(each.name == name for each in sent)

    def mail(self, state, at, source, to, message):
        found = list(super().mail(state, at, source, to, message))
        arrives = any(event is not None for *_, event in found)
        if not arrives or not self.refused("deliver", to, type(message).__name__, source):
            yield from found
            return
        flying = state.flying[:at] + state.flying[at + 1 :]
        yield state._replace(flying=flying), None, None, None, None
        yield from (each for each in found if each[1] == DUPLICATE)

    def listed(self, state):
        found, broken = list(super().listed(state)), {}
        for *_, event in found:
            kind, node, what = event or ("", 0, ())
            if kind == "receive" and self.refused(kind, node, type(what[2]).__name__, what[0]):
                opened = wire.Lines(state).open
                if {(node, what[0]), (what[0], node)} <= set(opened):
                    broken[frozenset((node, what[0]))] = self.cut(state, node, what[0])
        spent = [key_of(self.system, each.spend(wire.CUT)) for each in broken.values()]
        yield from ((new, None, None, None, None) for new in broken.values())
        for each in found:
            new, fault, *_, event = each
            kind, node, what = event or ("", 0, ())
            if kind == "receive" and self.refused(kind, node, type(what[2]).__name__, what[0]):
                continue
            if kind in ("timer", "action") and self.refused(kind, node, what[1]):
                continue
            if fault == wire.CUT and key_of(self.system, new) in spent:
                continue
            yield each

    @staticmethod
    def cut(state, x, y):
        lines = wire.Lines(state)
        for a, b in ((x, y), (y, x)):
            lines.queues[a, b] = []
            lines.open -= {(a, b)}
        lines.fail(x, y)
        lines.fail(y, x)
        return lines.state(state)

    def explore(self, most):
        """As without filters; rest is not judged where some nodes are outside."""
        generated, length = self.begin(), 0
        while self.level:
            length += 1
            level, self.level = self.level, []
            for state, key in level:
                at_rest = not self.beyond
                for new, fault, node, outcome, *_ in self.listed(state):
                    generated += 1
                    at_rest &= self.meet(new, length) == key or fault is not None
                    if outcome is not None:
                        self.judge_step(length, node, state.nodes[node], outcome, fault)
                if at_rest:
                    kinds = ["eventually", "deadlock"]
                    self.judge(length - 1, kinds, view(self.system, state))
                if len(self.seen) > most:
                    raise TooLarge
        return Result(len(self.seen), generated, length, self.decided)


def walked(system, seed, most=6):
    """A snapshot of `system` after a few random steps."""
    dice = random.Random(seed)
    choices = ()
    for automaton in system.automata:
        runs = automaton.branches(automaton.initial, ("start",), held={})
        choices += tuple(k for k, _ in dice.choice(runs).choices)
    world = World.initial(system, choices)
    for _ in range(dice.randrange(most + 1)):
        moves = [(event, runs) for event in world.enabled() for runs in world.runs(event)]
        if not moves:
            break
        world.apply(*dice.choice(moves))
    return world.save()


def some_filters(system, seed):
    """A few filters that may matter."""
    dice, names = random.Random(seed), system.names
    kinds = [("deliver", n) for n in ("Ping", "Note", "Flag")]
    kinds += [("receive", n) for n in ("Ping", "Note", "Flag", "Connect")]
    kinds += [("timer", "once"), ("timer", "beat"), ("action", "nudge"), ("action", "poke")]
    found = []
    for kind, name in dice.sample(kinds, 5):
        source = dice.choice([None, *names]) if kind in ("deliver", "receive") else None
        nodes = names if dice.randrange(2) else [dice.choice(names)]
        found += [Filter(node, kind, name, source) for node in nodes]
    return tuple(found)
