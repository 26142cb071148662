"""Which steps of processes had some influence on a step.

A step follows the one before it of the same process; a communication that is complete follows the
post it met; whoever touches a mailbox follows whoever touched it before, since the order of posts
decides who meets whom. To end, create, join and kill a process are such steps, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from presage.process.ops import Cancel, Create, Join, Kill, Probe, Recv, Send
from presage.process.world import Taken
from presage.trace.causes import reachable


def past(taken: Sequence[Taken], step: int) -> tuple[int, ...]:
    """All steps up to `step`, from 1, that had some influence on it, itself included."""
    return reachable(follows(taken[:step], order=True), step)


def follows(taken: Sequence[Taken], *, order: bool) -> dict[int, set[int]]:
    """The steps that each step follows at once.

    Without `order` only those without which it could not be: what it met, who made or ended whom.
    """
    latest: dict[str, int] = {}  # by process: its last step, or the one that made or killed it
    boxes: dict[str, int] = {}  # by mailbox
    killed = 0  # whoever is killed withdraws from mailboxes
    direct: dict[int, set[int]] = {}
    for at, each in enumerate(taken, 1):
        op = each.op
        found = {latest.get(each.process, 0)}
        met = {post.partner.step for post in each.got if post.partner is not None}
        found |= {step for step in met if step < at}  # a buffered offer is met later, if ever
        if isinstance(op, Join | Kill):
            found.add(latest.get(op.name, 0))
        if isinstance(op, Cancel):  # which post, and so which mailbox, nobody has noted
            found |= {*boxes.values(), killed} if order else set()
            boxes = dict.fromkeys(boxes, at)
        if isinstance(op, Send | Recv | Probe):
            found |= {boxes.get(op.mailbox, 0), killed} if order else set()
            boxes[op.mailbox] = at
        if isinstance(op, Create | Kill):
            latest[op.name] = at
        if isinstance(op, Kill):
            found |= {killed} if order else set()
            killed = at
        latest[each.process] = at
        direct[at] = found - {0}
    return direct
