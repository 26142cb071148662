"""Classes of executions, counted one by one on the live `World`: written from the rules alone.

An execution is over when nothing can happen any more, faults of nodes included. Two steps are
dependent if they meet at one node, if both are faults, if both may record, or if one may send the
very copy that the other takes. "May": whatever the process chooses. What does nothing is no step.
For systems that lose no messages.

Two steps at one node meet unless both are deliveries of which `uses(service)` says what they use:
for each kind of message, and for all that the node starts by itself (under `None`), which fields.
Then they meet if one changes what the other uses, if both change what something uses that may be
possible or not, or if both send to one place.
"""

from collections import Counter
from typing import NamedTuple

from reference.plain import TooLarge, is_laned

from presage.model.world.event import FAULT_KINDS, FAULT_OF, Deliver
from presage.model.world.faults import UNLIMITED
from presage.model.world.world import World


class Done(NamedTuple):
    """One step of an execution."""

    name: tuple  # its process, the how manieth step of it, what it was, its choices
    node: str
    fault: bool
    records: bool  # whether the process might have, here
    sends: dict  # message or channel -> from which of its copies on, up to which
    takes: tuple | None  # message or channel, and which of its copies
    touch: tuple | None  # values that it may use, those it changes, and what depends on these


class LiveClasses:
    """Follows every execution to its end."""

    def __init__(self, system, most, uses=None):
        self.system, self.most, self.uses = system, most, uses
        if system.network == "duplicating" or UNLIMITED in system.faults.budgets:
            self.uses = None
        self.ended, self.classes, self.rests = 0, set(), set()

    def explore(self):
        """The number of executions, and of classes."""
        began = set()
        for choices in self.beginnings():
            world = World.initial(self.system, choices)
            if world.fingerprint not in began:
                began.add(world.fingerprint)
                sent = Counter(map(self.key_of, world.opening.sends))
                self.follow(world, (sent, Counter()), ())
        return self.ended, len(self.classes)

    def beginnings(self):
        branches = [()]
        for automaton in self.system.automata:
            runs = automaton.branches(automaton.initial, ("start",), held={})
            branches = [(*b, *(k for k, _ in run.choices)) for b in branches for run in runs]
        return branches

    def key_of(self, mail):
        """The message, or the channel in which an envelope keeps its order."""
        to = mail.node if isinstance(mail, Deliver) else mail.to
        if self.system.network == "ordered":
            return (mail.source, to)
        if is_laned(self.system, mail.message):
            return (mail.source, to, "lane", mail.message.lane)
        return (mail.source, to, self.system.codec.encode(mail.message))

    def process_of(self, event):
        if isinstance(event, Deliver):
            return ("message", self.key_of(event))
        return ("faults" if event.kind in FAULT_KINDS else "node", event.node)

    def follow(self, world, counts, done):
        saved, processes = world.save(), {}
        for event in world.enabled():
            for number, choices in enumerate(world.runs(event)):
                step, moved, writes = self.attempt(world, event, choices)
                world.restore(saved)
                if moved or step.records or self.spends(event):
                    name = (self.system.codec.encode(str(event)), number)
                    way = (event, choices, step, name, writes)
                    processes.setdefault(self.process_of(event), []).append(way)
        if world.at_rest():
            self.rests.add(world.fingerprint)
        if not processes:
            self.end(done)
        for process, ways in processes.items():
            most = Counter()
            for _, _, step, *_ in ways:
                most |= Counter(map(self.key_of, step.sends))
            records = any(step.records for _, _, step, *_ in ways)
            touch = self.touch(ways[0][0], set().union(*(way[-1] for way in ways)))
            for event, choices, step, name, _ in ways:
                at = sum(other.name[0] == process for other in done)
                after, sends, takes = self.counted(counts, process, step, most)
                fault = process[0] == "faults"
                name = (process, at, name)
                known = Done(name, event.node, fault, records, sends, takes, touch)
                world.apply(event, choices)
                self.follow(world, after, (*done, known))
                world.restore(saved)

    def attempt(self, world, event, choices):
        """What a step does, whether it does anything, and which values of its node it changes."""
        before, index = world._key(), self.system.index(event.node)
        old = world._locals[index]
        step = world.apply(event, choices)
        new = enumerate(zip(old, world._locals[index], strict=True))
        return step, world._key() != before, {at for at, (a, b) in new if a != b}

    def touch(self, event, writes):
        """What a delivery uses and changes, by positions, if that is known; 0 is control."""
        automaton = self.system.automata[self.system.index(event.node)]
        if self.uses is None or not isinstance(event, Deliver):
            return None
        used = self.uses(automaton.service)
        if used is None:
            return None
        used = {kind: {0, *map(automaton.positions.get, used[kind])} for kind in used}
        decides = {kind for kind in used if used[kind] & writes}
        return used.get(type(event.message), {0}), writes, decides

    def spends(self, event):
        """Whether an event uses up what is limited: a budget, or a message."""
        if isinstance(event, Deliver):
            return self.system.network != "duplicating"
        fault = FAULT_OF.get(event.kind)
        return fault is not None and self.system.faults.budgets[fault] != UNLIMITED

    def counted(self, counts, process, step, most):
        """What was sent and taken after a step, and which copies it may send and takes."""
        sent, taken = counts
        sends = {key: (sent[key] + 1, sent[key] + times) for key, times in most.items()}
        now, takes = Counter(map(self.key_of, step.sends)), None
        if process[0] == "message":
            takes = (process[1], taken[process[1]] + 1)
            if self.system.network != "duplicating":
                taken = taken + Counter([process[1]])
        if self.system.network == "duplicating":  # what is there already is not sent again
            now = Counter(set(now) - set(sent))
        return (sent + now, taken), sends, takes

    def end(self, done):
        self.ended += 1
        self.classes.add(class_of(done))
        if self.ended > self.most:
            raise TooLarge


def dependent(one, other):
    if one.name[0] == other.name[0] or (one.node == other.node and meet(one, other)):
        return True
    if (one.fault and other.fault) or (one.records and other.records):
        return True
    return feeds(one, other) or feeds(other, one)


def meet(one, other):
    if one.touch is None or other.touch is None or set(one.sends) & set(other.sends):
        return True
    (uses, writes, decides), (others, written, decided) = one.touch, other.touch
    return bool(writes & others or written & uses or decides & decided)


def feeds(one, other):
    if other.takes is None:
        return False
    first, last = one.sends.get(other.takes[0], (0, -1))
    return first <= other.takes[1] <= last


def class_of(done):
    """The same for executions that differ only in the order of independent steps."""
    pairs = ((a, b) for at, b in enumerate(done) for a in done[:at] if dependent(a, b))
    return frozenset(each.name for each in done), frozenset((a.name, b.name) for a, b in pairs)
