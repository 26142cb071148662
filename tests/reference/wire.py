"""Streams and partitions for the reference explorer, with the rules as they are told.

A queue per ordered pair of nodes, in which an error is an item like a message: the one that the
receiver handles next. Which ends are open is a set of (node, peer). Everything is copied, nothing
is shared.
"""

from presage.model.service.stream import LOST

ERROR = ("error",)
CRASH, RESET, SILENT, CUT, IDLE, PARTITION, HEAL = 0, 4, 5, 6, 7, 8, 9


class Lines:
    """The streams of one state: `queues[x, y]` holds what travels from x to y."""

    def __init__(self, state):
        queues, self.open = state.streams
        self.queues = {pair: list(items) for pair, items in queues}

    def queue(self, x, y):
        return self.queues.setdefault((x, y), [])

    def pending(self, x, y):
        """Whether x has an error from y to handle."""
        return self.queue(y, x)[:1] == [ERROR]

    def both(self, x, y):
        return {(x, y), (y, x)} <= self.open

    def lose(self, x, y):
        """The messages from x to y are gone; an error that y is to handle is not."""
        self.queues[x, y] = [item for item in self.queue(x, y) if item == ERROR]

    def fail(self, x, y):
        """x gets an error from y, before all else."""
        self.queue(y, x).insert(0, ERROR)

    def send(self, x, y, message):
        if (x, y) in self.open and (y, x) not in self.open:
            self.open -= {(x, y)}
            self.fail(x, y)
        else:
            self.queue(x, y).append(("message", message))

    def handled(self, x, y):
        """x has heard that its connection to y is gone."""
        if self.pending(x, y):
            del self.queue(y, x)[0]
        self.open -= {(x, y)}
        self.lose(x, y)

    def leave(self, x, y, silent):
        """x is gone, or has closed its connection to y."""
        if self.both(x, y):
            self.lose(y, x)
            if not silent:
                self.open -= {(y, x)}
                self.fail(y, x)
        self.handled(x, y)

    def held(self, x):
        mine = [(to, items) for (source, to), items in self.queues.items() if source == x]
        return {to: sum(item != ERROR for item in items) for to, items in mine}

    def state(self, state):
        kept = [(pair, tuple(items)) for pair, items in sorted(self.queues.items()) if items]
        return state._replace(streams=(tuple(kept), frozenset(self.open)))


def held(state, node):
    return Lines(state).held(node)


def flown(state, node, outcome):
    """The state after what a handler of `node` did to its streams."""
    lines = Lines(state)
    for flow in outcome.flows:
        if flow.closes:
            lines.leave(node, flow.peer, silent=False)
        else:
            lines.send(node, flow.peer, flow.message)
    return lines.state(state)


def struck(state, node, fault):
    """The state once a fault of its own has struck `node`; None is no fault."""
    if fault is None:
        return state
    lines = Lines(state)
    if fault in (CRASH, RESET, SILENT):
        for peer in range(len(state.nodes)):
            lines.leave(node, peer, silent=fault == SILENT)
    return lines.state(state).spend(fault)


def joined(system, state, x, y):
    way = system.faults.partitions[state.split - 1] if state.split else None
    sides = [nodes for _, nodes in way.sides] if way else []
    of = [[at for at, nodes in enumerate(sides) if system.names[n] in nodes] for n in (x, y)]
    return not of[0] or not of[1] or of[0] == of[1]


def mishaps(system, state):
    """(next state, fault) of all that happens to streams and the network without any node."""
    count = range(len(state.nodes))
    for x, y in [(x, y) for x in count for y in count if x < y and Lines(state).both(x, y)]:
        lines = Lines(state)
        if state.budgets[IDLE] > 0 and not (lines.queue(x, y) or lines.queue(y, x)):
            if joined(system, state, x, y):
                lines.open -= {(x, y), (y, x)}
                yield lines.state(state).spend(IDLE), IDLE
        lines = Lines(state)
        if state.budgets[CUT] > 0:
            for a, b in ((x, y), (y, x)):
                lines.open -= {(a, b)}
                lines.lose(a, b)
            lines.fail(x, y)
            lines.fail(y, x)
            yield lines.state(state).spend(CUT), CUT
    for number in range(len(system.faults.partitions)):
        if state.budgets[PARTITION] > 0 and not state.split:
            yield state._replace(split=number + 1).spend(PARTITION), PARTITION
    if state.budgets[HEAL] > 0 and state.split:
        yield state._replace(split=0).spend(HEAL), HEAL


def received(system, state):
    """(kind, node, source, message, the state when its handler begins) of what streams bring."""
    up = [values[0][0] in (1, 3) for values in state.nodes]  # the second: slowly
    for x, y in [(x, y) for x in range(len(up)) for y in range(len(up))]:
        lines = Lines(state)
        if up[x] and lines.pending(x, y):
            lines.handled(x, y)
            yield "broken", x, y, LOST, lines.state(state)
        elif lines.queue(x, y) and not lines.pending(x, y) and not lines.pending(y, x):
            if not joined(system, state, x, y):
                continue
            if up[y]:
                _, message = lines.queue(x, y).pop(0)
                lines.open |= {(x, y), (y, x)} if x != y else set()
                yield "receive", y, x, message, lines.state(state)
            elif up[x]:
                lines.handled(x, y)
                yield "refused", x, y, LOST, lines.state(state)
        elif up[x] and (x, y) in lines.open and (y, x) not in lines.open:
            lines.handled(x, y)
            yield "keepalive", x, y, LOST, lines.state(state)
