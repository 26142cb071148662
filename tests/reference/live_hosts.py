"""Processes of nodes beside a world, the sockets between them, and notes of what happened."""

from collections import deque

from presage.model.world.world import World
from presage.runtime.checkpoint import Checkpoint, Checkpoints, checkpointed, kept_ends
from presage.runtime.datagrams import Datagrams
from presage.runtime.frame import Messages
from presage.runtime.link import Link

FOREVER = 1e9
IDENTITY = 4  # bytes before every message on a stream, by which equal ones are told apart


class Identified:
    """Reads messages with their identities before them."""

    def __init__(self, codec):
        self._codec = codec

    def decode(self, body):
        return self._codec.decode(body[IDENTITY:])


class Watched(World):
    """A world that notes the outcome of every step."""

    def __init__(self, system):
        self.outcomes = []
        super().__init__(system)

    def _take(self, automaton, outcome):
        self.outcomes.append((automaton.index, outcome))
        return super()._take(automaton, outcome)


class Socket:
    """Frames under way between two processes, in order."""

    def __init__(self, one, other):
        self.ways = {one.name: deque(), other.name: deque()}  # by who receives
        self.hosts = {one.name: one, other.name: other}
        self.broken = False  # reset: nothing more arrives, and both ends can see it


class Host:
    """One process of a node."""

    def __init__(self, cluster, name, process, bound):
        self.cluster, self.name, self.process = cluster, name, process
        self.links = {peer: Link(name, peer, process) for peer in cluster.system.names}
        self.sockets = {}
        self.datagrams = Datagrams(kept=FOREVER)
        self.waiting = []  # beside those of `datagrams`
        self.checkpoints = Checkpoints(self.take, bound=bound, kept_max=FOREVER)

    def take(self, number):
        cluster, at = self.cluster, self.cluster.system.index(self.name)
        automaton = cluster.system.automata[at]
        cluster.positions[self.name, self.process, number] = (
            len(cluster.events),
            tuple(each.id for each in self.waiting),
        )
        return Checkpoint(
            self.name,
            number,
            self.process,
            checkpointed(automaton, cluster.world._locals[at], cluster.system.codec),
            kept_ends({peer: link.end() for peer, link in self.links.items()}, self.process),
            self.datagrams.held(len(cluster.events)),
        )


class Datagram:
    """One copy on the network."""

    def __init__(self, of, source, to, body, process, number, sequence):
        self.id, self.source, self.to, self.body = of, source, to, body
        self.process, self.number, self.sequence = process, number, sequence


class Happened:
    """An event and what it did, for the replay of a cut."""

    def __init__(self, event, node):
        self.event, self.node = event, node
        self.local = self.body = None
        self.flows = ()
        self.sent = ()  # identities of datagrams
        self.delivered = None


class Noticed(Happened):
    """A link has found out that its connection is gone, and its node has yet to hear of it."""

    def __init__(self, node, peer):
        super().__init__(None, node)
        self.peer = peer


def start_choices(system, chance):
    """What every `start` chooses, in node order."""
    choices = ()
    for automaton in system.automata:
        runs = automaton.branches(automaton.initial, ("start",), held={})
        choices += tuple(k for k, _ in chance.choice(runs).choices)
    return choices


def singly(frame):
    """A frame, or messages in a row as so many rows of one."""
    if not isinstance(frame, Messages):
        return [frame]
    return [Messages(frame.number, frame.life, frame.handled, [body]) for body in frame.bodies]
