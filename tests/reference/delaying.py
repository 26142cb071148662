"""The reference of searches in the order of delays: live worlds, one list per number of delays.

Written from the rules that the documentation states, on worlds that are saved and restored; nothing
is shared with the kernel but the digests that decide ties.
"""

from typing import NamedTuple

from reference.interleavings import state_of
from reference.plain import is_laned
from reference.processes import World as Processes

from presage._core import combine, mix
from presage.model.world.event import FAULT_OF, Broken, Deliver, KeepAlive, Receive, Refused
from presage.model.world.stimulus import stimulus_of
from presage.model.world.world import World

LOCAL, ENVELOPE, CHANNEL, CONNECTION = 0, 3, 4, 5  # kinds of digests
MAIL, ACTION, TIMER = range(3)
WORD = 2**64


class Task(NamedTuple):
    """What a delay can put off: the events are its branches, the likely ones first."""

    key: int
    rank: int
    ends: tuple[int, int] | None  # of mail
    message: bool
    listed: tuple[int, int]  # of others: the node, and the place among what it can start
    branches: tuple[tuple, ...]


class Entry(NamedTuple):
    saved: object
    fingerprint: int
    tasks: list[Task]
    faults: list[tuple]
    offset: int
    depth: int


class Delaying:
    """`price` of the i-th alternative, of an unlikely choice, of a fault."""

    runs_on = False  # a task goes on where it stopped
    commuting = 0  # what a departure costs besides that only swaps two steps

    def __init__(self, system, scheduler, *, cost="log", choice=1, fault=1, commuting=0, seed=0):
        self.system, self.scheduler, self.seed = system, scheduler, seed
        self.cost, self.choice, self.fault, self.commuting = cost, choice, fault, commuting
        self.world = World(system)
        self.seen, self.buckets, self.executions = set(), {0: []}, 0

    def run(self):
        """The states known when each bound was done."""
        self.begin()
        bounds = []
        while not bounds or any(self.buckets.values()):
            bound = len(bounds)
            waiting = self.buckets.setdefault(bound, [])
            while waiting:
                self.resume(waiting.pop(), bound)
            bounds.append(frozenset(self.seen))
        return bounds

    def begin(self):
        branches = [()]
        for automaton in self.system.automata:
            runs = automaton.branches(automaton.initial, ("start",), held={})
            branches = [(*b, *(k for k, _ in run.choices)) for b in branches for run in runs]
        for choices in branches:
            self.world = World.initial(self.system, choices)
            if self.world.fingerprint not in self.seen:
                self.executions += 1
                self.visit(1, 0, [], None, [])

    def visit(self, depth, bound, before, ran, sent):
        """Enter the state that the world is in, and let it wait."""
        fingerprint, saved = self.here()
        self.seen.add(fingerprint)
        tasks, faults = self.listed()
        place = self.placed(fingerprint, before, ran, sent)
        entry = Entry(saved, fingerprint, sorted(tasks, key=place), faults, 0, depth)
        self.wait(entry, bound, 0)

    def here(self):
        """What names the state that the world is in, and what brings it back."""
        return self.world.fingerprint, self.world.save()

    def price(self, at):
        return {"position": at, "log": len(f"{at:b}") if at else 0}.get(self.cost, min(at, 1))

    def wait(self, entry, bound, first):
        offsets = [self.price(at) for at in range(len(entry.tasks))]
        several = [at for at, task in enumerate(entry.tasks) if len(task.branches) > 1]
        offsets += [self.price(at) + self.choice for at in several]
        offsets += [self.fault] if entry.faults else []
        offsets += [offset + self.commuting for offset in offsets]
        offsets = [offset for offset in offsets if offset >= first]
        if offsets:
            later = min(offsets) - entry.offset
            self.buckets.setdefault(bound + later, []).append(entry._replace(offset=min(offsets)))

    def resume(self, entry, bound):
        self.wait(entry, bound, entry.offset + 1)
        new = 0
        before = [task.key for task in entry.tasks]
        for at, task in enumerate(entry.tasks):
            for branch, (event, choices) in enumerate(task.branches):
                price = self.price(at) + (self.choice if branch else 0)
                if self.due(entry, price, event, choices, departs=at > 0):
                    new += self.follow(entry, bound, event, choices, before, at)
        for event, choices in entry.faults:
            if self.due(entry, self.fault, event, choices, departs=True):
                new += self.follow(entry, bound, event, choices, before, None)
        # One execution came here; without a delay it goes on with the first new state.
        self.executions += new - 1 if entry.offset == 0 and new else new

    def due(self, entry, price, *event, departs):
        """Whether an event of a state has its turn now."""
        if not self.commuting or not departs:
            return price == entry.offset
        if entry.offset not in (price, price + self.commuting):
            return False
        return entry.offset == price + self.commuting * self.commutes(entry, event)

    def commutes(self, entry, event):
        """Whether an event and the first task end in one state, whichever comes first."""
        if not entry.tasks:
            return False
        first = entry.tasks[0].branches[0]
        ends = self.after(entry, first, event)
        return ends is not None and ends == self.after(entry, event, first)

    def after(self, entry, one, other):
        self.world.restore(entry.saved)
        self.world.apply(*one)
        event, choices = other
        if event not in self.world.enabled() or choices not in self.world.runs(event):
            return None
        return self.world.apply(event, choices).fingerprint

    def follow(self, entry, bound, event, choices, before, ran):
        self.world.restore(entry.saved)
        step = self.world.apply(event, choices)
        if step.fingerprint in self.seen:
            return False
        index = self.system.index
        sent = [(index(one.source), index(one.to), one.message) for one in step.sends]
        self.visit(entry.depth + 1, bound, before, ran, sent)
        return True

    # -- tasks and their order -----------------------------------------------------------------

    def listed(self):
        """The tasks of the world, and its faults; neither with steps that change nothing."""
        world, here, saved = self.world, self.world.fingerprint, self.world.save()
        tasks, faults = [], []
        for event in world.enabled():
            moved = []
            for choices, share in world.odds(event):
                fingerprint = world.apply(event, choices).fingerprint
                world.restore(saved)
                if fingerprint != here:
                    moved.append((fingerprint, share, (event, choices)))
            if event.kind in FAULT_OF:
                faults += moved
            elif moved:
                moved.sort(key=lambda branch: -branch[1])
                tasks.append(self.task(event, tuple(branch for *_, branch in moved)))
        return tasks, [branch for _, _, branch in sorted(faults, key=lambda fault: fault[0])]

    def task(self, event, branches):
        index = self.system.index
        if isinstance(event, Deliver | Receive):
            ends = (index(event.source), index(event.node))
            key = self.mail_key(*ends, event.message, stream=isinstance(event, Receive))
            return Task(key, MAIL, ends, True, (0, 0), branches)
        if isinstance(event, Broken | Refused | KeepAlive):
            ends = (index(event.node), index(event.peer))
            return Task(mix(CONNECTION, *ends), MAIL, ends, False, (0, 0), branches)
        node, encode = index(event.node), self.system.codec.encode
        automaton, form = self.system.automata[node], encode(stimulus_of(self.system, event))
        stimuli = [encode(one) for one, _ in automaton.stimuli(self.world._values(automaton))]
        rank = TIMER if event.kind == "timer" else ACTION
        key = mix(LOCAL, node, self.system.codec.digest(form))
        return Task(key, rank, None, False, (node, stimuli.index(form)), branches)

    def mail_key(self, source, to, message, *, stream):
        if stream:
            return mix(CONNECTION, source, to)
        if self.system.network == "ordered":
            return mix(CHANNEL, source, to)
        if is_laned(self.system, message):
            lane = self.system.codec.digest(self.system.codec.encode(message.lane))
            return mix(CHANNEL, combine([source, to]), lane)
        encoded = self.system.codec.encode((source, to, message))
        return mix(ENVELOPE, 0, self.system.codec.digest(encoded))

    def placed(self, fingerprint, before, ran, sent):
        """What sorts the tasks of a state."""
        if self.scheduler == "random":
            return lambda task: (task.rank, scramble(task.key ^ scramble(fingerprint ^ self.seed)))
        waited, came = (1, 0) if self.scheduler == "rtc" else (0, 1)
        keys = [self.mail_key(*one, stream=False) for one in sent]
        keys += [self.mail_key(*one, stream=True) for one in sent]

        def place(task):
            if task.key in before:
                at = before.index(task.key)
                if at == ran and not (self.runs_on and self.scheduler == "rtc"):
                    return (task.rank, 3, (0, 0, 0), 0)
                turned = (at - (ran or 0)) % len(before)
                return (task.rank, waited, (0, turned, 0), 0)
            if task.ends is None:
                return (task.rank, 2, (0, *task.listed), 0)
            if task.message and task.key in keys:
                return (task.rank, came, (0, keys.index(task.key), 0), 0)
            return (task.rank, came, (1, *task.ends), task.key)

        return place


class DelayingProgram(Delaying):
    """The same for processes. Nothing here knows the digests that decide the order `random`."""

    runs_on = True

    def __init__(self, bridge, count, scheduler, *, cost="log", choice=1):
        self.scheduler, self.cost, self.choice, self.fault = scheduler, cost, choice, 0
        self.world = Processes(bridge, count)
        self.seen, self.buckets, self.executions = set(), {0: []}, 0

    def begin(self):
        self.executions += 1
        self.visit(1, 0, [], None, [])

    def here(self):
        return state_of(self.world), self.world

    def listed(self):
        branches = {}
        for process, choice in self.world.enabled():
            branches.setdefault(process, []).append((process, choice))
        tasks = branches.items()
        return [Task(who, 0, (0, who), False, (0, 0), tuple(ways)) for who, ways in tasks], []

    def follow(self, entry, bound, event, choices, before, ran):
        self.world = entry.saved.copy()
        self.world.take(event, choices)
        if state_of(self.world) in self.seen:
            return False
        self.visit(entry.depth + 1, bound, before, ran, [])
        return True


def scramble(word):
    """The finaliser of SplitMix64."""
    word = (word + 0x9E3779B97F4A7C15) % WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)
