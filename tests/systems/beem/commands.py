"""Models of the BEEM benchmark (Pelánek 2007) as systems of one node.

Their processes meet in rendezvous, one step of two processes, which messages cannot express. So the
whole model is the state of one node, and each of its transitions one value of one action. A model
is an initial state and a function from a state to the list of its successors, one per transition.
"""

from presage import Service, System, action, eventually


class Commands(Service):
    """Does one of the transitions that its model allows."""

    model = None  # set by subclasses: (initial state, successors)
    at: tuple = ()

    def start(self):
        self.at = self.model[0]

    @action(over=lambda self: range(len(self.model[1](self.at))))
    def move(self, n):
        self.at = self.model[1](self.at)[n]


def system(initial, successors, holds, **how):
    """The model as a system that claims `holds(state)` again and again."""
    service = type("Model", (Commands,), {"model": (initial, staticmethod(successors).__func__)})

    def recurs(world):
        return holds(world["model"].at)

    return System({"model": service()}, properties=[eventually(recurs, **how)])


def put(state, at, value):
    """`state` with `value` at position `at`."""
    return (*state[:at], value, *state[at + 1 :])
