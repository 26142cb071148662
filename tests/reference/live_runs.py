"""Random systems, run live in one process: kills, broken connections, calls, a network that loses.

`live_run(system, seed)` lets some dozens of steps happen on a virtual clock. While it does, every
step is compared with what `Automaton.step` makes of the same values, stimulus and choices.
"""

import random

from presage._core import FAILED
from presage.model.world.observers import told
from presage.runtime.shaping import Shape
from presage.runtime.step import Options
from presage.runtime.virtual import VirtualCluster

STEPS = 60
SECONDS = 8.0


class Compared:
    """Compares every committed step of a cluster with the model."""

    def __init__(self, cluster):
        self.system = cluster.system
        self.live = cluster.automata[0].codec
        self.steps = 0
        cluster.on_commit.append(self.compare)

    def compare(self, name, record):
        self.steps += 1
        automaton = self.system.automata[self.system.index(name)]
        stimulus = record.stimulus
        if record.body is not None:
            stimulus = (*stimulus[:2], self.live.decode(record.body))
        if stimulus[0] == "call" and len(stimulus) > 1:
            return  # the model has no such call
        before = list(map(self.live.decode, record.before))
        chosen = tuple(k for k, _ in record.choices)
        outcome = automaton.step(before, stimulus, chosen, record.held)
        assert self.encoded(outcome.values) == self.relived(record.after)
        assert outcome.choices == record.choices
        assert outcome.failure == record.failure
        assert outcome.logs == list(record.logs)
        assert self.encoded(told(outcome)) == self.encoded(list(record.records))
        names = self.system.names
        sends = [(names[to], self.plain(message)) for to, message in outcome.sends]
        assert sends == [(to, self.plain(self.live.decode(body))) for to, body in record.sends]
        flows = [
            (names[f.peer], None if f.closes else self.plain(f.message)) for f in outcome.flows
        ]
        assert flows == [
            (to, None if body is None else self.plain(self.live.decode(body)))
            for to, body in record.flows
        ]

    def plain(self, value):
        """As a search has it: moments without numbers."""
        return self.system.codec.encode(value)

    def encoded(self, values):
        return [self.plain(value) for value in values]

    def relived(self, local):
        return [self.plain(self.live.decode(value)) for value in local]


def live_run(system, seed, silently=False, prepare=lambda cluster: None):
    """A cluster that has run, and how many of its steps were compared.

    `silently`: processes end as by a loss of power, and nobody hears of it. `prepare` gets the
    cluster before it runs.
    """
    chance = random.Random(seed)
    ordered = system.network == "ordered"
    shape = Shape(
        delay=chance.choice((0.001, 0.01, 0.05)),
        jitter=0.0 if ordered else chance.choice((0.0, 0.02, 0.1)),
        loss=chance.choice((0.0, 0.0, 0.1)),
    )
    options = Options(delays={"once": chance.random(), "beat": 0.2 + chance.random()})
    cluster = VirtualCluster(system, seed=seed, shape=shape, options=options, logged=True)
    compared = Compared(cluster)
    prepare(cluster)
    for name in system.calls:
        for _ in range(3):
            cluster.at(chance.random() * SECONDS, lambda name=name: cluster.work(name))
    for _ in range(chance.randrange(5)):
        strike(cluster, chance, vanish if silently else kill)
    while cluster.now < SECONDS and compared.steps < STEPS and cluster.step():
        pass
    return cluster, compared


def strike(cluster, chance, end):
    """Let one thing go wrong at some time; `end` is how a process ends."""
    time, names = chance.random() * SECONDS / 2, cluster.system.names
    name, peer = chance.choice(names), chance.choice(names)
    if chance.randrange(3):
        cluster.at(time, lambda: end(cluster, name))
        if chance.randrange(4):
            later = time + chance.choice((0.0005, 0.01, 0.5, 2.0))
            cluster.at(later, lambda: start(cluster, name))
    else:
        cluster.at(time, lambda: cluster.reset(name, peer))


def failed(cluster, name):
    """Whether the node has failed: a model has no way on from there."""
    host = cluster.stations[name].host
    return host is not None and not host.node.up


def kill(cluster, name):
    if not failed(cluster, name):
        cluster.kill(name)


def vanish(cluster, name):
    if not failed(cluster, name):
        cluster.vanish(name)


def start(cluster, name):
    if not failed(cluster, name):
        cluster.start(name)


def control_of(world, name):
    return world.system.codec.decode(world.save().locals[world.system.index(name)][0])


def is_failed(world, name):
    return control_of(world, name)[0] == FAILED
