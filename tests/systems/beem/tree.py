"""Tree identification of IEEE 1394, with the one shared coin that is tossed once and never again.

Messages are (kind, sender). Each direction between two nodes is a one-place channel.
"""

from systems.beem.commands import put

PARENT, CHILD, ACK = 1, 2, 3
LINE = ((1,), (0, 2), (1, 3), (2,))  # of 4 nodes
CYCLE = ((2,), (2,), (0, 1, 3, 4), (2, 5), (2, 5), (3, 4))
TREE = ((2,), (2,), (0, 1, 3), (2, 5), (5,), (3, 4))


def model(neighbours):
    """A state: nodes (place, received, j, n, message), channels to each node by sender, toss,
    and who is elected."""
    count = len(neighbours)
    node = ("start", (0,) * count, 0, 0, (0, 0))
    links = ((None,) * count,) * count
    last = ((0,) * count,) * count  # a channel keeps the last value it carried
    start = ((node,) * count, links, last, False, (count, 0))
    return start, lambda state: Step(neighbours, state).all()


class Step:
    """All transitions of one state."""

    def __init__(self, neighbours, state):
        self.neighbours = neighbours
        self.nodes, self.links, self.last, self.toss, self.elected = state
        self.found = []

    def all(self):
        for at, (place, received, j, n, message) in enumerate(self.nodes):
            getattr(self, place)(at, received, j, n, message)
        return self.found

    def go(self, at, node, send=None, toss=None, elected=None, taken=None):
        """Node `at` becomes `node`; `send` is (receiver, kind), `taken` whose message it took."""
        links, last = self.links, self.last
        if send is not None:
            to, kind = send
            if links[to][at] is not None:
                return
            links = put(links, to, put(links[to], at, (kind, at)))
            last = put(last, to, put(last[to], at, kind))
        if taken is not None:
            links = put(links, at, put(links[at], taken, None))
        toss = self.toss if toss is None else toss
        elected = self.elected if elected is None else elected
        self.found.append((put(self.nodes, at, node), links, last, toss, elected))

    def take(self, at, place, received, j, n, only=None):
        """Take a message from any neighbour, or from those marked in `only`."""
        for source, message in enumerate(self.links[at]):
            if message is not None and (only is None or only[source]):
                self.go(at, (place, received, j, n, message), taken=source)

    def start(self, at, received, j, n, message):
        around = self.neighbours[at]
        if len(around) == 1:
            self.go(at, ("found_partner", received, around[0], n, message))
        else:
            self.go(at, ("wait_for_request", received, j, len(around), message))

    def wait_for_request(self, at, received, j, n, message):
        self.take(at, "asked", received, j, n)
        if n <= 1:
            self.go(at, ("handshake", received, 0, n, message))

    def asked(self, at, received, j, n, message):
        kind, source = message
        if kind != PARENT or source not in self.neighbours[at] or received[source]:
            self.go(at, ("error", received, j, n, message))
        else:
            self.go(at, ("wait_for_request", put(received, source, 1), j, n - 1, message))

    def handshake(self, at, received, j, n, message):
        if j < len(received):
            send = (j, CHILD) if received[j] else None
            self.go(at, ("handshake", received, j + 1, n, message), send)
        elif n == 0:
            self.go(at, ("wait_for_acks", received, j, n, message))
        else:
            for to in self.neighbours[at]:
                if not received[to]:
                    self.go(at, ("wait_for_acks", received, j, n, message), (to, PARENT))

    def wait_for_acks(self, at, received, j, n, message):
        self.take(at, "acked", received, j, n, only=received)
        if not any(received):
            self.go(at, ("become_parent", received, j, n, message))

    def acked(self, at, received, j, n, message):
        kind, source = message
        if kind != ACK:
            self.go(at, ("error", received, j, n, message))
        else:
            self.go(at, ("wait_for_acks", put(received, source, 0), j, n, message))

    def become_parent(self, at, received, j, n, message):
        if n == 0:
            elected = (at, self.elected[1] + 1)
            self.go(at, ("finish", received, j, n, message), elected=elected)
        else:
            self.go(at, ("response", received, j, n, message))

    def found_partner(self, at, received, j, n, message):
        self.go(at, ("response", received, j, n, message), (j, PARENT))
        self.take(at, "partner_found", received, j, n)

    def partner_found(self, at, received, j, n, message):
        kind, source = message
        if kind == PARENT:
            self.go(at, ("handshake", put(received, source, 1), j, 1, message))
        else:
            self.go(at, ("error", received, j, n, message))

    def response(self, at, received, j, n, message):
        self.take(at, "responded", received, j, n)

    def responded(self, at, received, j, n, message):
        if message[0] == CHILD:
            self.go(at, ("become_child", received, j, n, message))
        elif message[0] == PARENT:
            self.go(at, ("contention", received, j, n, message))

    def become_child(self, at, received, j, n, message):
        self.go(at, ("finish", received, j, n, message), (message[1], ACK))

    def contention(self, at, received, j, n, message):
        if self.toss:
            self.go(at, ("loser", received, j, n, message))
        else:
            self.go(at, ("winner", received, j, n, message), toss=True)

    def winner(self, at, received, j, n, message):
        self.go(at, ("response", received, j, n, message), (message[1], PARENT))

    def loser(self, at, received, j, n, message):
        self.take(at, "lost", received, j, n)

    def lost(self, at, received, j, n, message):
        kind, source = message
        if kind == PARENT:
            self.go(at, ("handshake", put(received, source, 1), j, 1, message))

    def finish(self, at, received, j, n, message):
        """Nothing more to do."""

    error = finish


def is_elected(state):
    return state[4][1] > 0
