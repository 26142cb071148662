"""The state of a program as plain data, process by process: what one compares, shows and blames.

What a process has in its variables nobody knows; what can be shown is what it waits for, what it
has posted, and what it has published. Between the processes there are the mailboxes.
"""

from __future__ import annotations

from presage.execution.describe import Words
from presage.process.ops import Done, Send
from presage.process.world import Member, Post, ProcessWorld
from presage.trace.causes import NETWORK
from presage.trace.plain import TYPE, Plain, plain, shortened

AT, POSTED, UP = "(at)", "(posted)", "up"


def state_of(world: ProcessWorld) -> dict[str, Plain]:
    """The state of every process that has begun, and of the mailboxes."""
    state: dict[str, Plain] = {}
    words = Words(world.program)
    for name, member in world.members.items():
        fields: dict[str, Plain] = {AT: shortened(_at(world, name, member, words))}
        posted: dict[str, Plain] = {
            str(slot): shortened(_posted(post, words))
            for slot, post in sorted(member.posts.items())
        }
        fields[POSTED] = {TYPE: "posted", **posted}
        fields[UP] = not member.killed and member.failed is None
        fields |= {field: plain(value) for field, value in world.published(name).items()}
        state[name] = fields
    between = NETWORK if NETWORK not in state else f"({NETWORK})"
    return state | {between: {"mailboxes": _mailboxes(world, words)}}


def mailboxes_of(state: dict[str, Plain]) -> dict[str, Plain]:
    """What waits at each mailbox, in a state that `state_of` gave."""
    between = state[f"({NETWORK})" if f"({NETWORK})" in state else NETWORK]
    assert isinstance(between, dict)
    fields = between["mailboxes"]
    assert isinstance(fields, dict)
    return {name: waiting for name, waiting in fields.items() if name != TYPE}


def _at(world: ProcessWorld, name: str, member: Member, words: Words) -> str:
    if member.failed is not None:
        return f"failed: {member.failed.text}"
    if member.ended:
        return "ended"
    if member.killed:
        return "killed"
    at = member.live.at
    assert not isinstance(at, Done), name
    what = type(at).__name__
    return f"{what}: {words.waits(world, name)}" if not list(world.choices(member)) else what


def _posted(post: Post, words: Words) -> str:
    return f"{words.posted(post.op)}{', complete' if post.complete else ''}"


def _mailboxes(world: ProcessWorld, words: Words) -> Plain:
    fields: dict[str, Plain] = {TYPE: "mailboxes"}
    for name, box in sorted(world.mailboxes.items()):
        offers = ((post.owner, post.op) for post in box.offers)
        waiting: list[Plain] = [
            shortened(f"{words.message(op.payload)} of {owner}")
            for owner, op in offers
            if isinstance(op, Send)
        ]
        waiting += [f"{post.owner} asks" for post in box.requests]
        if waiting:
            fields[name] = waiting
    return fields
