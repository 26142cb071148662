"""Two ends of a connection side by side: which messages are under way, what is open, what broke.

Both ends are taken from checkpoints of one cut. Lives say which end has given up the connection,
and the process that an end is tied to says whether the other one has restarted since.

What neither end knows is decided so that nothing that can happen is left out:

- whether peers of a restarted node will hear of the end of its old process. An end that is tied to
  it is half open, and half-open ends can do all that those with an error can. If messages were
  under way to that process, the end breaks as soon as it hears of the new one: it has an error;
- what an end with an error has queued is certain to be discarded, and is left out.

Invariant: a message is under way only if it was sent and not handled, in the order it was sent.
"""

from __future__ import annotations

from presage.records import NamedTuple
from presage.runtime.checkpoint import Checkpoint
from presage.runtime.link import End, first_life


class Inconsistent(Exception):
    """Two checkpoints that are no cut: one has seen what the other had not done yet."""


class Side(NamedTuple):
    """One end of a connection as the world holds it."""

    queue: tuple[bytes, ...] = ()
    open: bool = False
    error: bool = False


BROKEN = Side(error=True)


def end_of(checkpoint: Checkpoint, peer: str) -> End:
    """The node's end of its connection to `peer`."""
    end = checkpoint.ends.get(peer)
    return end or End(first_life(checkpoint.process), 0, 0, 0, 0, (), False, False, 0, 0)


def side_of(one: Checkpoint, other: Checkpoint) -> Side:
    """The end of the first node of its connection to the second."""
    mine, theirs = end_of(one, other.node), end_of(other, one.node)
    if one.node == other.node:
        return Side(mine.log)
    if mine.error:
        return BROKEN
    if 0 < mine.met < other.process:
        return BROKEN if mine.log else Side((), mine.open or mine.half)
    untouched = Side(mine.log, mine.half)
    if 0 < theirs.met < one.process or mine.life > theirs.life:
        return untouched  # the peer has not heard of this process, or of this life
    if mine.life < theirs.life:
        was_open = (
            theirs.known == one.process and theirs.was == mine.life and theirs.was_handled > 0
        )
        return BROKEN if mine.open or was_open else untouched
    handled = max(0, theirs.handled - (mine.sent - len(mine.log)))
    return Side(mine.log[handled:], mine.half or mine.handled > 0 or theirs.handled > 0)


def check_pair(one: Checkpoint, other: Checkpoint) -> None:
    """Raise `Inconsistent` if the first node has seen what the second had not done yet."""
    mine, theirs = end_of(one, other.node), end_of(other, one.node)
    if max(mine.known, mine.met) > other.process:
        raise _wrong(one, other, "knows a later process")
    got = one.datagrams.got.get(other.node)
    if got is not None:
        if got.process > other.process:
            raise _wrong(one, other, "has a datagram of a later process")
        sent = other.datagrams.numbers.get(one.node, 0)
        if got.process == other.process and max((got.floor, *got.above)) > sent:
            raise _wrong(one, other, "received a datagram that was not sent")
    if one.node == other.node or mine.met not in (0, other.process):
        return
    if theirs.met not in (0, one.process):
        if mine.handled:
            raise _wrong(one, other, "handled a message of a process that did not know it")
    elif mine.life > theirs.life:
        if mine.open:
            raise _wrong(one, other, "shares a life that the other does not know")
    elif mine.life == theirs.life:
        if mine.handled > theirs.sent:
            raise _wrong(one, other, "handled a message that was not sent")
        if mine.sent - len(mine.log) > theirs.handled:
            raise _wrong(one, other, "has an acknowledgement of a message that was not handled")


def _wrong(one: Checkpoint, other: Checkpoint, what: str) -> Inconsistent:
    return Inconsistent(f"{one.node} ({one.number}) {what}: {other.node} ({other.number})")
