"""One plain run of a program, of which nothing is kept: no history, no digest, no choice.

Ranks take turns by their own clocks: a wait or a test takes a moment, a sleep as long as it says, a
post nothing, and the rank whose clock is behind goes next. So the run is the same each time, and
fair. A rank that waits is looked at again only when what it waits for has happened; one that would
be next again is answered on the spot.

Mailboxes keep all offers in the order of posting; those of channels need a search. `ProcessWorld`,
written for clarity, does the same steps in the same order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import field
from heapq import heappop, heappush, heappushpop
from typing import Any, TypeAlias

from presage.process import ops
from presage.process.channels import fits
from presage.process.context import asked
from presage.process.live import RunningProcess
from presage.process.ops import NONE, Response
from presage.process.payload import Payloads
from presage.process.program import Process, Program
from presage.records import record

MOMENT = 1e-6
POSTS = frozenset({ops.Send, ops.Recv})
ON_THE_SPOT = POSTS | {ops.WaitAny, ops.TestAny, ops.Probe}
FROZEN = frozenset({type(None), bool, int, float, complex, str, bytes})
SILENT = Response()


class Post:
    """An offer or a request that was posted; an offer holds what is sent."""

    __slots__ = ("done", "got", "key", "mailbox", "met", "owner")

    def __init__(self, owner: Member, mailbox: str, key: ops.Key, done: bool) -> None:
        self.owner = owner
        self.mailbox = mailbox
        self.key = key  # or what is wanted
        self.done = done  # whether it is complete for its owner
        self.met = False
        self.got: Any = None  # of an offer: what it holds; of a request: the offer


@record(eq=False)
class Member:
    """A process of the run."""

    live: RunningProcess
    daemon: bool
    number: int
    clock: float = 0.0
    waits: bool = False
    ended: bool = False
    posts: dict[int, Post] = field(default_factory=dict)
    free: list[int] = field(default_factory=list)  # slots, a heap


@record(eq=False)
class Mailbox:
    offers: list[Post] = field(default_factory=list)
    requests: list[Post] = field(default_factory=list)
    probers: list[Member] = field(default_factory=list)  # that wait for an offer


Turn: TypeAlias = tuple[float, int, Member]


def is_frozen(value: Any) -> bool:
    """Whether nobody can change it, so that sender and receiver may share it."""
    kind = type(value)
    return kind in FROZEN or (kind is tuple and all(map(is_frozen, value)))


class PlainRun:
    """Takes steps until there are none, or something fails."""

    # No script: nothing is run a second time here.
    script: Sequence[Response] = ()
    left: int = 0
    watched: int = 0

    def __init__(self, program: Program) -> None:
        self._program = program
        self._payloads = Payloads(program.codec)
        self._boxes: defaultdict[str, Mailbox] = defaultdict(Mailbox)
        self._turns: list[Turn] = []  # a heap, of those that can go on
        self._now = 0.0
        self._member: Member | None = None  # that runs
        self.members: dict[str, Member] = {}
        self._answers: dict[type, Callable[[Member, Any], Response]] = {
            ops.Send: self._send,
            ops.Recv: self._receive,
            ops.WaitAny: self._look,
            ops.TestAny: self._look,
            ops.Probe: self._probe,
            ops.Cancel: self._cancel,
            ops.Create: self._create,
        }
        for name, process in program.processes.items():
            self._begin(name, process)

    @property
    def is_over(self) -> bool:
        return all(member.ended or member.daemon for member in self.members.values())

    @property
    def failed(self) -> tuple[str, ops.Failed] | None:
        """The first process that has failed, and how."""
        for name, member in self.members.items():
            if isinstance(member.live.at, ops.Failed):
                return name, member.live.at
        return None

    def play(self) -> None:
        """Go on with the process that is behind the others."""
        turns, answers = self._turns, self._answers
        turn = None if self.failed or not turns else heappop(turns)
        while turn is not None:
            time, _, member = turn
            op = member.live.at
            if type(op) is ops.Probe and not self._can_go_on(member):
                turn = heappop(turns) if turns else None  # another has taken what was there
                continue
            member.clock = time
            self._now = max(self._now, time)
            answer = answers.get(type(op))
            self._member = member
            at = member.live.resume(SILENT if answer is None else answer(member, op))
            if type(at) is ops.Done or type(at) is ops.Failed:
                self._end(member)
                if type(at) is ops.Failed:
                    return
            if self._can_go_on(member):
                turn = heappushpop(turns, self._turn(member))
            else:
                turn = heappop(turns) if turns else None
            if type(op) is ops.Create and self.failed:
                return

    def on_the_spot(self, op: Any) -> Response | None:
        """The answer to what the running process asks, if nobody would be next before it."""
        member, kind = self._member, type(op)
        if member is None or kind not in ON_THE_SPOT:
            return None
        time = member.clock if kind in POSTS else member.clock + MOMENT
        if self._others_before(time, member):
            return None
        if kind is ops.WaitAny and not any(member.posts[slot].done for slot in op.slots):
            return None
        if kind is ops.Probe and op.blocking and self._seen(op) is None:
            return None
        member.clock = time
        if time > self._now:
            self._now = time
        return self._answers[kind](member, op)

    def meet(self, op: Any, wait: Any) -> Response:
        """The answer to the wait for a post: at once, if nobody would be next before either."""
        member = self._member
        if member is None or self._others_before(member.clock, member):
            asked(op)
            return asked(wait)
        if member.clock > self._now:
            self._now = member.clock
        post = self._sent(member, op) if type(op) is ops.Send else self._asked(member, op)
        if (known := self._waited(member, post)) is not None:
            return known
        self._hold(post)
        return asked(wait)

    def _waited(self, member: Member, post: Post) -> Response | None:
        """The answer to the wait for a new post; None if it is not complete, or others are next."""
        time = member.clock + MOMENT
        if not post.done or self._others_before(time, member):
            return None
        member.clock = time
        if time > self._now:
            self._now = time
        return self._answer(0, post)

    def _others_before(self, time: float, member: Member) -> bool:
        """Whether somebody would be next before a process whose turn is at this time."""
        return bool(self._turns) and self._turns[0] < (time, member.number)

    def _begin(self, name: str, process: Process) -> None:
        self._member = None
        live = RunningProcess.of(self._program, name, process)
        live.context.guide = live.context.guide or self
        member = Member(live, process.daemon, len(self.members), self._now)
        self.members[name] = member
        if isinstance(live.at, ops.Done | ops.Failed):
            self._end(member)
        elif self._can_go_on(member):
            heappush(self._turns, self._turn(member))

    def _turn(self, member: Member) -> Turn:
        """When a process is next."""
        at = member.live.at
        takes = at.seconds + MOMENT if type(at) is ops.Sleep else MOMENT
        return member.clock + (0.0 if type(at) in POSTS else takes), member.number, member

    def _can_go_on(self, member: Member) -> bool:
        """Whether what it asks can be answered now; if not, it waits from now on."""
        op: Any = member.live.at
        kind = type(op)
        if kind is ops.WaitAny:
            posts = member.posts
            member.waits = not any(posts[slot].done for slot in op.slots)
        elif kind is ops.Probe and op.blocking:
            member.waits = self._seen(op) is None
            if member.waits:
                self._boxes[op.mailbox].probers.append(member)
        elif kind is ops.Join:
            member.waits = not self.members[op.name].ended
        return not (member.waits or member.ended)

    def _wake(self, member: Member) -> None:
        """What a process waits for may have happened: it goes on from now."""
        if member.waits and self._can_go_on(member):
            member.clock = max(member.clock, self._now)
            heappush(self._turns, self._turn(member))

    def _end(self, member: Member) -> None:
        member.ended = True
        for each in self.members.values():
            if type(each.live.at) is ops.Join:
                self._wake(each)

    def _hold(self, post: Post) -> Response:
        """Keep a post until its owner waits for it."""
        member = post.owner
        slot = heappop(member.free) if member.free else len(member.posts)
        member.posts[slot] = post
        return SILENT

    def _send(self, member: Member, op: ops.Send) -> Response:
        return self._hold(self._sent(member, op))

    def _receive(self, member: Member, op: ops.Recv) -> Response:
        return self._hold(self._asked(member, op))

    def _sent(self, member: Member, op: ops.Send) -> Post:
        post = Post(member, op.mailbox, op.key, op.buffered)
        frozen = is_frozen(op.payload)
        post.got = (frozen, op.payload if frozen else self._payloads.sealed(op.payload))
        box = self._boxes[op.mailbox]
        for at, request in enumerate(box.requests):
            if fits(request.key, op.key):
                del box.requests[at]
                self._match(post, request, request)
                return post
        box.offers.append(post)
        if box.probers:
            probers, box.probers = box.probers, []
            for each in probers:
                self._wake(each)
        return post

    def _asked(self, member: Member, op: ops.Recv) -> Post:
        post = Post(member, op.mailbox, op.want, False)
        offers = self._boxes[op.mailbox].offers
        for at, offer in enumerate(offers):
            if fits(op.want, offer.key):
                del offers[at]
                self._match(offer, post, offer)
                return post
        self._boxes[op.mailbox].requests.append(post)
        return post

    def _match(self, offer: Post, request: Post, earlier: Post) -> None:
        request.got = offer
        offer.met = request.met = offer.done = request.done = True
        self._wake(earlier.owner)

    def _look(self, member: Member, op: ops.WaitAny | ops.TestAny) -> Response:
        for choice, slot in enumerate(op.slots):
            post = member.posts[slot]
            if post.done:
                del member.posts[slot]
                heappush(member.free, slot)
                return self._answer(choice, post)
        return Response(NONE)

    def _answer(self, choice: int, post: Post) -> Response:
        """What a wait for a post that is complete gives."""
        offer = post.got
        if type(offer) is Post:
            return Response(choice, self._content(offer), offer.key)
        return Response(choice)

    def _content(self, offer: Post) -> Any:
        is_frozen, payload = offer.got
        return payload if is_frozen else self._payloads.opened(payload)

    def _seen(self, op: ops.Probe) -> Post | None:
        offers = self._boxes[op.mailbox].offers
        return next((offer for offer in offers if fits(op.want, offer.key)), None)

    def _probe(self, _: Member, op: ops.Probe) -> Response:
        offer = self._seen(op)
        return SILENT if offer is None else Response(1, self._content(offer), offer.key)

    def _cancel(self, member: Member, op: ops.Cancel) -> Response:
        post = member.posts[op.slot]
        if post.met:
            return Response(0)
        box = self._boxes[post.mailbox]
        queue = box.offers if post in box.offers else box.requests
        queue.remove(post)
        del member.posts[op.slot]
        heappush(member.free, op.slot)
        return Response(1)

    def _create(self, _: Member, op: ops.Create) -> Response:
        self._begin(op.name, Process(op.body, *op.args, daemon=op.daemon, host=op.host))
        return SILENT
