"""Processes and mailboxes at one moment, live: written for clarity, the oracle of the kernel.

A mailbox keeps offers and requests that nothing has matched, each in the order of posting. A post
meets the first of the other kind that fits, else it waits there. A match completes both sides; a
buffered offer is complete for its sender from the start.

Invariant: no offer in a mailbox fits a request in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

from presage._core import combine, mix
from presage.errors import BadCall
from presage.process import channels, ops
from presage.process.channels import fits as fits
from presage.process.channels import key_of, want_of
from presage.process.live import RunningProcess
from presage.process.ops import Op, Response
from presage.process.payload import NOTHING, Payloads
from presage.process.program import Process, Program
from presage.records import NamedTuple, record

DIES = "dies"  # the last step of a process that was killed


class Choice(NamedTuple):
    """A step that can be taken: whose operation is answered, and how, where there is a choice."""

    process: str
    choice: int = 0


@record(eq=False)
class Post:
    """An offer or a request, from its posting on."""

    owner: str
    slot: int
    op: ops.Send | ops.Recv
    payload: int = NOTHING
    step: int = 0  # the step that posted it
    partner: Post | None = None
    withdrawn: bool = False

    @property
    def complete(self) -> bool:
        return self.partner is not None or (isinstance(self.op, ops.Send) and self.op.buffered)

    @property
    def got(self) -> Post | None:
        """The offer that a complete request has met."""
        return self.partner if isinstance(self.op, ops.Recv) else None


@record
class Mailbox:
    offers: list[Post] = field(default_factory=list)
    requests: list[Post] = field(default_factory=list)
    is_channelled: bool = False

    def first_offer(self, want: ops.Key) -> Post | None:
        return next((post for post in self.offers if fits(want, key_of(post))), None)

    def first_request(self, key: ops.Key) -> Post | None:
        return next((post for post in self.requests if fits(want_of(post), key)), None)


@record
class Member:
    live: RunningProcess
    daemon: bool
    posts: dict[int, Post] = field(default_factory=dict)  # open ones, by slot
    published: dict[str, int] = field(default_factory=dict)
    vain: int = 0  # polls in a row that found nothing
    killed: bool = False  # and has still to take its last step
    ended: bool = False
    history: int = 0  # digest of what it asked and was answered

    @property
    def failed(self) -> ops.Failed | None:
        return self.live.at if isinstance(self.live.at, ops.Failed) else None


@record(frozen=True)
class Taken:
    process: str
    op: Op | str
    response: Response
    options: int  # how many choices there were
    post: Post | None = None  # made by this step
    got: tuple[Post, ...] = ()  # complete ones that a wait or test returned
    logs: tuple[str, ...] = ()
    then: Op | ops.Done | ops.Failed | None = None  # what the process asks next


class ProcessWorld:
    """A program that runs, step by step. `pace` is the clock of a simulation."""

    def __init__(self, program: Program, pace: Callable[[], float] | None = None) -> None:
        self.program = program
        self._pace = pace
        self.payloads = Payloads(program.codec)
        self.members: dict[str, Member] = {}
        self.mailboxes: dict[str, Mailbox] = {}
        self.steps_taken = 0
        self.opening: dict[str, tuple[str, ...]] = {}  # what each process printed at its start
        for name, process in program.processes.items():
            self._begin(name, process)

    def _begin(self, name: str, process: Process) -> Member:
        member = Member(
            RunningProcess.of(self.program, name, process, pace=self._pace), process.daemon
        )
        self.members[name] = member
        self.opening[name] = tuple(member.live.context.log)
        self._note(member)
        return member

    def mailbox(self, name: str) -> Mailbox:
        return self.mailboxes.setdefault(name, Mailbox())

    def seen(self, probe: ops.Probe) -> Post | None:
        """The offer that a probe finds; looking there changes nothing."""
        box = self.mailboxes.get(probe.mailbox)
        if probe.claim is not None:
            return channels.found(box, probe)
        return None if box is None else box.first_offer(probe.want)

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing can happen, but for sends for which there may be no room.

        A moment that a wrong guess led to is no such one: something else would happen there.
        """
        able = (each for each in self.members.values() if any(True for _ in self.choices(each)))
        stuck = (channels.needs_room(each) or channels.polls_in_vain(self, each) for each in able)
        return all(stuck) and not channels.is_wrong(self)

    def enabled(self) -> list[Choice]:
        """Every step that can be taken, process by process."""
        return [
            Choice(name, choice)
            for name, member in self.members.items()
            for choice in self.choices(member)
        ]

    def choices(self, member: Member) -> Iterator[int]:
        """The ways in which what a process asks can be answered now."""
        at = member.live.at
        if member.ended:
            return
        if member.killed:
            yield 0
            return
        match at:
            case ops.WaitAny():
                yield from self._complete(member, at.slots)
                if at.timeout is not None:
                    yield ops.NONE
            case ops.TestAny():
                complete = list(self._complete(member, at.slots))
                yield from complete or [ops.NONE]
            case ops.Probe() if at.blocking:
                if self.seen(at) is not None:
                    yield 0
            case ops.Pick():
                yield from range(at.channels)
                yield ops.NONE
            case ops.Poll():
                yield ops.NONE
                yield from range(at.n)
            case ops.Join():
                if self._member(at.name).ended:
                    yield 0
            case ops.Choose():
                yield from range(at.n)
            case _:
                yield 0

    def _complete(self, member: Member, slots: tuple[int, ...]) -> Iterator[int]:
        for at, slot in enumerate(slots):
            if self._post(member, slot).complete:
                yield at

    def _post(self, member: Member, slot: int) -> Post:
        post = member.posts.get(slot)
        if post is None:
            raise BadCall(
                f"process `{member.live.name}` waits for a communication that is over",
                "a request that was waited for, or tested, twice",
                "forget a request once it has been waited for",
            )
        return post

    def _member(self, name: str) -> Member:
        member = self.members.get(name)
        if member is None:
            raise BadCall(
                f"there is no process `{name}`; there are {', '.join(self.members)}",
                "a misspelt name, or a process that was not created yet",
                "name a process of the program, or one that was created before",
            )
        return member

    def _check_new(self, name: str) -> None:
        if name in self.members:
            raise BadCall(
                f"a process `{name}` is created, and there is one of that name",
                "a process created in a loop, always by the same name",
                "give each its own name: `f'worker {number}'`",
            )

    def take(self, step: Choice) -> Taken:
        """Answer one operation, and run its process to the next."""
        member = self.members[step.process]
        self.steps_taken += 1
        if member.killed:
            return self._die(member)
        op = member.live.at
        assert not isinstance(op, ops.Done | ops.Failed), step
        options = sum(1 for _ in self.choices(member))
        post = self._posted(member, op) if isinstance(op, ops.Send | ops.Recv) else None
        response, got = self._answer(member, op, step.choice)
        member.vain = self._vain(member, op, step.choice)
        return self._resume(member, op, response, options, post, got)

    def _vain(self, member: Member, op: Op, choice: int) -> int:
        if isinstance(op, ops.Poll) or (isinstance(op, ops.Pick) and op.polls):
            return member.vain + (choice == ops.NONE)
        return member.vain if isinstance(op, ops.Sleep) else 0

    def _resume(
        self,
        member: Member,
        op: Op,
        response: Response,
        options: int,
        post: Post | None,
        got: tuple[Post, ...],
    ) -> Taken:
        then = member.live.resume(response)
        member.history = combine(
            [
                member.history,
                response.choice & 0xFFFF_FFFF,
                self.payloads.digest(got[0].got.payload) if got and got[0].got else 0,
                *(part & 0xFFFF_FFFF for part in response.key),
            ]
        )
        self._note(member)
        logs = tuple(member.live.context.log)
        return Taken(member.live.name, op, response, options, post, got, logs, then)

    def _note(self, member: Member) -> None:
        """Keep what ended, and what tells this moment of the process from others."""
        at = member.live.at
        member.ended = isinstance(at, ops.Done | ops.Failed)
        name = type(at).__name__.encode()
        member.history = combine([member.history, self.program.codec.digest(name)])

    def _die(self, member: Member) -> Taken:
        member.killed = False
        member.ended = True
        member.live.close()
        return Taken(member.live.name, DIES, Response(), 1)

    def _posted(self, member: Member, op: ops.Send | ops.Recv) -> Post:
        slot = next(slot for slot in range(len(member.posts) + 1) if slot not in member.posts)
        box = self.mailbox(op.mailbox)
        post = Post(member.live.name, slot, op, step=self.steps_taken)
        member.posts[slot] = post
        if isinstance(op, ops.Send):
            post.payload = self.payloads.number(op.payload)
            partner, queue, others = box.first_request(op.key), box.offers, box.requests
        else:
            partner, queue, others = box.first_offer(op.want), box.requests, box.offers
        if channels.is_channelled(op):
            box.is_channelled = True
            queue.append(post)
            channels.settle(box)
        elif partner is None:
            queue.append(post)
        else:
            others.remove(partner)
            post.partner, partner.partner = partner, post
        return post

    def _answer(self, member: Member, op: Op, choice: int) -> tuple[Response, tuple[Post, ...]]:
        match op:
            case ops.WaitAny() | ops.TestAny() if choice != ops.NONE:
                post = member.posts.pop(op.slots[choice])
                offer = post.got
                if offer is None:
                    return Response(choice), (post,)
                payload = self.payloads.fresh(offer.payload)
                return Response(choice, payload, key_of(offer)), (post,)
            case ops.Probe():
                offer = self.seen(op)
                if offer is None:
                    return Response(0), ()
                return Response(1, self.payloads.fresh(offer.payload), key_of(offer)), ()
            case ops.Cancel():
                return Response(int(self._withdraw(member, op.slot))), ()
            case ops.Create():
                self._check_new(op.name)
                self._begin(op.name, Process(op.body, *op.args, daemon=op.daemon, host=op.host))
            case ops.Kill():
                self._kill(self._member(op.name))
            case ops.Publish():
                member.published[op.field] = self.payloads.number(op.value)
        return Response(choice), ()

    def _withdraw(self, member: Member, slot: int) -> bool:
        post = self._post(member, slot)
        box = self.mailbox(post.op.mailbox)
        queue = box.offers if isinstance(post.op, ops.Send) else box.requests
        if post not in queue:
            return False
        queue.remove(post)
        post.withdrawn = True
        del member.posts[slot]
        if box.is_channelled:
            channels.settle(box)
        return True

    def _kill(self, victim: Member) -> None:
        if victim.ended:
            return
        victim.killed = True
        for slot, post in list(victim.posts.items()):
            if not post.complete:
                self._withdraw(victim, slot)

    @property
    def is_over(self) -> bool:
        """Whether every process has ended, daemons aside."""
        return all(member.ended or member.daemon for member in self.members.values())

    def unmatched(self) -> list[Post]:
        boxes = self.mailboxes.values()
        return [post for box in boxes for post in (*box.offers, *box.requests)]

    def leftovers(self) -> list[Post]:
        """What was posted and never matched, by processes that have ended: others may wait on."""
        return [post for post in self.unmatched() if self.members[post.owner].ended]

    @property
    def fingerprint(self) -> int:
        """64 bits that name this moment, the same in every run of the same steps."""
        total = 0
        codec = self.program.codec
        for at, (name, member) in enumerate(self.members.items()):
            whole = combine([codec.digest(name.encode()), member.history, int(member.killed)])
            total += mix(1, at, whole)
        for box_name, box in sorted(self.mailboxes.items()):
            waiting = [
                combine([codec.digest(post.owner.encode()), post.slot, int(queue is box.offers)])
                for queue in (box.offers, box.requests)
                for post in queue
            ]
            total += mix(2, 0, combine([codec.digest(box_name.encode()), *waiting]))
        return total % 2**64

    def published(self, name: str) -> dict[str, Any]:
        """What a process has published, as fresh values."""
        member = self.members[name]
        return {key: self.payloads.fresh(value) for key, value in member.published.items()}
