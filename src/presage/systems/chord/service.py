"""A node of a Chord ring, as Mace had it, with every fix; `missing` takes fixes out again.

After Stoica et al., "Chord: a scalable peer-to-peer lookup protocol for internet applications",
2003, and the Mace implementation whose bugs MaceMC and CrystalBall found.

Invariants: `fingers[i]` is the nearest known node at a distance of 2**i or more, or the node
itself; `fingers[0]` is the successor. `successors` are the nearest known, in ring order.
"""

from __future__ import annotations

from presage import Service, action, broken, on, state, timer
from presage.systems.chord.circle import BITS, SIZE, ahead, ident, within
from presage.systems.chord.messages import (
    FindPred,
    FindPredReply,
    GetPred,
    GetPredReply,
    Nodes,
    Ping,
    Pong,
    Remove,
    UpdatePred,
)


class Chord(Service):
    """One node. It joins by itself, through one of its contacts, whenever it is not joined."""

    contacts: Nodes  # through whom it may join; itself: it begins a ring
    keeps: int  # how many successors it remembers
    missing: frozenset[str] = frozenset()  # the fixes it does not have

    phase: str = "init"  # then "joining", then "joined"
    source: str = ""  # through whom it joined
    pred: str | None = None
    fingers: list[str] = state(list)
    successors: list[str] = state(list)
    waiting: list[str] = state(list)  # who asked to join before this node had joined
    first: int = 0  # it owns the identifiers from here to its own

    @property
    def ident(self) -> int:
        """Its place on the circle."""
        return ident(self.name)

    @property
    def successor(self) -> str:
        """The next node on the ring; itself if it knows of none."""
        return self.fingers[0] if self.fingers else self.name

    def neighbours(self) -> list[str]:
        """The predecessor, successors and fingers: whom a prediction has to know."""
        return [*([self.pred] if self.pred else []), *self.successors, *self.fingers]

    # -- joining -----------------------------------------------------------------------------

    def start(self) -> None:
        self.pred = self.name
        self.fingers = [self.name] * BITS
        self.first = (self.ident + 1) % SIZE if self._has("closed_range") else self.ident

    @action(when=lambda self, contact: self.phase == "init", over=lambda self: self.contacts)
    def join(self, contact: str) -> None:
        self.source = contact
        if contact == self.name:
            self._joined()
        else:
            self.phase = "joining"
            self.ask_again()

    @timer(after=5)  # the delays are ours: RandTree's, and Mace's sources do not state others
    def ask_again(self) -> None:
        if self.phase == "joining":
            self.stream.send(self.source, FindPred(self.ident, self.name, True))
            self.arm("ask_again")

    def _joined(self) -> None:
        self.phase = "joined"
        self.disarm("ask_again")
        self.arm("stabilize")
        self.arm("fix_fingers")
        if self.source != self.name and self._has("recovery"):
            self.arm("recovery")
        waiting, self.waiting = self.waiting, []
        for who in waiting:
            self._find(FindPred(ident(who), who, True))

    @on(FindPred)
    def find_pred(self, find: FindPred, source: str) -> None:
        if self.phase == "joined":
            self._find(find)
        elif find.who != source or not find.joins:
            self.stream.send(source, Remove())
        elif source not in self.waiting:
            self.waiting.append(source)

    def _find(self, find: FindPred) -> None:
        hop = self._towards(find.key)
        assert hop is not None, "no next hop"
        if hop != self.name:
            self.stream.send(hop, find)
        elif find.who != self.name:
            known = tuple(self.successors)
            self.stream.send(find.who, FindPredReply(True, find.key, self.successor, known))

    @on(FindPredReply)
    def found_pred(self, reply: FindPredReply, source: str) -> None:
        if self.phase == "joining" and reply.is_pred:
            self._enter(reply, source)
        elif self.phase == "joined":
            self._compare(reply, source)

    def _enter(self, reply: FindPredReply, source: str) -> None:
        """Take the place after `source`."""
        self._hear_of(reply.successor, *reply.successors)
        if reply.successor != self.name or not self._has("no_update_to_self"):
            self.stream.send(reply.successor, UpdatePred())
        self._precede(source)
        if self._has("joiner_learns"):
            self._learn(source)
        self._keep_order()
        self._joined()

    def _compare(self, reply: FindPredReply, source: str) -> None:
        """Learn from the answer about a finger, or about the own place on the ring."""
        if reply.is_pred and source != self.name and self._has("learn_source"):
            self._no_longer_alone()
            self._learn(source)
        if reply.key == self.ident:
            if reply.successor == self.name:
                return
            if self._has("recovery") and self._has("answer"):
                self.stream.send(source, FindPredReply(False, self.ident, self.name, ()))
        if reply.successor != self.name:
            if self.pred == self.name or self._has("learn_successor"):
                self._no_longer_alone()
                self._hear_of(reply.successor)

    def _no_longer_alone(self) -> None:
        if self.pred == self.name and self._has("clear_pred"):
            self.pred = None

    # -- keeping the ring --------------------------------------------------------------------

    @timer(periodic=True, after=2)
    def stabilize(self) -> None:
        if self.successor != self.name:
            self.stream.send(self.successor, GetPred())
        elif self.pred is None and self._has("alone_again"):
            self._precede(self.name)
        self._check(self.pred)

    @on(GetPred)
    def get_pred(self, get: GetPred, source: str) -> None:
        if self.phase == "joined":
            self.stream.send(source, self._neighbours(self.pred, source))

    def _neighbours(self, pred: str | None, asker: str) -> GetPredReply:
        known = {self.name, *self.fingers, *self.successors} - {asker}
        likely = min(known, key=lambda node: ahead(ident(asker), ident(node)))
        return GetPredReply(pred, tuple(self.successors), likely)

    @on(GetPredReply)
    def got_pred(self, reply: GetPredReply, source: str) -> None:
        if self.phase != "joined" or source != self.successor:
            return
        self._hear_of(*reply.successors)
        if reply.pred == self.name:
            return
        self._hear_of(reply.likely)
        if reply.pred is not None:
            self._hear_of(reply.pred)
        if self.successor != self.name:
            self.stream.send(self.successor, UpdatePred())

    @on(UpdatePred)
    def update_pred(self, update: UpdatePred, source: str) -> None:
        if self.phase != "joined" or source == self.name and self._has("no_update_to_self"):
            return
        old = self.pred
        if old is not None and not self._between(source, old):
            return
        if old is not None and old != self.name and self._has("push"):
            self.stream.send(old, self._neighbours(source, old))
        if old in (None, self.name) or self._has("closer_pred"):
            self._precede(source)
        if self._has("learn_pred"):
            self._learn(source)
        self._keep_order()

    def _between(self, node: str, pred: str) -> bool:
        """Whether `node` lies between `pred` and this node."""
        return ahead(ident(pred), ident(node)) < ahead(ident(pred), self.ident)

    @timer(periodic=True, after=5)
    def fix_fingers(self) -> None:
        if self.name in (self.pred, self.successor):
            return
        which = self.choose(range(BITS))
        self._check(self.fingers[which])
        key = (self.ident + 2**which) % SIZE
        hop = self._towards(key)
        assert hop is not None, "no next hop"
        if hop != self.name:
            self.stream.send(hop, FindPred(key, self.name, False))

    @timer(periodic=True, after=10)
    def recovery(self) -> None:
        self.stream.send(self.source, FindPred(self.ident, self.name, False))

    # -- losing nodes ------------------------------------------------------------------------

    @on(Remove)
    def remove(self, remove: Remove, source: str) -> None:
        self.forget(source)

    @broken
    def forget(self, node: str) -> None:
        if self.pred == node:
            self.pred = None
        if node in self.successors:
            self.successors.remove(node)
        for i in reversed(range(BITS)):
            if self.fingers[i] == node:
                self.fingers[i] = self.fingers[i + 1] if i + 1 < BITS else self.name
        if self.pred is not None:
            self._learn(self.pred)
        for finger in self.fingers:
            if finger != self.name:
                self._remember(finger)
        for successor in list(self.successors):
            self._learn(successor)

    # -- asking before believing -------------------------------------------------------------

    def _hear_of(self, *nodes: str) -> None:
        """Somebody says that these are on the ring: believe it, or ask them first."""
        for node in nodes:
            if not self._has("ask_first"):
                self._learn(node)
            elif node not in self.successors:
                self._check(node)

    def _check(self, node: str | None) -> None:
        """Find out whether it is there; if not, the stream breaks, and it is forgotten."""
        if node is not None and node != self.name and self._has("ask_first"):
            self.stream.send(node, Ping())

    @on(Ping)
    def ping(self, ping: Ping, source: str) -> None:
        if self.phase == "joined":
            self.stream.send(source, Pong())

    @on(Pong)
    def pong(self, pong: Pong, source: str) -> None:
        if self.phase == "joined":
            self._no_longer_alone()
            self._learn(source)

    # -- what it knows -----------------------------------------------------------------------

    def owns(self, key: int) -> bool:
        """Whether `key` lies after its predecessor and not after itself."""
        end = self.ident + 1 if self._has("closed_range") else self.ident
        return within(key, self.first, end)

    def next_hop(self, key: int) -> str:
        """Where a message for the owner of `key` goes next."""
        if self.owns(key):
            return self.name
        if self._follows(key):
            return self.successor
        return self._last_before(key)

    def _towards(self, key: int) -> str | None:
        """Where a question for the node before `key` goes next."""
        if self.owns(key):
            return self._before_me()
        return self.name if self._follows(key) else self._last_before(key)

    def _before_me(self) -> str | None:
        if self.pred is not None:
            return self.pred
        others = [finger for finger in self.fingers if finger != self.name]
        if others:
            return others[-1]
        return self.name if self._has("hop_alone") else None

    def _follows(self, key: int) -> bool:
        """Whether `key` lies after this node, and not after its successor."""
        return ahead(self.ident, key) <= ahead(self.ident, ident(self.successor))

    def _last_before(self, key: int) -> str:
        limit = ahead(self.ident, key)
        before = [node for node in self.fingers if ahead(self.ident, ident(node)) < limit]
        assert before, "no finger lies before the key"
        return before[-1]

    def _precede(self, node: str) -> None:
        """Let `node` be the predecessor."""
        self.pred = node
        self.first = (ident(node) + 1) % SIZE

    def _keep_order(self) -> None:
        """No successor lies between predecessor and node: such a one is the predecessor."""
        if self.pred not in (None, self.name) and self.successors and self._has("order"):
            last = self.successors[-1]
            if self._between(last, self.pred):
                self._precede(last)

    def _learn(self, node: str) -> None:
        """Let `node` take every place it fits better than who has it."""
        self._remember(node)
        if node == self.name:
            return
        distance = ahead(self.ident, ident(node))
        for i, finger in enumerate(self.fingers):
            held = ahead(self.ident, ident(finger))
            exact = held == 2**i and not self._has("exact_finger")  # a perfect one is replaced
            if 2**i <= distance and (distance < held or exact):
                self.fingers[i] = node
        self._keep_order()

    def _remember(self, node: str) -> None:
        """Keep it among the successors, if it is one of the nearest."""
        if node in self.successors or node == self.name and self._has("not_own_successor"):
            return
        self.successors.append(node)
        if self._has("list_order"):
            self.successors.sort(key=lambda known: ahead(self.ident, ident(known)))
            del self.successors[self.keeps :]

    def _has(self, fix: str) -> bool:
        return fix not in self.missing
