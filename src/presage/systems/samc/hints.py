"""Quorum reads and hinted handoff of Cassandra 1.0.1, which return what was deleted (CASS-3395).

Three replicas hold a row of columns; per column the newest write wins. The first is the coordinator
of all requests. A write is done when two replicas have it; for a replica that is down the
coordinator keeps a hint, and hands its hints over when the replica is back. A read asks for the
newest columns that are not deleted, up to a count: data of the first replica, digests of the
others. If the first two answers differ, it asks all for data, and merges what they say.

An answer stops at the count, before older columns and the marks of their deletion. A replica that
has not got its hints yet stops earlier in time. So the merged row has more columns than were asked
for, deleted ones among them, and it was returned as it is. The repair cuts it to the count.

Certain: cause and repair, read in Cassandra's history; the outline, from the paper. Reconstructed:
the columns, and the order of messages. Abstracted: a broken connection tells the coordinator that a
replica is down, and a new one that it is up; reads always ask all three (read repair).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from presage import (
    HOLDS,
    Call,
    Connect,
    Faults,
    Service,
    Streams,
    System,
    Verdict,
    WorldView,
    action,
    always,
    broken,
    durable,
    on,
    state,
)

Bug = Literal["none", "CASS-3395"]
Victims = Literal["replicas", "all"]
REPLICAS = ("n1", "n2", "n3")  # the first is the coordinator
QUORUM = 2
COUNT = 1  # of columns, in a read


class Column(NamedTuple):
    """What one write did to one column; the time tells which write it was."""

    name: int  # later columns have larger names
    time: int
    dead: bool = False


Row = tuple[Column, ...]
WRITES = (Column(1, 1), Column(2, 2), Column(1, 3, dead=True))


def merge(columns: Iterable[Column]) -> dict[int, Column]:
    """The newest write of each column."""
    newest: dict[int, Column] = {}
    for column in sorted(columns, key=lambda column: column.time):
        newest[column.name] = column
    return newest


def live(row: Row) -> int:
    return sum(not column.dead for column in row)


def walk(columns: dict[int, Column], count: int) -> Row:
    """From the newest column on, with marks of deletion, until `count` are live."""
    walked: list[Column] = []
    for name in sorted(columns, reverse=True):
        if live(tuple(walked)) == count:
            break
        walked.append(columns[name])
    return tuple(walked)


class Mutate(Struct, frozen=True):
    """Write this; `kind` says who wants to hear of it."""

    column: Column
    kind: Literal["write", "hint", "repair"]


class Mutated(Struct, frozen=True):
    column: Column
    kind: Literal["write", "hint"]


class Ask(Struct, frozen=True):
    """What is in the row?"""

    count: int
    digest: bool


class Answer(Struct, frozen=True):
    row: Row
    count: int
    digest: bool


class Replica(Service):
    """Holds the row."""

    bug: Bug
    row: dict[int, Column] = durable(factory=dict)

    def start(self) -> None:
        if self.name != REPLICAS[0]:
            self.stream.connect(REPLICAS[0])

    @on(Mutate)
    def mutate(self, mutate: Mutate, source: str) -> None:
        before = self.row.get(mutate.column.name)
        if before is None or before.time < mutate.column.time:
            self.row[mutate.column.name] = mutate.column
        if mutate.kind != "repair":
            self.stream.send(source, Mutated(mutate.column, mutate.kind))

    @on(Ask)
    def ask(self, ask: Ask, source: str) -> None:
        self.stream.send(source, Answer(walk(self.row, ask.count), ask.count, ask.digest))

    def recovery(self) -> object:
        """What it missed is what its row lacks."""
        return sorted(self.row.values())


class Coordinator(Replica):
    """Serves one client, whose requests come one after the other."""

    down: set[str] = state(set)
    hints: dict[str, list[Column]] = durable(factory=dict)
    handing: set[str] = state(set)  # to whom a hint is under way
    writing: Column | None = None  # what the client waits for
    acks: int = 0
    unsure: dict[Column, set[str]] = state(dict)  # who has not acknowledged a write
    reading: int = 0  # the count that is asked for; 0: no read
    digests: bool = False  # the first answers are awaited
    waiting: set[str] = state(set)  # whose answers are awaited
    answers: dict[str, Row] = state(dict)

    @property
    def idle(self) -> bool:
        return self.writing is None and not self.reading

    def write(self, number: int) -> None:
        column = WRITES[number]
        self.record(("write", column))
        self.writing, self.acks = column, 0
        self.unsure[column] = set(REPLICAS) - self.down
        for replica in REPLICAS:
            if replica in self.down:
                self._keep(replica, column)
            else:
                self.stream.send(replica, Mutate(column, "write"))

    @on(Mutated)
    def mutated(self, mutated: Mutated, source: str) -> None:
        if mutated.kind == "hint":
            self.hints[source].remove(mutated.column)
            self.handing.discard(source)
            self._next_hint(source)
            return
        self._settle(source, mutated.column)
        self.acks += mutated.column == self.writing
        if self.writing is not None and self.acks == QUORUM:
            self.record(("written", self.writing))
            self.writing = None

    def _settle(self, replica: str, column: Column) -> None:
        """Nothing more is to be heard of that write from that replica."""
        self.unsure.get(column, set()).discard(replica)
        if not self.unsure.get(column):
            self.unsure.pop(column, None)

    @on(Connect)
    def joined(self, connect: Connect, source: str) -> None:
        self.down.discard(source)

    def hinted(self) -> list[str]:
        up = set(REPLICAS) - self.down - self.handing
        return sorted(replica for replica in up if self.hints.get(replica))

    @action(over=hinted)
    def hand_over(self, replica: str) -> None:
        self._next_hint(replica)

    def _next_hint(self, replica: str) -> None:
        if self.hints[replica]:
            self.handing.add(replica)
            self.stream.send(replica, Mutate(self.hints[replica][0], "hint"))

    def _keep(self, replica: str, column: Column) -> None:
        self.hints[replica] = [*self.hints.get(replica, []), column]

    def read(self) -> None:
        self._ask(COUNT, digests=True)

    def _ask(self, count: int, *, digests: bool) -> None:
        self.reading, self.digests, self.answers = count, digests, {}
        self.waiting = set(REPLICAS) - self.down
        for number, replica in enumerate(REPLICAS):
            if replica in self.waiting:
                self.stream.send(replica, Ask(count, digests and number > 0))

    @on(Answer)
    def answered(self, answer: Answer, source: str) -> None:
        expected = self.digests and source != REPLICAS[0]
        if source not in self.waiting or (answer.count, answer.digest) != (self.reading, expected):
            return  # of an earlier question
        self.waiting.discard(source)
        self.answers[source] = answer.row
        if not self.digests:
            self._resolve()
        elif len(self.answers) >= QUORUM and REPLICAS[0] in self.answers:
            if len(set(self.answers.values())) == 1:
                self._finish(self.answers[REPLICAS[0]])
            else:
                self._ask(self.reading, digests=False)

    def _resolve(self) -> None:
        """Merge the answers, when all are there."""
        if self.waiting or len(self.answers) < QUORUM:
            return
        merged = merge(column for row in self.answers.values() for column in row)
        row = tuple(merged[name] for name in sorted(merged, reverse=True))
        for replica in sorted(self.answers):
            for column in row:
                if column not in self.answers[replica]:
                    self.stream.send(replica, Mutate(column, "repair"))
        most = max(live(answer) for answer in self.answers.values())
        if most == self.reading and live(row) < self.reading:
            self._ask(2 * self.reading - live(row), digests=False)  # what came was too short
        else:
            self._finish(row)

    def _finish(self, row: Row) -> None:
        result = [column for column in row if not column.dead]
        if self.bug != "CASS-3395":
            del result[COUNT:]
        self.record(("read", tuple(result)))
        self.reading, self.waiting, self.answers = 0, set(), {}

    @broken
    def lost(self, replica: str) -> None:
        """It is down: what it has not acknowledged becomes a hint, what it has not said is lost."""
        self.down.add(replica)
        self.handing.discard(replica)
        for column in sorted(self.unsure, key=lambda column: column.time):
            if replica in self.unsure[column]:
                self._keep(replica, column)
                self._settle(replica, column)
        self.waiting.discard(replica)
        if self.reading and not self.digests:
            self._resolve()

    def recovery(self) -> object:
        """What it owes to whom it can reach; which replica that is does not matter."""
        hinted = sorted((len(self.hints.get(r, [])), r in self.down) for r in REPLICAS[1:])
        return sorted(self.row.values()), hinted, self.reading, len(self.waiting)


class History(NamedTuple):
    """What the client knows."""

    begun: Row = ()
    written: Row = ()
    wrong: Row | None = None  # what a read returned that it must not


class Client:
    """Knows what a read may return: any result that some of its writes explain."""

    def initial(self) -> History:
        return History()

    def observe(self, history: History, node: str, record: Any) -> History:
        kind, what = record
        if kind == "write":
            return history._replace(begun=(*history.begun, what))
        if kind == "written":
            return history._replace(written=(*history.written, what))
        return history if what in allowed(history) else history._replace(wrong=what)


def allowed(history: History) -> set[Row]:
    """The results of reads that have all writes that were acknowledged, and any others."""
    others = [column for column in history.begun if column not in history.written]
    results = set()
    for size in range(len(others) + 1):
        for some in combinations(others, size):
            row = walk(merge((*history.written, *some)), COUNT)
            results.add(tuple(column for column in row if not column.dead))
    return results


@always
def reads_are_current(world: WorldView) -> Verdict:
    """A read returns the newest columns of all acknowledged writes, and no more than asked for."""
    wrong = world.observer("client").wrong
    return HOLDS if wrong is None else Verdict.fails(f"a read of {COUNT} column returned {wrong}")


def system(
    *,
    writes: int = 3,
    reads: int = 1,
    crashes: int = 1,
    restarts: int = 1,
    victims: Victims = "replicas",
    bug: Bug = "none",
) -> System:
    """A row on three nodes, and one client, whose requests the first of them serves.

    writes: a column, a later one, and the deletion of the first; so many of these.
    reads: of the newest column, after the writes.
    crashes: how many nodes may crash.
    restarts: how many of them may come back.
    victims: who may crash: the other two, as published, or `all`. Where the coordinator may, a
        replica misses writes for which nobody has a hint; a read can go wrong there, too.
    bug: `CASS-3395` returns all columns that merging gives.
    """
    calls = [Call("write", n, when=lambda node: node.idle) for n in range(writes)]
    calls += [Call("read", when=lambda node: node.idle)] * reads
    first, *others = REPLICAS
    victims_named = others if victims == "replicas" else None
    return System(
        {first: Coordinator(bug=bug), **{name: Replica(bug=bug) for name in others}},
        streams=Streams(),
        calls={first: calls},
        observers={"client": Client()},
        faults=Faults(crash=crashes, restart=restarts, nodes=victims_named),
        properties=[reads_are_current],
        name="Hinted handoff",
    )
