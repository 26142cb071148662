"""What stories about Chord and about Pastry have in common."""

import random

from systems.driving import FAULTS, WEIGHTS, Story

from presage import check


class Ring(Story):
    """Nodes that join, and what they hear."""

    def get(self, message, source, node):
        return self.do("receive", node, f"{message} {source} -> {node}")

    def lose(self, node, peer):
        return self.do("broken", node, f"connection to {peer}")

    def fire(self, node, timer, to):
        """Let a timer fire with such choices that it sends to `to`."""
        [event] = [
            event
            for event in self.world.enabled()
            if (event.kind, event.node, str(event)) == ("timer", node, timer)
        ]
        here = self.world.save()
        for choices in self.world.runs(event):
            step = self.world.apply(event, choices)
            if to in [each.to for each in step.sends]:
                return str(event)
            self.world.restore(here)
        raise AssertionError(f"{timer} of {node} does not send to {to}")

    def drain(self):
        """Let everything arrive that is on its way."""
        while arrivals := [each for each in self.world.enabled() if each.kind == "receive"]:
            self.world.apply(arrivals[0])

    def settle(self, seed=0):
        """Walk calmly until everything holds and nothing is on its way."""
        rng = random.Random(seed)
        while not self.live() or self.world.view().messages():
            events = [event for event in self.world.enabled() if event.kind not in FAULTS]
            if self.live():
                events = [event for event in events if event.kind == "receive"]
            event = rng.choices(events, [WEIGHTS.get(event.kind, 1) for event in events])[0]
            self.world.apply(event, rng.choice(self.world.runs(event)))

    def live(self):
        view = self.world.view()
        return all(claim(view) for claim in self.system.properties if claim.kind == "eventually")


def surveyed(system):
    """What is live and what is dead, per claim, of a space that is searched to its end.

    With queues that lose what does not fit, nothing has to be delivered ever: livelocks are found,
    and no matter. Dead is what no continuation, however lucky, brings back.
    """
    report = check(system, keep_going=True, traces=None)
    assert report.exhausted
    assert {violation.kind for violation in report.violations} <= {"liveness"}
    return report
