"""A service whose durable fields change together, and surroundings that note what has left."""

from dataclasses import dataclass

from presage import Disk, Service, System, disk, durable, on, written
from presage.runtime.clock import Clock
from presage.runtime.durable import Durable
from presage.runtime.node import LiveNode
from presage.runtime.store import FileStore


@dataclass(frozen=True)
class Add:
    amount: int


class Ledger(Service):
    """`left` and `right` are always equal; `pages` has each sum, written one by one."""

    left: int = durable(0)
    right: int = durable(0)
    pages: Disk = disk()
    calls: int = 0

    @on(Add)
    def add(self, message):
        self.calls += 1
        if message.amount:
            self.left += message.amount
            self.right += message.amount
            self.pages.write(self.left % 4, self.left)
        self.send("peer", self.left)

    @on(int)
    def note(self, message):
        pass

    @written
    def stored(self, key, value):
        self.send("peer", -value)


def ledgers():
    return System({"node": Ledger(), "peer": Ledger()})


class Noted:
    """Surroundings that keep what has left; `leave` is called with each message that does."""

    def __init__(self, codec, leave=lambda message: None):
        self.codec = codec
        self.leave = leave
        self.waiting = []
        self.left = []
        self.failures = []
        self.replies = []

    def held(self, peer):
        return 0

    def received(self, source):
        pass

    def delivered(self, source, sequence):
        pass

    def send(self, to, body):
        self.waiting.append(self.codec.decode(body))

    def stream(self, to, body):
        self.send(to, body)

    def close(self, to):
        pass

    def release(self):
        for message in self.waiting:
            self.left.append(message)
            self.leave(message)
        self.waiting = []

    def replied(self, request, reply):
        self.replies.append((request, reply))

    def failed(self, failure):
        self.failures.append(failure)


def ledger_node(folder, leave=lambda message: None, **store):
    """A node of `ledgers` on a store in `folder`."""
    system = ledgers()
    automata = system.live()
    layout = Durable(automata[0]).layout
    kept = FileStore(folder, layout, **store)
    near = Noted(automata[0].codec, leave)
    node = LiveNode(system, "node", kept, Clock(), near, automata=automata)
    return node, near


def fields_of(node):
    """The values of the fields of a node, by name."""
    decoded = map(node.automaton.codec.decode, node.local[1:])
    return dict(zip(node.automaton.fields, decoded, strict=True))


def add(node, amount):
    return node.deliver("peer", Add(amount))
