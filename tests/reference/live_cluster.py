"""A world and, beside it, what live nodes would know of it: links, datagrams and checkpoints.

The world is the oracle. Every event of it is also fed to the objects of `presage.runtime`, by
frames that travel on sockets, in order, and arrive when chance or the next event wants it. A live
node may find out that an end is half open before the world says so; then it hears of it first.

What live nodes do in another way is left out. No connection is closed for being idle. In the model
messages on a connection that was not open yet reach the next process of their receiver; live, their
sender is told of an error if they were written to the earlier process. So no node is reset while
such messages are under way to it, and an end that is not open learns at once that its socket leads
to a process that has ended.
"""

import copy
import random

from reference.live_hosts import (
    IDENTITY,
    Datagram,
    Happened,
    Host,
    Noticed,
    Socket,
    Watched,
    singly,
    start_choices,
)

from presage.model.world.connections import Connections
from presage.model.world.event import (
    Crash,
    Cut,
    Deliver,
    Drop,
    Duplicate,
    Heal,
    Idle,
    KeepAlive,
    Lost,
    Receive,
    Reset,
    Restart,
    SilentReset,
    Split,
)
from presage.model.world.network import Flying
from presage.runtime.frame import Kind


class Cluster:
    """A system that runs. `rule` says when a frame's number is heeded: first, late or never.

    `reserves`: whether a process begins with a number that its node has not used yet.
    """

    def __init__(self, system, seed, rule="first", reserves=True):
        self.system, self.rule, self.reserves = system, rule, reserves
        self.random = random.Random(seed)
        self.events, self.positions = [], {}
        self.mail, self.ids = [], 0
        self.shadow = Connections()  # the world's, with identities in the place of messages
        self.bounds = dict.fromkeys(system.names, 0)
        self.world = Watched.initial(system, start_choices(system, self.random))
        failed = self.world.opening.failures
        self.hosts = {
            name: None if name in failed else Host(self, name, 1, 0) for name in system.names
        }
        self.processes = dict.fromkeys(system.names, 1)
        for index, outcome in self.world.outcomes:
            self._effects(self._note(None, system.names[index]), outcome)

    # -- the world ---------------------------------------------------------------------------

    def step(self, *first):
        """One event, of the classes `first` if possible; false if a live system can do none."""
        enabled = [event for event in self.world.enabled() if self._lives(event)]
        self.random.shuffle(enabled)
        if self.random.random() < 0.5:
            enabled.sort(key=lambda event: not isinstance(event, Receive))
        enabled.sort(key=lambda event: not isinstance(event, first))
        for event in enabled:
            runs = self.world.runs(event)
            if runs and self.happen(event, self.random.choice(runs)):
                return True
        return False

    def _lives(self, event):
        if isinstance(event, Idle | Split | Heal):
            return False
        if isinstance(event, Reset | SilentReset | Restart):
            return not self._orphans(event.node)
        return True

    def _orphans(self, node):
        """Whether messages were written to a process that has not handled them, or never will."""
        index, streams = self.system.index, self.world._transport.streams
        return any(
            streams.end(index(name), index(node))[2]
            and (min(index(name), index(node)), max(index(name), index(node)))
            not in streams.whole()
            and not streams.end(index(name), index(node))[1]
            and host.links[node].met
            for name, host in self.hosts.items()
            if host is not None and name != node
        )

    def happen(self, event, choices):
        if isinstance(event, Receive) and not self._arrived(event):
            event, choices = KeepAlive(event.node, event.source), None
        if isinstance(event, Lost):
            self._hears(event)
            if choices is None:
                choices = self.world.runs(event)[0]
        datagram = None
        if isinstance(event, Deliver | Drop | Duplicate):
            datagram = self._datagram(event)
            if datagram is None:
                return False
        saved, self.world.outcomes = self.world.save(), []
        if self.world.apply(event, choices).failure:
            self.world.restore(saved)  # a live node that fails is gone; its model is not
            return False
        done = self._note(event, event.node)
        self._before_effects(done, event, datagram)
        for _, outcome in self.world.outcomes:
            self._effects(done, outcome)
        self._check_room(event.node)
        return True

    def _check_room(self, node):
        """Live, a queue never has more room than in the model."""
        host = self.hosts.get(node)
        for peer, link in host.links.items() if host else ():
            queue = self.shadow.end(self.system.index(node), self.system.index(peer))[2]
            assert link.held() >= len(queue), "a message is forgotten too early"

    def _note(self, event, node):
        done = Happened(event, node)  # without an event: the start
        if not isinstance(event, Cut | Drop | Duplicate):
            done.local = self.world._locals[self.system.index(node)]
        self.events.append(done)
        return done

    def _before_effects(self, done, event, datagram):
        host = self.hosts.get(event.node)
        match event:
            case Receive():
                done.body = body = host.links[event.source].take()
                assert body[IDENTITY:] == self.system.codec.encode(event.message)
                self.shadow.deliver(self._head(event))
            case Lost():
                host.links[event.peer].hear()
                self._unplug(host, event.peer)
                self.shadow.hear(self.system.index(event.node), self.system.index(event.peer))
            case Crash() | Reset() | SilentReset():
                silently = isinstance(event, SilentReset)
                self.shadow.reset(self.system.index(event.node), silently=silently)
                self._end(event.node, silently)
                if not isinstance(event, Crash):
                    self._boot(event.node)
            case Restart():
                self._boot(event.node)
            case Cut():
                self.shadow.cut(self.system.index(event.node), self.system.index(event.peer))
                self.hosts[event.node].sockets[event.peer].broken = True
            case Deliver():
                done.delivered = (datagram.id, self.processes[event.node])
                if self.system.network != "duplicating":
                    self.mail.remove(datagram)
                if host is not None and datagram in host.waiting:
                    host.datagrams.take(host.waiting.index(datagram))
                    host.waiting.remove(datagram)
            case Drop():
                self.mail.remove(datagram)
            case Duplicate():
                self.mail.insert(self.mail.index(datagram), copy.copy(datagram))

    def _effects(self, done, outcome):
        host = self.hosts[done.node]
        encode, names = self.system.codec.encode, self.system.names
        if host is None:
            return
        for to, message in outcome.sends:
            self.ids += 1
            body = bytes(IDENTITY) + encode(message)
            number = host.datagrams.send(names[to], body, len(self.events))
            self.mail.append(
                Datagram(
                    self.ids,
                    host.name,
                    names[to],
                    body,
                    host.process,
                    host.checkpoints.number,
                    number,
                )
            )
            done.sent += (self.mail[-1],)
        for peer, closes, message in outcome.flows:
            self.ids += 1
            body = None if closes else self.ids.to_bytes(IDENTITY, "big") + encode(message)
            self._flow(host, names[peer], body)
            done.flows += ((names[peer], body),)
        self.drain(host)

    def _flow(self, host, peer, body):
        at = (self.system.index(host.name), self.system.index(peer))
        if body is None:
            host.links[peer].close()
            self._unplug(host, peer)
            self.shadow.close(*at)
        else:
            host.links[peer].send(body)
            self.shadow.send(Flying(*at, body))

    def _head(self, event):
        """The message that the world delivers next from a node to another."""
        at = (self.system.index(event.source), self.system.index(event.node))
        return self.shadow.end(*at)[2][0]

    # -- datagrams ---------------------------------------------------------------------------

    def _datagram(self, event):
        body = bytes(IDENTITY) + self.system.codec.encode(event.message)
        found = next(
            each
            for each in self.mail
            if (each.source, each.to, each.body) == (event.source, event.node, body)
        )
        if isinstance(event, Deliver) and not self.arrive(found):
            return None
        return found

    def arrive(self, datagram):
        """A datagram reaches its node, which may handle it later; false if it is refused."""
        host = self.hosts[datagram.to]
        if host is None or datagram in host.waiting:
            return True
        if self.rule != "never":
            host.checkpoints.seen(datagram.number)
        time = len(self.events)
        if not host.datagrams.receive(
            datagram.source, datagram.process, datagram.sequence, datagram.body, time
        ):
            return False
        host.waiting.append(datagram)
        return True

    # -- sockets -----------------------------------------------------------------------------

    def drain(self, host):
        for peer, link in host.links.items():
            frames = link.drain(acknowledge=self.random.random() < 0.5)
            socket = host.sockets.get(peer)
            if socket is not None and not socket.broken:
                number = host.checkpoints.number
                socket.ways[peer].extend((number, one) for each in frames for one in singly(each))

    def connect(self, one, other):
        """A socket between two processes takes the place of the one they had."""
        for host, peer in ((one, other), (other, one)):
            old = host.sockets.get(peer.name)
            if old is not None and old.broken:
                self._notice(host, peer.name, host.links[peer.name].lost)
        socket = Socket(one, other)
        for host, peer in ((one, other), (other, one)):
            host.sockets[peer.name] = socket
            host.links[peer.name].attach()
        self.drain(one)
        self.drain(other)

    def pump(self, host, peer):
        """The next frame from `peer` arrives at a host; false if none is under way."""
        socket = host.sockets.get(peer)
        if socket is None or not socket.ways[host.name]:
            return False
        number, frame = socket.ways[host.name].popleft()
        link = host.links[peer]
        act = {Kind.LIFE: link.greet, Kind.MESSAGE: link.receive, Kind.ALIVE: link.acknowledge}
        if self.rule == "first":
            host.checkpoints.seen(number)
        act[frame.kind](frame)
        if self.rule == "late":
            host.checkpoints.seen(number)
        self.drain(host)
        return True

    def settle(self, node, peer, done):
        """Let frames go between two nodes until `done(link)`, or until none is under way."""
        one, other = self.hosts[node], self.hosts[peer]
        link = one.links[peer]
        while not done(link):
            if self.pump(one, peer) or (other is not None and self.pump(other, node)):
                continue
            if self._unplug(one, peer) or (other is not None and self._unplug(other, node)):
                continue
            if other is None or not (link.wanted or other.links[node].wanted):
                return
            self.connect(one, other)

    def _unplug(self, host, peer):
        """A socket that leads nowhere is given up, if the end is not open."""
        socket, link = host.sockets.get(peer), host.links[peer]
        if socket is None:
            return False
        astray = socket.hosts[peer] is not self.hosts[peer] and not (link.open or link.half)
        if socket.broken or astray:
            self._notice(host, peer, link.lost)
            del host.sockets[peer]
            return True
        return False

    def _notice(self, host, peer, news):
        """A link learns something that no frame told it."""
        news()
        if host.links[peer].error:
            self.events.append(Noticed(host.name, peer))

    def jitter(self):
        """Some frames and datagrams arrive, some sockets are opened, as chance wants it."""
        up = [host for host in self.hosts.values() if host is not None]
        for _ in range(self.random.randrange(4) if up else 0):
            host, peer = self.random.choice(up), self.random.choice(up)
            if host is peer:
                continue
            if host.links[peer.name].wanted or self.random.random() < 0.02:
                self.connect(host, peer)
            self.pump(host, peer.name)
        if self.mail and self.random.random() < 0.2:
            self._arrive_early(self.random.choice(self.mail))

    def _arrive_early(self, datagram):
        """On an ordered network, only what comes before all others of its pair."""
        pair = [
            each for each in self.mail if (each.source, each.to) == (datagram.source, datagram.to)
        ]
        if self.system.network != "ordered" or pair[0] is datagram:
            self.arrive(datagram)

    # -- connections -------------------------------------------------------------------------

    def _arrived(self, event):
        """Whether the message can be taken; false if the node learns first that it is half open."""
        body = self._head(event).encoded
        if event.node != event.source:
            self.settle(
                event.node,
                event.source,
                lambda link: link.error or (link.ready and link.inbox[0] == body),
            )
        link = self.hosts[event.node].links[event.source]
        if link.error:
            at = (self.system.index(event.node), self.system.index(event.source))
            assert at in self.world._transport.streams.half_open(), "an error out of nowhere"
            return False
        assert link.ready and link.inbox[0] == body, "a message does not arrive"
        return True

    def _hears(self, event):
        """The link of a node learns what the node is about to hear."""
        host, peer = self.hosts[event.node], self.hosts[event.peer]
        link, socket = host.links[event.peer], host.sockets.get(event.peer)
        gone = peer is None or (socket is not None and socket.hosts[event.peer] is not peer)
        if not link.error and socket is not None and socket.broken:
            self._notice(host, event.peer, link.lost)
            del host.sockets[event.peer]
        if not link.error:
            self.settle(event.node, event.peer, lambda link: link.error or link.half)
        if link.half:
            self._notice(host, event.peer, link.expire)
        if not link.error and (gone or self._restarted(host, event.peer)):
            self._notice(host, event.peer, link.refused)
            host.sockets.pop(event.peer, None)
        assert link.error, f"{event.kind}: the link of {event.node} knows of no error"
        self.drain(host)

    def _restarted(self, host, peer):
        return 0 < host.links[peer].met < self.processes[peer]

    def _end(self, node, silently):
        host = self.hosts[node]
        self.bounds[node] = host.checkpoints.number + 1 if self.reserves else 0
        for peer, other in self.hosts.items():
            socket = None if other is None else other.sockets.get(node)
            if socket is None:
                continue
            socket.ways[node].clear()
            if not silently:
                socket.broken = True
            if self.random.random() < 0.5:
                socket.ways[peer].clear()
            link = other.links[node]
            if not (link.open or link.half):
                self._notice(other, node, link.lost)
                del other.sockets[node]
        self.hosts[node] = None

    def _boot(self, node):
        self.processes[node] += 1
        self.hosts[node] = Host(self, node, self.processes[node], self.bounds[node])
