"""An observed-remove set: replicas that add and remove by themselves, and agree in the end.

After Shapiro, Preguiça, Baquero and Zawirski, "A Comprehensive Study of Convergent and Commutative
Replicated Data Types" (2011). Each `add` has a tag of its own. `remove` takes away the tags that
the replica has seen, so an `add` that it did not know of wins. A message may arrive before another
that caused it, so removed tags are remembered: an `add` that comes late stays removed.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from presage import HOLDS, Service, System, Verdict, WorldView, action, always, on

Bug = Literal["none", "split_add", "nocausal", "remove_all"]
Tag = tuple[str, int]  # the replica, and how many operations it did before
Op = tuple[Literal["add", "remove", "read"], str]
OPS: tuple[Op, ...] = (("add", "a"), ("remove", "a"), ("add", "b"), ("read", ""))


class Add(Struct, frozen=True):
    """An element was added under a tag."""

    element: str
    tag: Tag


class AddElement(Struct, frozen=True):
    """The first half of an `Add` that was sent in two parts; the second is the `Add`."""

    element: str


class Remove(Struct, frozen=True):
    """The tags of an element were removed."""

    element: str
    tags: frozenset[Tag]
    op: Tag


class Replica(Service):
    """Does some operations of its own, and what others tell it."""

    peers: tuple[str, ...]
    ops: int
    bug: Bug = "none"
    done: int = 0
    entries: frozenset[tuple[str, Tag]] = frozenset()
    removed: frozenset[Tag] = frozenset()
    heard: frozenset[Tag] = frozenset()  # operations that were applied here
    untagged: frozenset[str] = frozenset()  # of half an `Add`

    @action(when=lambda self, op: self.done < self.ops, over=OPS)
    def operate(self, op: Op) -> None:
        kind, element = op
        tag = (self.name, self.done)
        self.done += 1
        if kind == "add":
            if self.bug == "split_add":
                self._tell(AddElement(element))
            self._tell(Add(element, tag))
            self.apply_add(Add(element, tag))
        elif kind == "remove":
            seen = frozenset(t for e, t in self.entries if e == element)
            self._tell(Remove(element, seen, tag))
            self.apply_remove(Remove(element, seen, tag))
        else:
            assert not self.untagged, f"{sorted(self.untagged)} without a tag"

    @on(AddElement)
    def begin_add(self, message: AddElement) -> None:
        self.untagged |= {message.element}

    @on(Add)
    def apply_add(self, add: Add) -> None:
        self.untagged -= {add.element}
        self.heard |= {add.tag}
        if self.bug == "nocausal" or add.tag not in self.removed:
            self.entries |= {(add.element, add.tag)}

    @on(Remove)
    def apply_remove(self, remove: Remove) -> None:
        self.heard |= {remove.op}
        tags = remove.tags
        if self.bug == "remove_all":
            tags = frozenset(tag for element, tag in self.entries if element == remove.element)
        self.removed |= tags
        self.entries = frozenset(entry for entry in self.entries if entry[1] not in tags)

    def elements(self) -> frozenset[str]:
        return frozenset(element for element, _ in self.entries)

    def _tell(self, message: Add | AddElement | Remove) -> None:
        for peer in self.peers:
            self.send(peer, message)


@always
def converged(world: WorldView) -> Verdict:
    """Replicas that have heard of the same operations have the same elements."""
    known: dict[frozenset[Tag], Replica] = {}
    for replica in world.of(Replica):
        other = known.setdefault(replica.heard, replica)
        if other.elements() != replica.elements():
            return Verdict.fails(f"{other.name} and {replica.name} differ")
    return HOLDS


def system(*, replicas: int = 2, ops: int = 2, bug: Bug = "none") -> System:
    """Replicas that tell each other everything.

    replicas: how many.
    ops: how many operations each of them does.
    bug: `split_add` sends an `add` in two parts, between which a read sees half of it; `nocausal`
        forgets what was removed before it was added; `remove_all` removes also what the remover
        did not know of.
    """
    names = tuple(f"r{n}" for n in range(replicas))
    return System(
        {
            name: Replica(peers=tuple(n for n in names if n != name), ops=ops, bug=bug)
            for name in names
        },
        network="ordered",
        properties=[converged],
        name="OR-Set",
    )
