"""RandTree under churn on a virtual clock, steered or not: which properties steps have broken."""

import random
from collections import Counter

from presage.runtime.check import can_be_refused
from presage.runtime.foreseeing import SteeredCluster
from presage.runtime.shaping import Shape
from presage.runtime.verdicts import Verdicts
from presage.runtime.virtual import VirtualCluster

PAUSES = (0.0, 0.05, 0.3, 2.0)


class Churned:
    """One run; `preventable` and `unpreventable` count what steps of nodes have broken."""

    def __init__(
        self, system, seed, seconds, options=None, foresight=None, *, every=3.0, silent=0.5
    ):
        """`silent`: how many of the nodes that end do so as by a loss of power."""
        self.system = system
        self.preventable, self.unpreventable = Counter(), Counter()
        self.steps = 0
        self.cluster = VirtualCluster(
            system, seed=seed, shape=Shape(delay=0.065, jitter=0.02), logged=True
        )
        self.steered = SteeredCluster(self.cluster, foresight, options) if options else None
        self._verdicts = Verdicts(system)
        self.cluster.on_commit.append(self._committed)
        chance = random.Random(f"churn {seed}")
        at = 15.0
        while at < seconds:
            self._kill(at, chance.choice(system.names), chance.random() < silent, chance)
            at += every
        self.cluster.run(seconds)

    def _kill(self, at, name, silently, chance):
        end = self.cluster.vanish if silently else self.cluster.kill
        self.cluster.at(at, lambda: end(name))
        self.cluster.at(at + chance.choice(PAUSES), lambda: self.cluster.start(name))

    def _committed(self, name, record):
        self.steps += 1
        index = self.system.index(name)
        new = self._broken(index, record.after) - self._broken(index, record.before)
        new |= {"no_exception"} if record.failure else set()
        can = can_be_refused(index, record.stimulus)
        (self.preventable if can else self.unpreventable).update(new)

    def _broken(self, index, local):
        live = self.cluster.automata[index].codec
        known = [None] * len(self.system.names)
        known[index] = tuple(self.system.codec.encode_fields([live.decode(each) for each in local]))
        return {each.prop for each in self._verdicts.broken(known)}

    def counts(self):
        total = Counter()
        for lookout in self.steered.every:
            total.update(vars(lookout.steering.counts))
        return total
