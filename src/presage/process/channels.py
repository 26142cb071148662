"""Mailboxes of channels at one moment, live: written for clarity, the oracle of the kernel.

Offers keep their order within a channel, the first number of their keys, and no other. A request
meets an offer of the channel that it claims if no earlier request is pending that fits the offer,
and no earlier offer of the channel that fits the request: what MPI promises of order, and no more.

A claim is a guess. Where nothing can happen any more, a wrong guess differs from a deadlock: some
request then fits some offer, or another wait would have ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from presage.process import ops

if TYPE_CHECKING:
    from presage.process.world import Mailbox, Member, Post, ProcessWorld


def fits(want: ops.Key, key: ops.Key) -> bool:
    """Whether a request for `want` takes an offer with `key`."""
    return want[0] in (ops.ANY, key[0]) and want[1] in (ops.ANY, key[1])


def key_of(post: Post) -> ops.Key:
    assert isinstance(post.op, ops.Send), post
    return post.op.key


def want_of(post: Post) -> ops.Key:
    assert isinstance(post.op, ops.Recv), post
    return post.op.want


def is_channelled(op: ops.Send | ops.Recv) -> bool:
    return op.channelled if isinstance(op, ops.Send) else op.claim is not None


def settle(box: Mailbox) -> None:
    """Let all meet that may."""
    while (pair := _pair(box)) is not None:
        request, offer = pair
        box.requests.remove(request)
        box.offers.remove(offer)
        request.partner, offer.partner = offer, request


def _pair(box: Mailbox) -> tuple[Post, Post] | None:
    for at, request in enumerate(box.requests):
        assert isinstance(request.op, ops.Recv)
        offer = _first(box.offers, request.op.want, request.op.claim)
        earlier = box.requests[:at]
        if offer is not None and not any(fits(want_of(each), key_of(offer)) for each in earlier):
            return request, offer
    return None


def _first(offers: Iterable[Post], want: ops.Key, channel: int | None) -> Post | None:
    fitting = (each for each in offers if fits(want, key_of(each)))
    return next((each for each in fitting if key_of(each)[0] == channel), None)


def found(box: Mailbox | None, probe: ops.Probe) -> Post | None:
    """What a probe of a channel finds: nothing that a request is going to take."""
    offer = None if box is None else _first(box.offers, probe.want, probe.claim)
    if box is None or offer is None:
        return None
    return None if any(fits(want_of(each), key_of(offer)) for each in box.requests) else offer


def is_wrong(world: ProcessWorld) -> bool:
    """Where nothing can happen: whether some guess did not come true, so that this is no end."""
    boxes = (box for box in world.mailboxes.values() if box.is_channelled)
    could_meet = any(
        fits(want_of(request), key_of(offer))
        for box in boxes
        for request in box.requests
        for offer in box.offers
    )
    return could_meet or any(_is_wrong(world, each) for each in world.members.values())


def _is_wrong(world: ProcessWorld, member: Member) -> bool:
    at = member.live.at
    if member.ended or member.killed:
        return False
    free = not _has_spun(world, member)
    match at:
        case ops.WaitAny():
            rivals = at.rivals or ()
            first = (all(member.posts[slot].complete for slot in group) for group in rivals)
            return (at.polled and free) or any(first)
        case ops.Probe(claim=int()):
            box = world.mailboxes.get(at.mailbox)
            offers = [] if box is None else box.offers
            return (at.polled and free) or any(fits(at.want, key_of(each)) for each in offers)
    return False


def _has_spun(world: ProcessWorld, member: Member) -> bool:
    """Whether a process has polled in vain so often that it would do so for ever."""
    return 0 < world.program.spins <= member.vain


def polls_in_vain(world: ProcessWorld, member: Member) -> bool:
    """Whether a process is about to do so once more: where nobody else moves, it never ends."""
    at = member.live.at
    if not isinstance(at, ops.Pick) or not at.polls or not _has_spun(world, member):
        return False
    box = world.mailboxes.get(at.mailbox)
    return box is None or not any(fits(at.want, key_of(each)) for each in box.offers)


def needs_room(member: Member) -> bool:
    """Whether a process goes on only if what it sends is buffered, and nobody has received it."""
    at = member.live.at
    if not isinstance(at, ops.WaitAny) or len(at.slots) != 1 or member.killed:
        return False
    post = member.posts.get(at.slots[0])
    return (
        post is not None
        and isinstance(post.op, ops.Send)
        and post.op.may_wait
        and post.partner is None
    )
