"""The protocol: reliable, ordered messages without duplicates, over datagrams.

Pieces are numbered and acknowledged cumulatively; what is not acknowledged is sent again, within a
window that grows and shrinks as in TCP. The first piece of a connection carries its identity, a
number (`syn`) larger than that of every earlier connection of this node.

Each name in `missing` takes one historic fix away; see `bugs.py` for what then goes wrong.
"""

from __future__ import annotations

from presage import Service, durable, on, state, timer
from presage.systems.mace_transport.messages import (
    Ack,
    Data,
    Incoming,
    Item,
    Outgoing,
    Piece,
    Reset,
)

COPIES_MAX = 3  # of an early piece, before its connection is given up
REPEATS_MAX = 3  # of an acknowledgement, before the next piece is sent again


class Transport(Service):
    """Both ends of all connections of a node. The application derives from it."""

    missing: frozenset[str] = frozenset()
    clock: int = durable(0)  # grows with every reading, and is never set back
    out: dict[str, Outgoing] = state(dict)
    into: dict[str, Incoming] = state(dict)
    last_syn: dict[str, int] = state(dict)  # of the last connection from a peer; outlives it

    # -- for the application -----------------------------------------------------------------

    def delivered(self, peer: str, item: Item) -> None:
        """An item arrived."""

    def failed(self, peer: str) -> None:
        """The connection to or from a peer is gone, with what was under way."""

    def clear_to_send(self, peer: str) -> None:
        """There is room again; told once after `ask_to_send`."""

    def route(self, peer: str, item: Item, fragments: int = 1) -> None:
        """Send an item."""
        if peer not in self.out:
            base = self._tick() * 1000
            self.out[peer] = Outgoing(syn=self._tick(), last_used=base, base=base)
        out = self.out[peer]
        for fragment in range(fragments):
            out.last_used += 1
            syn = out.syn if out.last_used == out.base + 1 else 0
            out.waiting.append(Piece(out.last_used, item, fragment, fragments, syn))
        self._pump(peer)

    def can_send(self, peer: str) -> bool:
        """Whether nothing waits for room in the window."""
        return peer not in self.out or not self.out[peer].waiting

    def ask_to_send(self, peer: str) -> None:
        """Be told by `clear_to_send` when `can_send` is true again."""
        self.out[peer].asked = True

    # -- sending -----------------------------------------------------------------------------

    def _tick(self) -> int:
        self.clock += 1
        return self.clock

    def _pump(self, peer: str) -> None:
        """Send what the window allows: first what has to be sent again."""
        out = self.out[peer]
        while (out.again or out.waiting) and len(out.inflight) < int(out.window):
            piece = (out.again or out.waiting).pop(0)
            assert piece not in out.inflight, f"{piece.seq} is in flight already"
            out.inflight.append(piece)
            out.fresh.add(piece.seq)
            self._arm(peer, piece.seq)
            self.send(peer, Data(piece, self.last_syn.get(peer, 0)))
        if out.asked and not out.waiting:
            self.arm("cleared", peer)

    def _arm(self, peer: str, seq: int) -> None:
        """A new timer, also where an old one was forgotten."""
        handle = 0
        while self.armed("retransmit", peer, seq, handle):
            handle += 1
        self.arm("retransmit", peer, seq, handle)

    def _disarm(self, peer: str, seq: int) -> None:
        self.disarm("retransmit", peer, seq, 0)

    @timer(weight=8, after=0)
    def cleared(self, peer: str) -> None:
        if peer in self.out:
            self.out[peer].asked = False
        self.clear_to_send(peer)

    @timer(after=1)  # as TCP begins (RFC 6298); it does not double here
    def retransmit(self, peer: str, seq: int, handle: int) -> None:
        out = self.out.get(peer)
        sent = [piece.seq for piece in out.inflight] if out else []
        if out is None or seq not in sent:
            return
        if seq in out.fresh:
            out.threshold = max(out.window / 2, 1.0)
            out.window = 1.0
            out.fresh.clear()
        if self.choose((False, True), weights=(1, 0)):  # it has been tried for too long
            self._close(peer, outgoing=True, incoming=True)
            return
        for piece in out.inflight[: sent.index(seq) + 1]:  # this one, and those sent before it
            self._again(peer, piece)
        self._pump(peer)

    def _again(self, peer: str, piece: Piece, *, forget_timer: bool = False) -> None:
        out = self.out[peer]
        out.inflight.remove(piece)
        out.fresh.discard(piece.seq)
        out.again = sorted([*out.again, piece], key=lambda each: each.seq)
        if not forget_timer:
            self._disarm(peer, piece.seq)

    @on(Ack)
    def acknowledged(self, ack: Ack, source: str) -> None:
        out = self.out.get(source)
        if out is None:
            return
        out.again = [piece for piece in out.again if piece.seq > ack.seq]
        sent = [piece.seq for piece in out.inflight]
        beyond = bool(sent) and max(sent) < ack.seq and "all_acked_at_once" not in self.missing
        if ack.seq in sent or beyond:
            for piece in [piece for piece in out.inflight if piece.seq <= ack.seq]:
                out.inflight.remove(piece)
                out.fresh.discard(piece.seq)
                self._disarm(source, piece.seq)
            out.grow()
            out.established = True
            out.acked, out.repeats = ack.seq, 0
        elif ack.seq == out.acked and out.repeats < REPEATS_MAX:
            out.repeats += 1
            out.grow()
            lost = [piece for piece in out.inflight if piece.seq == ack.seq + 1]
            if out.repeats == REPEATS_MAX and lost:
                self._again(source, lost[0], forget_timer="fast_timer" in self.missing)
        self._pump(source)

    # -- receiving ---------------------------------------------------------------------------

    @on(Data)
    def arrived(self, data: Data, source: str) -> None:
        piece = data.piece
        if piece.syn and not self._opens(piece, data.echo, source):
            return
        if source not in self.into:
            self.send(source, Reset(self.last_syn.get(source, 0), piece.seq))
            return
        into = self.into[source]
        expected = into.next
        if piece.seq == into.next:
            into.next += 1
            while into.next in into.early and "skip_early" not in self.missing:
                into.next += 1
        old = piece.seq < expected
        self.send(source, Ack(into.next if old and "old_ack" in self.missing else into.next - 1))
        if old:
            return
        if piece.seq in into.early:
            self._came_again(source, piece)
            return
        if piece.seq < into.next:
            assert piece.seq >= into.deliver, f"{piece.seq} was delivered already"
        into.early[piece.seq] = piece
        self._deliver(source)

    def _opens(self, piece: Piece, echo: int, source: str) -> bool:
        """Take a piece that opens a connection; whether it is to be handled further."""
        known = self.last_syn.get(source)
        into = self.into.get(source)
        if "syn_ids" in self.missing:  # then a connection is known by its first number only
            if "same_syn" in self.missing or into is None or into.opened_by != piece.seq:
                self.into[source] = Incoming(piece.seq, piece.seq, piece.seq)
            return True
        if known is not None and piece.syn < known:
            self.send(source, Reset(piece.syn, piece.seq))
            return False
        if known is not None and piece.syn > known:
            self._renewed(echo, source)
        if source not in self.into or "same_syn" in self.missing:
            self.into[source] = Incoming(piece.seq, piece.seq, piece.seq)
            self.last_syn[source] = piece.syn
        return True

    def _renewed(self, echo: int, source: str) -> None:
        """The peer has a new connection: does it still know ours?

        Mace takes every other echo for a loss. Where both have new connections under way, each
        then undoes that of the other, perhaps again and again; so only one that is established
        counts.
        """
        out = self.out.get(source)
        judged = out is not None and (out.established or "echo_established" in self.missing)
        if out is not None and judged and echo != out.syn:
            self._close(source, outgoing=True, incoming=True)
        else:
            self.into.pop(source, None)

    def _came_again(self, source: str, piece: Piece) -> None:
        into = self.into[source]
        if "count_once" in self.missing:
            into.miscounted[piece.first] = into.miscounted.get(piece.first, 0) + 1
        if "fast_reset" in self.missing:
            return
        into.copies[piece.seq] = into.copies.get(piece.seq, 0) + 1
        if into.copies[piece.seq] == COPIES_MAX:
            self.send(source, Reset(self.last_syn.get(source, 0), piece.seq))
            self._close(source, outgoing=False, incoming=True)

    def _deliver(self, source: str) -> None:
        """Give the application every item that is whole, in order."""
        into = self.into[source]
        while into.deliver in into.early:
            head = into.early[into.deliver]
            numbers = range(head.seq, head.seq + head.fragments)
            counted = sum(number in into.early for number in numbers)
            if counted + into.miscounted.get(head.seq, 0) < head.fragments:
                return
            assert counted == head.fragments, f"a piece of item {head.item.number} is missing"
            for number in numbers:
                del into.early[number]
                into.copies.pop(number, None)
            into.miscounted.pop(head.seq, None)
            into.deliver += head.fragments
            self.delivered(source, head.item)

    # -- the end of a connection -------------------------------------------------------------

    @on(Reset)
    def refused(self, reset: Reset, source: str) -> None:
        out = self.out.get(source)
        if out is None:
            return
        # Mace closes in any case if the peer does not know `syn`; then an old one may be meant.
        unknown = reset.syn == 0 and reset.seq > out.base
        meant = reset.syn >= out.syn or unknown or reset.seq in out.unacked
        if meant or "reset_syn" in self.missing or "syn_ids" in self.missing:
            self.rejected(source, meant)
            self._close(source, outgoing=True, incoming=False)

    def rejected(self, peer: str, meant: bool) -> None:
        """The peer has closed this connection; or, if it is not meant, an earlier one."""

    def _close(self, peer: str, *, outgoing: bool, incoming: bool) -> None:
        if outgoing and peer in self.out:
            out = self.out.pop(peer)
            if "close_timers" not in self.missing:
                for piece in out.inflight:
                    self._disarm(peer, piece.seq)
        if incoming and peer in self.into:
            del self.into[peer]
            if peer in self.last_syn:
                self.last_syn[peer] += 1
        if peer in self.out:
            self.out[peer].asked = False
        if "close_cleared" not in self.missing:
            self.disarm("cleared", peer)
        self.failed(peer)
