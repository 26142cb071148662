"""Drives a system by hand through one scenario, and walks on calmly from where it got to.

A calm walk has no faults, takes the first, likely answer of every choice where `likely` says so,
and prefers messages to timers, as MaceMC's walks do.
"""

import random

from presage import World

FAULTS = {"crash", "reset", "silent", "drop", "duplicate", "cut", "idle", "partition", "heal"}
WEIGHTS = {"deliver": 8, "receive": 8, "broken": 8, "refused": 2, "restart": 40}
WEIGHTS |= {"action": 40, "call": 40}


class Story:
    """A world, and what was done to it."""

    def __init__(self, system, lenient=False):
        self.system = system
        self.lenient = lenient  # an event that cannot happen is left out
        self.world = World.initial(system)
        self.failure = None

    def __getitem__(self, node):
        return self.world.view()[node]

    def do(self, kind, node, text="", where=lambda message: True, choices=()):
        """Let the one event of that kind at `node` happen whose text begins so; how it reads."""
        found = [
            event
            for event in self.world.enabled()
            if (event.kind, event.node) == (kind, node)
            and str(event).startswith(text)
            and where(getattr(event, "message", None))
        ]
        if not found and self.lenient:
            return None
        assert found, f"{kind} {text!r} at {node} is not among {self.events()}"
        assert len(found) == 1, [(str(each), getattr(each, "message", "")) for each in found]
        step = self.world.apply(found[0], choices)
        self.failure = step.failure
        return str(found[0])

    def events(self):
        return [f"{event.node} {event.kind} {event}" for event in self.world.enabled()]

    def broken(self):
        """The name of the first claim about every state that does not hold here."""
        if self.failure:
            return "no_exception"
        view = self.world.view()
        claims = [claim for claim in self.system.properties if claim.kind == "always"]
        return next((claim.name for claim in claims if not claim(view)), None)

    def holds(self, name):
        return bool(self._claim(name)(self.world.view()))

    def _claim(self, name):
        return next(claim for claim in self.system.properties if claim.name == name)

    def recoveries(self, walks, steps, claim=None, likely=(), enough=None):
        """How many calm walks from here, one per seed, reach a live state, or the claim.

        `likely` are the nodes' handlers whose choices always take their first answer. Stops after
        `enough` of them.
        """
        here = self.world.save()
        names = [each.name for each in self.system.properties if each.kind == "eventually"]
        wanted = [self._claim(name) for name in ([claim] if claim else names)]
        found = 0
        for seed in range(walks):
            self.world.restore(here)
            found += self._walk(random.Random(seed), steps, wanted, likely)
            if found == enough:
                break
        self.world.restore(here)
        return found

    def _walk(self, rng, steps, wanted, likely):
        for _ in range(steps):
            events = [event for event in self.world.enabled() if event.kind not in FAULTS]
            if not events:
                break
            event = rng.choices(events, [WEIGHTS.get(event.kind, 1) for event in events])[0]
            runs = self.world.runs(event)
            first = str(event).partition("(")[0] in likely
            self.world.apply(event, runs[0] if first else rng.choice(runs))
            view = self.world.view()
            if all(claim(view) for claim in wanted):
                return True
        return False
