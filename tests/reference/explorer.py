"""The reference: explore a system breadth first, in plain Python, as slowly and plainly as it gets.

No memo, no interning, no fingerprints: a state is tuples of values, and its key the canonical form
of all of it. What the kernel finds is compared with what is found here.
"""

from copy import deepcopy

from reference import sealed, wire
from reference.plain import (
    Result,
    State,
    TooLarge,
    channel,
    is_laned,
    key_of,
    local,
    lone_view,
    view,
)

from presage.model.choice import Fork
from presage.model.service.down import Down

DROP, DUPLICATE = 2, 3  # faults, by their index in the budgets; see also `wire`


class Explorer:
    def __init__(self, system):
        self.system, self.encode = system, system.codec.encode
        self.decided, self.seen, self.level = {}, set(), []

    def runs(self, automaton, values, stimulus, held=None, choices=()):
        """The outcomes of a step for every list of choices; ghosts start from their defaults."""
        born = automaton.initial()
        values = [born[at] if at in automaton.ghosts else value for at, value in enumerate(values)]
        outcome = automaton.step(values, stimulus, choices, held or {})
        if not isinstance(outcome, Fork):
            return [] if outcome is None else [outcome]
        branches = ((*choices, k) for k in range(outcome.n))
        return [o for e in branches for o in self.runs(automaton, values, stimulus, held, e)]

    def after(self, state, node, outcome):
        """The state once `node` has done what `outcome` says."""
        flying, observers = list(state.flying), deepcopy(state.observers)
        for envelope in ((node, to, message) for to, message in outcome.sends):
            once = self.system.network == "duplicating"
            if not once or self.encode(envelope) not in map(self.encode, flying):
                flying.append(envelope)
        for record in outcome.records:
            pairs = zip(self.system.observers.values(), observers, strict=True)
            observers = tuple(o.observe(s, self.system.names[node], record) for o, s in pairs)
        nodes = (*state.nodes[:node], outcome.values, *state.nodes[node + 1 :])
        state = state._replace(nodes=nodes, observers=observers, flying=tuple(flying))
        return wire.flown(state, node, outcome) if outcome.flows else state

    def notices(self, crashed):
        """What the crash of a node tells the others, as far as they want to know."""
        if not self.system.faults.notices:
            return []
        hearing = [each for each in self.system.automata if Down in each.shape.handlers]
        told = Down(self.system.names[crashed])
        return [(each.index, told) for each in hearing if each.index != crashed]

    def successors(self, state):
        """(next state, the fault that led there or None, acting node or None, outcome or None)."""
        return sealed.let(self.system, state, self.listed(state))

    def listed(self, state):
        """The same, with what happened, if nothing were sealed: (..., (kind, node, stimulus))."""
        for at, automaton in enumerate(self.system.automata):
            for stimulus, fault in automaton.stimuli(deepcopy(state.nodes[at])):
                clocks = self.system.clocks
                due = clocks is None or clocks.due(state.observers[-1], at, stimulus)
                if due and (fault is None or state.budgets[fault] > 0):
                    base = wire.struck(state, at, fault)
                    held = wire.held(base, at)
                    for outcome in self.runs(automaton, state.nodes[at], stimulus, held):
                        if stimulus[0] == "crash":
                            outcome = outcome._replace(sends=self.notices(at))
                        event = (stimulus[0], at, stimulus)
                        yield self.after(base, at, outcome), fault, at, outcome, event
        met = []
        for at, (source, to, message) in enumerate(state.flying):
            what = channel(self.system, state.flying[at])
            if what not in met:  # equal copies count once; in a channel, only the first is next
                yield from self.mail(state, at, source, to, message)
            met.append(what)
        for kind, at, source, message, base in wire.received(self.system, state):
            stimulus, held = ("deliver", source, message), wire.held(base, at)
            for outcome in self.runs(self.system.automata[at], state.nodes[at], stimulus, held):
                event = (kind, at, (source, at, message))
                yield self.after(base, at, outcome), None, at, outcome, event
        for new, fault in wire.mishaps(self.system, state):
            yield new, fault, None, None, None

    def mail(self, state, at, source, to, message):
        """What can happen to the message at position `at`."""
        automaton, flying = self.system.automata[to], state.flying
        rest = state._replace(flying=flying[:at] + flying[at + 1 :])
        base = state if self.system.network == "duplicating" else rest
        before = self.encode(local(automaton, state.nodes[to]))
        joined, stimulus = wire.joined(self.system, state, source, to), ("deliver", source, message)
        held, laned = wire.held(state, to), is_laned(self.system, message)
        for outcome in self.runs(automaton, state.nodes[to], stimulus, held) if joined else ():
            changes = self.encode(local(automaton, outcome.values)) != before
            emits = outcome.sends or outcome.records or outcome.flows
            lost = state.nodes[to][0][0] != 1 and self.system.network != "duplicating"
            if changes or emits or lost or laned or not self.system.skip_noops:
                event = ("deliver", to, (source, to, message))
                yield self.after(base, to, outcome), None, to, outcome, event
        if isinstance(message, Down) or laned:
            return
        if state.budgets[DROP] > 0:
            yield rest.spend(DROP), DROP, None, None, None
        if state.budgets[DUPLICATE] > 0:
            twice = state._replace(flying=flying[:at] + flying[at : at + 1] + flying[at:])
            yield twice.spend(DUPLICATE), DUPLICATE, None, None, None

    def judge(self, length, kinds, *seen, service=object):
        for prop in self.system.properties:
            if prop.kind in kinds and issubclass(service, prop.of or object):
                if prop.judge(*seen).holds == (prop.kind == "sometimes"):
                    self.decided.setdefault(prop.name, length)  # breadth first: shortest first

    def judge_step(self, length, node, before, outcome, fault):
        if outcome.failure:
            self.decided.setdefault("no_exception", length)
        runs = {before[0][0], outcome.values[0][0]} <= {1, 3}  # up, be it slowly
        if runs and fault not in (wire.RESET, wire.SILENT):
            automaton = self.system.automata[node]
            pair = [lone_view(automaton, values) for values in (before, outcome.values)]
            self.judge(length, ["step"], *pair, service=automaton.service)

    def meet(self, state, length):
        key = key_of(self.system, state)
        if key not in self.seen:
            self.seen.add(key)
            self.judge(length, ["always", "sometimes"], view(self.system, state))
            self.level.append((state, key))
        return key

    def begin(self):
        """Meet every combination of the branches of the nodes' starts; how many there are."""
        born = tuple(automaton.initial() for automaton in self.system.automata)
        first = State(born, tuple(self.system.observed()), self.system.faults.budgets, ())
        begun = [(first, False)]
        for at, automaton in enumerate(self.system.automata):
            runs = self.runs(automaton, born[at], ("start",))
            begun = [(self.after(s, at, o), bad or o.failure) for s, bad in begun for o in runs]
        for state, failed in begun:
            self.meet(state, 0)
            self.decided.update({"no_exception": 0} if failed else {})
        return len(begun)

    def explore(self, most):
        generated, length = self.begin(), 0
        while self.level:
            length += 1
            level, self.level = self.level, []
            for state, key in level:
                at_rest = True
                for new, fault, node, outcome in self.successors(state):
                    generated += 1
                    at_rest &= self.meet(new, length) == key or fault is not None
                    if outcome is not None:
                        self.judge_step(length, node, state.nodes[node], outcome, fault)
                if at_rest:
                    self.judge(length - 1, ["eventually", "deadlock"], view(self.system, state))
                if len(self.seen) > most:
                    raise TooLarge
        return Result(len(self.seen), generated, length, self.decided)


def explore(system, most=1_000_000):
    """Explore all of `system`; raises `TooLarge` beyond `most` states."""
    return Explorer(system).explore(most)
