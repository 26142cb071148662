"""One live node of a system with a peer of the same class, on a clock that stands still."""

from unit.runtime.ledger import Noted

from presage import System
from presage.runtime.clock import Clock
from presage.runtime.node import LiveNode
from presage.runtime.store import MemoryStore


class Ticking:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


def live(service, *, options=None, runner=None, store=None, **system):
    """A node of a system with a peer of the same class; its time stands still."""
    made = System({"node": service, "peer": type(service)()}, **system)
    automata, now = made.live(), Ticking()
    near = Noted(automata[0].codec)
    clock = Clock(now, now)
    store = store or MemoryStore()
    node = LiveNode(made, "node", store, clock, near, options, runner, automata)
    return node, near, now


def booted(service, **more):
    node, near, now = live(service, **more)
    node.boot()
    node.flush()
    return node, near, now
