"""What comes before what in the logs of live nodes, beyond the order of each and of messages.

A model forgets at once what a network forgets later, so it cannot take every order of entries that
causes alone allow. Who handled a message did so before its sender gave up that life of their
connection, or crashed, and after the sender began it. Who found no room in a queue did so before
the peer handled what was in it. The rest is learned: who was refused, was so before a start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import inf

from presage.model.world.system import System
from presage.records import record
from presage.runtime.log import Entry

SUSPECTS_MAX = 8  # of which pairs are tried

Ends = tuple[str, str]  # a node, and its peer
Process = tuple[str, int]  # of a node, and which of its lives


@record(frozen=True)
class Item:
    """An entry of a log, or the crash between two lives."""

    node: str
    time: float
    entry: Entry | None  # None: a crash
    life: int


class Precedence:
    """What looks ahead: entries that must be taken before others."""

    def __init__(self, system: System, items: Mapping[str, Sequence[Item]]) -> None:
        self.items = items
        self._names = system.names
        self._codec = system.codec
        self._bounded = system.streams is not None and system.streams.queue_size is not None
        self._learned: dict[tuple[str, int], set[tuple[str, int]]] = {}
        # Per (node, peer), with the place of each item:
        self._handled: dict[Ends, list[tuple[int, int, int]]] = {}  # life, process of the peer
        self._begun: dict[Ends, list[tuple[int, int]]] = {}  # lives of connections
        self._asked: dict[Ends, list[tuple[int, int, int]]] = {}  # life, known to be handled
        self._starts: dict[tuple[str, int], int] = {}  # (node, life) -> the place of its start
        for name, each in items.items():
            for at, item in enumerate(each):
                if item.entry is not None:
                    self._index(name, at, item.entry)

    def _index(self, name: str, at: int, entry: Entry) -> None:
        self._starts.setdefault((name, entry.life), at)
        if entry.stream is not None:
            source = self._names[entry.stimulus(self._codec)[1]]
            life, _, process = entry.stream
            self._handled.setdefault((name, source), []).append((at, life, process))
        for peer, life in entry.begun:
            self._begun.setdefault((name, peer), []).append((at, life))
        for peer, life, known in entry.asked if self._bounded else ():
            self._asked.setdefault((name, peer), []).append((at, life, known))

    def learn(self, node: str, before: int, peer: str, place: int) -> bool:
        """The last start of `node` among its first `before` items comes after that of `peer`."""
        starts = [at for at in range(1, before) if self.items[node][at - 1].entry is None]
        if not starts:
            return False
        waits = self._learned.setdefault((node, starts[-1]), set())
        known = (peer, place) in waits
        waits.add((peer, place))
        return not known

    def allow(self, item: Item, at: Mapping[str, int]) -> bool:
        """Whether nothing that must come before `item` is still to come."""
        node, entry = item.node, item.entry
        learned = self._learned.get((node, at[node]), ())
        if any(at[peer] <= place for peer, place in learned):
            return False
        if entry is None:
            return all(
                place < at[peer] or process != item.life
                for peer in self._names
                if peer != node
                for place, _, process in self._handled.get((peer, node), ())
            )
        given_up = all(
            place < at[peer] or handled >= life
            for peer, life in entry.begun
            if peer != node
            for place, handled, _ in self._handled.get((peer, node), ())
        )
        return given_up and (entry.stream is None or self._received(node, entry, at))

    def _received(self, node: str, entry: Entry, at: Mapping[str, int]) -> bool:
        """Whether a message may be handled now, for all that its sender did before."""
        assert entry.stream is not None
        life, position, process = entry.stream
        source = self._names[entry.stimulus(self._codec)[1]]
        if source == node:
            return True
        if self._starts.get((source, process), -1) >= at[source]:
            return False
        begun = self._begun.get((source, node), ())
        if any(place >= at[source] and other <= life for place, other in begun):
            return False
        asked = self._asked.get((source, node), ())
        return all(
            place < at[source] or other != life or known >= position
            for place, other, known in asked
        )


class Silence:
    """Which processes have ended without a word, as by a loss of power: guesses, kept if they help.

    A guess helps if the merge gets further with it than it ever did. Where it does not, the next
    suspect of the attempt that got furthest is tried; then pairs of them.
    """

    def __init__(self) -> None:
        self.ends: set[Process] = set()
        self._good: set[Process] = set()  # of these, those that have helped
        self._guesses: deque[tuple[Process, ...]] = deque()
        self._furthest = -1

    def suspect(self, suspects: Sequence[Process], steps: int) -> bool:
        """The merge got stuck after so many steps: guess once more; false if nothing is left."""
        if steps > self._furthest:
            self._furthest, self._good = steps, set(self.ends)
            likely = [each for each in suspects if each not in self._good]
            pairs = combinations(likely[:SUSPECTS_MAX], 2)
            self._guesses = deque([*((each,) for each in likely), *pairs])
        if not self._guesses:
            return False
        self.ends = self._good | set(self._guesses.popleft())
        return True


def items_of(entries: Sequence[Entry]) -> list[Item]:
    """A log without the steps that a crash undid, and with the crashes between its lives."""
    lives: dict[int, list[Entry]] = {}
    for entry in entries:
        lives.setdefault(entry.life, []).append(entry)
    found: list[Item] = []
    for life, mine in sorted(lives.items()):
        if found:
            found.append(Item(mine[0].node, mine[0].time, None, life - 1))
        after = lives.get(life + 1)
        kept = inf if after is None else after[0].recovered
        found += [Item(each.node, each.time, each, life) for each in _until(mine, kept)]
    return found


def _until(entries: Sequence[Entry], kept: float) -> Iterable[Entry]:
    """The steps of a life up to the first whose changes are not among those that were kept."""
    for entry in entries:
        if entry.changes > kept:
            return
        yield entry
