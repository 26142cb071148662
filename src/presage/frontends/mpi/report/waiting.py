"""Who waits for whom, in words: what is said of ranks that cannot go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from presage.frontends.mpi.core.comm_state import RankId
from presage.frontends.mpi.core.rank import named, names
from presage.process.context import Context
from presage.process.live import RunningProcess
from presage.process.ops import Failed, Op, Send
from presage.process.world import Post


def describe(op: Op, context: Context) -> str:
    """The call of MPI that a rank is in: `recv(source=1, tag=3) at x.py:12`."""
    return str(context.notes.get("call", type(op).__name__))


def waits_for(context: Context) -> tuple[RankId, ...]:
    return tuple(context.notes.get("waits_for", ()))


class Member(Protocol):
    """A process, as far as is asked here."""

    @property
    def live(self) -> RunningProcess: ...
    @property
    def daemon(self) -> bool: ...
    @property
    def ended(self) -> bool: ...


class World(Protocol):
    @property
    def members(self) -> Mapping[str, Member]: ...


def who_waits(world: World) -> str:
    """A line for each rank that is not done: its call, and for whom it waits."""
    lines, members = [], world.members  # not there: a rank that was to be spawned, and was not
    for name, member in members.items():
        if member.ended or member.daemon:
            continue
        at = member.live.at
        assert not isinstance(at, Failed)
        context = member.live.context
        threads = context.notes.get("threads")
        if threads is None or threads.is_alone:
            call = describe(at, context)  # type: ignore[arg-type]
            lines.append(_line(name, call, waits_for(context), members))
            continue
        for thread, call, ranks in threads.waiting():
            lines.append(_line(f"{name}, thread `{thread}`,", call, ranks, members))
    return "\n".join(lines)


def _line(name: str, call: str, ranks: tuple[RankId, ...], members: Mapping[str, Member]) -> str:
    ended = [who for who in ranks if (known := members.get(named(who))) and known.ended]
    text = f"{name} waits in {call}"
    text += f", for {names(ranks)}" if ranks else ""
    return text + (f"; {names(ended)} has ended" if ended else "")


def unmatched(posts: Iterable[Post]) -> str:
    """Messages that nobody received, and receives that got nothing, when all ranks have ended."""
    return "; ".join(_unmatched(post) for post in posts)


def _unmatched(post: Post) -> str:
    where, _, dest = post.op.mailbox.rpartition("/")
    if "#" in post.op.mailbox:
        where = post.op.mailbox.partition("#")[0]
        return f"{post.owner} made a collective call on {where} that others did not make"
    if "@" in post.op.mailbox:
        where = post.op.mailbox.partition("@")[0]
        return f"{post.owner} left `{_word(post)}` in window {where}: nobody has waited for it"
    if isinstance(post.op, Send):
        tag = post.op.key[1]
        return f"{post.owner} sent a message with tag {tag} to rank {dest} of {where}: not received"
    return f"{post.owner} asked for a message on {where}: none came"


def _word(post: Post) -> str:
    """What was posted in a window: `post`, `complete`."""
    payload = post.op.payload if isinstance(post.op, Send) else None
    return payload if isinstance(payload, str) else "memory"
