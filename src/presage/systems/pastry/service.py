"""A node of a Pastry ring, as Mace had it, with every fix; `missing` takes fixes out again.

After Rowstron and Druschel, "Pastry: scalable, distributed object location and routing for
large-scale peer-to-peer systems", 2001, and the Mace implementation whose bugs MaceMC found.
Left out: probes over datagrams, time stamps of rows and leaves, and the repair of rows while
routing (the "rare case"), for which maintenance makes up.

Invariants: `leaves` are `left` and `right` together, nearest first. A node's place in the routing
table follows from its name, so the table is the set of nodes known.
"""

from __future__ import annotations

from presage import Service, action, broken, on, state, timer
from presage.systems.pastry.circle import (
    DIGITS,
    SIZE,
    ahead,
    apart,
    halves,
    ident,
    name_of,
    shared,
    within,
)
from presage.systems.pastry.messages import (
    Inform,
    InformRequest,
    Join,
    LeafsetInfo,
    LeafsetInfoRequest,
    Remove,
    RowInfo,
    RowRequest,
)


class Pastry(Service):
    """One node. It joins by itself whenever it is not joined."""

    contact: str | None  # through whom it joins; None: it begins a ring
    half: int  # how many leaves it keeps on each side
    missing: frozenset[str] = frozenset()  # the fixes it does not have

    phase: str = "init"  # then "joining", then "joined"
    leaves: set[str] = state(set)
    left: list[str] = state(list)
    right: list[str] = state(list)
    table: set[str] = state(set)
    rows: set[int] = state(set)  # received while joining
    leafset_received: bool = False
    deferred: dict[str, int] = state(dict)  # who asked to join too early, and for which row

    @property
    def ident(self) -> int:
        """Its place on the circle."""
        return ident(self.name)

    def neighbours(self) -> list[str]:
        """The leaves, then the table: whom a prediction has to know."""
        return [*self.left, *self.right, *sorted(self.table)]

    # -- joining -----------------------------------------------------------------------------

    @action(when=lambda self: self.phase == "init")
    def join(self) -> None:
        if self.contact is None:
            self.phase = "joined"
        else:
            self.phase = "joining"
            self.ask_again()
            if self._has("recovery"):
                self.arm("recovery")
        if self._has("maintenance"):
            self.arm("table_maintenance")
            self.arm("leafset_maintenance")

    @timer(after=5)  # the delays are RandTree's: for Pastry none is known
    def ask_again(self) -> None:
        if self.phase == "joining" and self.contact is not None:
            row = next((row for row in range(DIGITS) if row not in self.rows), DIGITS)
            self.stream.send(self.contact, Join(self.name, row))
            self.arm("ask_again")

    @timer(periodic=True, after=10)
    def recovery(self) -> None:
        """Heals partitions: asks for its own place as if it had still to join."""
        if self.phase == "joined" and self.contact is not None:
            self.stream.send(self.contact, Join(self.name, DIGITS))

    @on(Join)
    def joins(self, join: Join, source: str) -> None:
        if self.phase == "joined":
            self._admit(join)
        elif join.who == source or not self._has("remove"):
            self.deferred[join.who] = join.row
        else:
            self.stream.send(source, Remove())

    def _admit(self, join: Join) -> None:
        """Send `join.who` what it lacks, or what there is of it, and the request on its way."""
        if join.who == self.name:
            return
        hop = self.next_hop(ident(join.who))
        end = DIGITS if hop == self.name else shared(self.name, join.who) + 1
        if hop == self.name:
            self.stream.send(join.who, LeafsetInfo(tuple(sorted(self.leaves))))
        for row in range(join.row, end):
            self._send_row(join.who, row)
        if hop != self.name:
            self.stream.send(hop, Join(join.who, max(join.row, end)))

    @on(RowInfo)
    def row_info(self, info: RowInfo) -> None:
        if self.phase == "init":
            return
        for node in info.nodes:
            self._update(node, live=False)
        if self.phase == "joining":
            self.rows.add(info.row)
            self._finish()

    @on(LeafsetInfo)
    def leafset_info(self, info: LeafsetInfo, source: str) -> None:
        if self.phase == "init":
            return
        for node in info.leaves:
            self._update(node, live=False)
        self._update(source, live=True)
        if self.phase == "joining":
            self.leafset_received = True
            self._finish()

    def _finish(self) -> None:
        """Have joined, if nothing is lacking, and tell everybody."""
        if not self.leafset_received or len(self.rows) < DIGITS:
            return
        self.phase = "joined"
        self.disarm("ask_again")
        for leaf in sorted(self.leaves):
            self.stream.send(leaf, Inform())
        for node in sorted(self.table):
            self._send_row(node, shared(self.name, node))
        deferred, self.deferred = self.deferred, {}
        for who, row in sorted(deferred.items()):
            self._admit(Join(who, row))

    # -- keeping table and leaves ------------------------------------------------------------

    @timer(periodic=True, after=10)
    def table_maintenance(self) -> None:
        for row in range(DIGITS):
            if known := self._row(row):
                self.stream.send(self.choose(known), RowRequest(row))

    @on(RowRequest)
    def row_request(self, request: RowRequest, source: str) -> None:
        if self.phase == "joined":
            self._send_row(source, request.row)

    def _send_row(self, to: str, row: int) -> None:
        self.stream.send(to, RowInfo(row, (*self._row(row), self.name)))

    def _row(self, row: int) -> list[str]:
        return sorted(node for node in self.table if shared(self.name, node) == row)

    @timer(periodic=True, after=10)
    def leafset_maintenance(self) -> None:
        if self.phase == "joined" and self.leaves:
            self.stream.send(self.choose(sorted(self.leaves)), LeafsetInfoRequest())

    @on(LeafsetInfoRequest)
    def leafset_info_request(self, request: LeafsetInfoRequest, source: str) -> None:
        if self.phase == "joined":
            self._update(source, live=True)
            self.stream.send(source, LeafsetInfo(tuple(sorted(self.leaves))))

    @on(InformRequest)
    def inform_request(self, request: InformRequest, source: str) -> None:
        if self.phase == "joined":
            if request.joined:
                self._update(source, live=True)
            self.stream.send(source, Inform())

    @on(Inform)
    def inform(self, inform: Inform, source: str) -> None:
        if self.phase == "joined":
            self._update(source, live=True)

    @on(Remove)
    def remove(self, remove: Remove, source: str) -> None:
        self.forget(source)

    @broken
    def forget(self, node: str) -> None:
        self.table.discard(node)
        if node in self.leaves:
            self._set_leaves(self.leaves - {node})
        for known in sorted(self.table):
            self._update(known, live=False)

    def _update(self, node: str, *, live: bool) -> None:
        """Take `node` into the table, and among the leaves if it belongs there and is alive."""
        if node == self.name:
            return
        self.table.add(node)
        left, right = halves(self.ident, self.leaves | {node}, self.half)
        if node in self.leaves or node not in (*left, *right):
            return
        if live:
            self._set_leaves(self.leaves | {node})
        else:
            self.stream.send(node, InformRequest(self.phase == "joined"))

    def _set_leaves(self, nodes: set[str]) -> None:
        self.left, self.right = halves(self.ident, nodes, self.half)
        if not self._has("one_side"):
            clockwise = sorted(nodes, key=lambda node: ahead(self.ident, ident(node)))
            self.left, self.right = clockwise[::-1][: self.half], clockwise[: self.half]
        self.leaves = {*self.left, *self.right}

    # -- what it owns, and where the rest goes -----------------------------------------------

    @property
    def right_neighbour(self) -> str:
        """The next node on the ring, clockwise; itself if it knows of none."""
        near = sorted(self.leaves, key=lambda node: ahead(self.ident, ident(node)))
        return near[0] if near else self.name

    @property
    def begin(self) -> int:
        """Where what it owns begins: half way to the left, the middle included."""
        near = [ahead(ident(node), self.ident) for node in self.leaves]
        tie = 1 if self._has("tie") else 0
        return (self.ident - (min(near, default=0) + tie) // 2) % SIZE if near else self.ident

    @property
    def end(self) -> int:
        """Where what it owns ends: half way to the right."""
        near = [ahead(self.ident, ident(node)) for node in self.leaves]
        return (self.ident + min(near, default=0) // 2) % SIZE

    def next_hop(self, key: int) -> str:
        """Where a message for the owner of `key` goes next."""
        if within(key, self.begin, self.end):
            return self.name
        best = min(sorted(self.leaves), key=lambda node: apart(ident(node), key))
        return min([best, *self._nearer(key)], key=lambda node: apart(ident(node), key))

    def _nearer(self, key: int) -> list[str]:
        """Those of the table that have more digits in common with `key` than this node."""
        goal = name_of(key)
        common = shared(self.name, goal)
        return sorted(node for node in self.table if shared(node, goal) > common)

    def _has(self, fix: str) -> bool:
        return fix not in self.missing
