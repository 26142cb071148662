"""Classes of executions of services, counted one by one: written from the rules, on plain states.

For systems whose messages are unordered and never lost, without faults of nodes. Two steps are
dependent if they happen at one node, if both may record, or if one may send the very copy that the
other takes. "May": whatever its choice.
"""

from collections import Counter
from typing import NamedTuple

from reference.explorer import Explorer
from reference.plain import State, TooLarge, local


class Did(NamedTuple):
    """One step of an execution."""

    name: tuple  # its process, the how manieth step of it, what it was, its choice
    node: int
    records: bool  # for some choice
    sends: dict  # message -> from which of its copies on, up to which
    takes: tuple | None  # message, and which of its copies


class Classes(Explorer):
    """Follows every execution to its end."""

    def __init__(self, system, most):
        super().__init__(system)
        self.most, self.ended, self.classes = most, 0, set()

    def explore_all(self):
        """The number of executions, and of classes."""
        for state in self.beginnings():
            sent = Counter(map(self.encode, state.flying))
            self.follow(state, sent, Counter(), ())
        return self.ended, len(self.classes)

    def beginnings(self):
        self.begin()
        return [state for state, _key in self.level]

    def follow(self, state, sent, taken, done):
        steps = [step for process in self.processes(state) for step in self.ways(state, *process)]
        if not steps:
            self.ended += 1
            self.classes.add(class_of(done))
            if self.ended > self.most:
                raise TooLarge
        for process, name, node, outcome, union in steps:
            records, most = union
            place = sum(did.name[0] == process for did in done)
            sends = {m: (sent[m] + 1, sent[m] + times) for m, times in most.items()}
            message = process[1] if process[0] == "message" else None
            takes = (message, taken[message] + 1) if message else None
            did = Did((process, place, name), node, records, sends, takes)
            rest = state
            if message:
                at = list(map(self.encode, state.flying)).index(message)
                rest = state._replace(flying=state.flying[:at] + state.flying[at + 1 :])
            new = self.after(rest, node, outcome)
            sends = Counter(self.encode((node, to, body)) for to, body in outcome.sends)
            self.follow(new, sent + sends, taken + Counter([message]), (*done, did))

    def processes(self, state: State):
        """Each node for what it starts by itself, and each message, its copies together."""
        for at, automaton in enumerate(self.system.automata):
            stimuli = [s for s, fault in automaton.stimuli(state.nodes[at]) if fault is None]
            yield ("node", at), at, stimuli
        for source, to, body in {self.encode(e): e for e in state.flying}.values():
            message = ("message", self.encode((source, to, body)))
            yield message, to, [("deliver", source, body)]

    def ways(self, state, process, node, stimuli):
        """Every way in which a process can step."""
        automaton, ways, most, records = self.system.automata[node], [], Counter(), False
        before = self.encode(local(automaton, state.nodes[node]))
        for number, stimulus in enumerate(stimuli):
            for choice, outcome in enumerate(self.runs(automaton, state.nodes[node], stimulus)):
                changes = self.encode(local(automaton, outcome.values)) != before
                idle = not (changes or outcome.sends or outcome.records)
                if idle and (process[0] == "node" or self.system.skip_noops):
                    continue
                most |= Counter(self.encode((node, to, body)) for to, body in outcome.sends)
                records |= bool(outcome.records)
                ways.append((process, (number, choice), node, outcome))
        return [(*way, (records, most)) for way in ways]


def dependent(one: Did, other: Did) -> bool:
    feeds = any(
        later.takes and first <= later.takes[1] <= last
        for early, later in [(one, other), (other, one)]
        for message, (first, last) in early.sends.items()
        if later.takes and later.takes[0] == message
    )
    together = one.node == other.node or (one.records and other.records)
    return together or feeds or one.name[0] == other.name[0]


def class_of(done):
    """The same for executions that differ only in the order of independent steps."""
    pairs = ((a, b) for at, b in enumerate(done) for a in done[:at] if dependent(a, b))
    return frozenset(did.name for did in done), frozenset((a.name, b.name) for a, b in pairs)


def count_classes(system, most=1_000):
    """The executions of a system, and how many classes they make."""
    return Classes(system, most).explore_all()
