"""The world of a cut: what the events before each node's checkpoint make, replayed on the model.

Events go in the order in which they happened, those after the checkpoint of their node left out. A
cut of a connection is no event of a node; it is replayed when one of the ends hears of it.
"""

from collections import Counter

from reference.live_hosts import Noticed

from presage.model.world.connections import Connections
from presage.model.world.event import Crash, Cut, Lost, Receive, Reset, SilentReset
from presage.model.world.network import Flying


class ReplayedCut:
    """`connections` and `locals` of the members, and the datagrams under way."""

    def __init__(self, cluster, checkpoints):
        self.cluster, self.system = cluster, cluster.system
        self.members = checkpoints
        self.ends = {
            name: cluster.positions[name, each.process, each.number]
            for name, each in checkpoints.items()
        }
        self.connections = Connections()
        self.resets = set()  # ends with an error whose peer's process has ended since
        self.locals = {}
        self.mail = []  # datagrams sent, in order
        self.delivered = set()  # identity and process
        for at, done in enumerate(cluster.events):
            if done.node in checkpoints and at < self.ends[done.node][0]:
                self._replay(done)

    def _replay(self, done):
        event, index = done.event, self.system.index
        node = index(done.node)
        if isinstance(event, Cut):
            return
        if isinstance(done, Noticed):
            if done.peer in self.members:
                self._cut(node, index(done.peer))
            return
        if isinstance(event, Receive) and event.source in self.members:
            self.connections.deliver(Flying(index(event.source), node, done.body))
        elif isinstance(event, Lost) and event.peer in self.members:
            self._hear(node, index(event.peer))
        elif isinstance(event, Crash | Reset | SilentReset):
            self._reset(node, isinstance(event, SilentReset))
        if done.local is not None:
            self.locals[done.node] = done.local
        self.mail += [each for each in done.sent if each.to in self.members]
        if done.delivered is not None:
            self.delivered.add(done.delivered)
        for peer, body in done.flows:
            if peer in self.members:
                self._flow(node, index(peer), body)

    def _hear(self, node, peer):
        """Of an error whose cause is before the cut; else the connection was cut."""
        self._cut(node, peer)
        self.connections.hear(node, peer)
        self.resets.discard((node, peer))

    def _cut(self, node, peer):
        if (min(node, peer), max(node, peer)) in self.connections.whole():
            self.connections.cut(node, peer)

    def _reset(self, node, silently):
        self.connections.reset(node, silently=silently)
        self.resets = {end for end in self.resets if end[0] != node}
        self.resets |= {end for end in self.connections.errors() if end[1] == node}

    def _flow(self, node, peer, body):
        if body is None:
            self.connections.close(node, peer)
            self.resets.discard((node, peer))
        else:
            self.connections.send(Flying(node, peer, body))

    def datagrams(self):
        """What can be known to be under way: of processes that live, to processes that live.

        Sent by the process that took the sender's checkpoint, and not handled by the one that took
        the receiver's. Copies that wait at the receiver stand for themselves.
        """
        flying = []
        again = self.system.network == "duplicating"
        seen = set()
        for datagram in self.mail:
            if datagram.id in seen:
                continue
            seen.add(datagram.id)
            receiver = self.members[datagram.to]
            waiting = Counter(self.ends[datagram.to][1])[datagram.id]
            known = datagram.process == self.members[datagram.source].process
            handled = (datagram.id, receiver.process) in self.delivered
            count = waiting or (known and not handled and not self._overtaken(datagram))
            flying += [datagram] * (int(known or waiting > 0) if again else int(count))
        return flying

    def _overtaken(self, datagram):
        """On an ordered network, what comes after another that arrived is lost."""
        process, waiting = self.members[datagram.to].process, self.ends[datagram.to][1]
        return self.system.network == "ordered" and any(
            (each.source, each.to, each.process) == (datagram.source, datagram.to, datagram.process)
            and each.sequence > datagram.sequence
            and (each.id in waiting or (each.id, process) in self.delivered)
            for each in self.mail
        )
