"""The protocol: nodes form a tree of bounded degree whose root is the smallest of them.

A node asks to join at any node it knows; the question is passed to the root, which takes it as a
child or passes it down at random. Who loses its parent joins again. Nodes that know of each other
compare their roots from time to time, so that trees find together again.

Each name in `missing` takes one fix away; see `bugs.py` for what then goes wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from presage import Service, action, broken, on, state, timer
from presage.systems.randtree.messages import (
    ACCEPTED,
    LOOP,
    ROOT_FORCE,
    Join,
    JoinReply,
    NewRoot,
    Present,
    Probe,
    ProbeJoin,
    Rejoin,
    Remove,
    UpdateSiblings,
)

Phase = Literal["init", "joining", "joined"]


class RandTree(Service):
    """A node of the tree."""

    contacts: frozenset[str]  # whom it asks when it joins
    degree: int  # how many children it may have
    missing: frozenset[str] = frozenset()
    phase: Phase = "init"
    root: str = ""
    parent: str | None = None
    children: set[str] = state(set)
    siblings: set[str] = state(set)  # kept up to date for the root's children
    peers: set[str] = state(set)  # everyone it may ask or probe
    bootstrap: str | None = None  # whom it asked last
    probed: str | None = None

    def start(self) -> None:
        self.root = self.name

    def neighbours(self) -> list[str]:
        """The root, the parent, then children and siblings: whom a prediction has to know."""
        above = [self.root or self.name, *([self.parent] if self.parent else [])]
        return [*above, *sorted(self.children), *sorted(self.siblings)]

    # -- joining -----------------------------------------------------------------------------

    @action(when=lambda self: self.phase == "init")
    def join_overlay(self) -> None:
        self.peers = set(self.contacts) - {self.name}
        if self.peers:
            self._join(min(self.peers))
        else:
            self.phase = "joined"
        if not self._arms_late():
            self.arm("recovery")

    def _arms_late(self) -> bool:
        return "arm_early" in self.missing or ("arm_alone" in self.missing and not self.peers)

    def _join(self, at: str) -> None:
        self.phase = "joining"
        self.peers.add(at)
        self.bootstrap = at
        self.stream.send(at, Join(self.name))
        self.arm("join")

    @timer(after=5)  # as in Mace
    def join(self) -> None:
        """Nobody has answered: ask the next."""
        if self.phase != "joining":
            return
        if "root_is_me" not in self.missing:
            self.root = self.name
        self._normalise()
        self._join(self._next_contact())

    def _next_contact(self) -> str:
        assert self.bootstrap is not None
        others = self.peers - self.children
        return self._after(self.bootstrap, others) if others else self.bootstrap

    def _after(self, name: str, names: Iterable[str]) -> str:
        """The one that follows `name` among `names`, in a circle."""
        ordered = sorted(names)
        return next((each for each in ordered if each > name), ordered[0])

    @on(Join)
    def asked(self, join: Join, source: str) -> None:
        if self.phase == "init":
            return
        who = join.who
        if source == who and self._not_a_child(who):
            return
        if self.root not in (self.name, who, join.redirected):
            self.stream.send(self.root, Join(who))
        elif who == self.root:
            self.stream.send(who, JoinReply(LOOP, who))
        elif self.root == self.name and who < self.name:
            self.stream.send(who, JoinReply(ROOT_FORCE, who))
            self._normalise()
            self._join(who)
        elif who > self.root and who != self.parent:
            self._take(who)

    def _take(self, who: str) -> None:
        """Make `who` a child, or pass it down."""
        if who in self.children:
            if "ignore_child" in self.missing:
                self._accept(who)
            return
        if len(self.children) < self.degree or "full" in self.missing:
            self._accept(who)
        else:
            below = self.choose(sorted(self.children))
            self.stream.send(below, Join(who, self.root))

    def _accept(self, who: str) -> None:
        self.children.add(who)
        if "accept_drop" not in self.missing:
            self.siblings.discard(who)
        self._normalise()
        others = frozenset(self.children - {who})
        self.stream.send(who, JoinReply(ACCEPTED, self.root, others))
        if self.root == self.name:
            self._joined()
            self._tell_children()

    def _joined(self) -> None:
        self.phase = "joined"
        self.disarm("join")

    @on(JoinReply)
    def answered(self, reply: JoinReply, source: str) -> None:
        accepted = reply.code == ACCEPTED
        if self.phase == "init":
            if accepted and "reply_in_init" not in self.missing:
                self.stream.send(source, Remove())
        elif self.phase == "joined":
            if accepted and source != self.parent:
                self.stream.send(source, Remove())
        elif accepted and source in self.children:
            self.stream.send(source, Remove())  # not in Mace: else two nodes could be in a circle
        elif accepted:
            self._found(source, reply)
        else:
            assert self.root == self.name, (
                f"{self.name} is told to be the root, and has {self.root}"
            )
            self._joined()

    def _found(self, parent: str, reply: JoinReply) -> None:
        self.parent = parent
        self._install(reply.root, reply.siblings, drops="reply_drop" not in self.missing)
        self._joined()
        if "arm_early" in self.missing:
            self.arm("recovery")
        self._tell_root()

    # -- the family --------------------------------------------------------------------------

    def _install(self, root: str, siblings: Iterable[str], *, drops: bool) -> None:
        """Take over what the parent says; nobody in it can be below this node."""
        self.root = root
        self.siblings = set(siblings)
        if drops:
            self._drop({root, *siblings})
        self._normalise(reached=True)

    def _drop(self, names: Iterable[str]) -> None:
        """Give up children. Mace, as mended by CrystalBall's authors, does not tell them."""
        for child in sorted(self.children & set(names)):
            self.children.discard(child)
            if "drop_rejoins" not in self.missing:
                self.stream.send(child, Rejoin())

    def _normalise(self, *, reached: bool = False) -> None:
        """Who is the root has no siblings, and nobody is a sibling of its family."""
        if self.root == self.name and (reached or "clear_siblings" not in self.missing):
            self.siblings = set()
        self.siblings -= {self.name, self.root, self.parent or self.name}

    def _tell_children(self) -> None:
        for child in sorted(self.children):
            self.stream.send(child, self._news(child))

    def _news(self, child: str) -> UpdateSiblings:
        return UpdateSiblings(self.root, frozenset(self.children - {child}))

    def _tell_root(self, path: tuple[str, ...] = ()) -> None:
        for child in sorted(self.children):
            self.stream.send(child, self._new_root(path))

    def _new_root(self, path: tuple[str, ...] = ()) -> NewRoot:
        return NewRoot(self.root, (*path, self.name) if "compare" not in self.missing else ())

    @on(Remove)
    def left(self, remove: Remove, source: str) -> None:
        if "remove_always" in self.missing and self.phase != "joined":
            return
        if source in self.children and "farewell" not in self.missing:
            # Not in Mace. The farewell may mean an earlier acceptance than the one under way, which
            # the child then believes in: whoever is forgotten is told, behind that acceptance.
            self.stream.send(source, Rejoin())
        self._forget_child(source)

    def _forget_child(self, child: str) -> None:
        if child in self.children:
            self.children.discard(child)
            if self.root == self.name:
                self._tell_children()

    def _not_a_child(self, name: str) -> bool:
        """Whether a child does not behave as one: it was reset, and nobody was told.

        Not in Mace, where a connection of the new life replaces the old one, and that is told.
        """
        if name not in self.children or "strange_child" in self.missing:
            return False
        self._forget_child(name)
        self.stream.close(name)
        return True

    @on(UpdateSiblings)
    def updated(self, update: UpdateSiblings, source: str) -> None:
        if not self._stray(source) and self.phase == "joined":
            drops = "siblings_drop" not in self.missing
            self._install(update.root, update.siblings, drops=drops)

    @on(NewRoot)
    def moved(self, new: NewRoot, source: str) -> None:
        if self._stray(source):
            return
        if self.name in new.path:  # three or more in a circle, all of one mind: nobody else sees it
            self.stream.send(source, Remove())
            self._orphaned()
            return
        self.root = new.root
        if "root_drop" not in self.missing:
            self._drop({new.root})
        self._normalise(reached=True)
        self._tell_root(new.path)

    @on(Rejoin)
    def expelled(self, rejoin: Rejoin, source: str) -> None:
        if self.phase == "joined" and source == self.parent:
            self._orphaned()

    def _orphaned(self) -> None:
        """Join again at the old root."""
        old = self.root
        self.parent = None
        if "root_is_me" not in self.missing:
            self.root = self.name
        self._normalise()
        self._join(old)

    # -- healing -----------------------------------------------------------------------------

    @timer(periodic=True, after=10)  # as in Mace
    def recovery(self) -> None:
        """Compare views with the next node: of the root, or with the family, of who belongs to it.

        Mace asks strangers only. Then a node that was reset, and talked to its family before they
        heard of the reset, remains their parent or child for ever, without knowing it.
        """
        family = self.children | ({self.parent} if self.parent else set())
        known = self.peers - family - {self.root, self.name} if self.phase == "joined" else set()
        if "compare" not in self.missing:
            known |= family  # also while it joins: what it takes for a child may be above it by now
        if not known:
            return
        self.probed = self._after(self.probed or "", known)
        if self.probed == self.parent:
            self.stream.send(self.probed, Present())
        elif self.probed in self.children:
            self._tell_child(self.probed)
        else:
            self.stream.send(self.probed, Probe(self.root))

    def _tell_child(self, child: str) -> None:
        """What it knows, if it is one; who is not says so."""
        if self.root == self.name:
            self.stream.send(child, self._news(child))
        else:
            self.stream.send(child, self._new_root())

    @on(Present)
    def counted(self, present: Present, source: str) -> None:
        if source not in self.children:
            self.stream.send(source, Rejoin())

    def _stray(self, source: str) -> bool:
        """Whether what a parent tells comes from somebody else, who then hears of it."""
        if source == self.parent:
            return False
        if "compare" not in self.missing:
            self.stream.send(source, Remove())
        return True

    @on(Probe)
    def asked_for_root(self, probe: Probe, source: str) -> None:
        if self.phase != "joined" or self._not_a_child(source):
            return
        if self.root < probe.root:
            self.stream.send(probe.root, ProbeJoin(self.root))
        elif self.root > probe.root and self.root == self.name:
            self._join(probe.root)
        elif self.root > probe.root:
            self.stream.send(self.root, ProbeJoin(probe.root))

    @on(ProbeJoin)
    def told_of_root(self, probe: ProbeJoin, source: str) -> None:
        if self.phase == "joined" and self.root == self.name and probe.root < self.name:
            self._join(probe.root)

    @broken
    def lost(self, peer: str) -> None:
        self._forget_child(peer)
        if peer != self.parent:
            return
        if self.root != peer:
            self._orphaned()
            return
        heir = min({*self.siblings, self.name})
        self.parent = None
        if heir == self.name or "root_is_me" not in self.missing:
            self.root = self.name
        self._normalise()
        if heir == self.name:
            self._tell_root()
        else:
            self._join(heir)
