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
from heapq import heappop, heappush, heappushpop, heapreplace
from typing import Any, TypeAlias

import msgspec

from presage.frontends.mpi.launch.environment import STOP
from presage.process import ops
from presage.process.channels import fits
from presage.process.context import asked
from presage.process.live import RunningProcess
from presage.process.ops import NONE, Response
from presage.process.payload import Payloads
from presage.process.program import Process, Program

MOMENT = 1e-6
POSTS = frozenset({ops.Send, ops.Recv})
ON_THE_SPOT = POSTS | {ops.WaitAny, ops.TestAny, ops.Probe}
FROZEN = frozenset({type(None), bool, int, float, complex, str, bytes})
SILENT = Response()


Stop: TypeAlias = Callable[[Any, Callable[[Any], Response | None]], Response]


def stop(op: Any, instead: Callable[[Any], Response | None]) -> Response:
    """How a process asks that has no surroundings."""
    return asked(op)


class Post(msgspec.Struct, eq=False):
    """An offer or a request that was posted; an offer holds what is sent."""

    owner: Member
    mailbox: str
    key: ops.Key  # or what is wanted
    done: bool  # whether it is complete for its owner
    got: Any = None  # of an offer: what it holds; of a request: the offer
    met: bool = False


class Member(msgspec.Struct, eq=False):
    """A process of the run."""

    live: RunningProcess
    daemon: bool
    number: int
    clock: float = 0.0
    waits: bool = False
    ended: bool = False
    posts: dict[int, Post] = msgspec.field(default_factory=dict)
    free: list[int] = msgspec.field(default_factory=list)  # slots, a heap
    stop: Stop = stop  # asks what cannot be answered on the spot
    post: Post | None = None  # that it waits for where it has posted it, without a slot


class Mailbox(msgspec.Struct, eq=False):
    offers: list[Post] = msgspec.field(default_factory=list)
    requests: list[Post] = msgspec.field(default_factory=list)
    probers: list[Member] = msgspec.field(default_factory=list)  # that wait for an offer


class Sealed(msgspec.Struct, eq=False):
    """What somebody could change, as bytes."""

    sealed: tuple[bool, bytes]


Turn: TypeAlias = tuple[float, int, Member]


def is_frozen(value: Any) -> bool:
    """Whether nobody can change it, so that sender and receiver may share it."""
    if type(value) is not tuple:
        return type(value) in FROZEN
    for each in value:
        kind = type(each)
        if kind not in FROZEN and not (kind is tuple and is_frozen(each)):
            return False
    return True


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
            if time > self._now:
                self._now = time
            self._member = member
            if (post := member.post) is not None:
                member.post, response = None, self._answer(0, post)
            else:
                answer = answers.get(type(op))
                response = SILENT if answer is None else answer(member, op)
            if self._member is None:  # it has begun another, which may have failed
                at = member.live.resume(response)
            else:
                at = member.live.relay(response, self._running)
                member = self._member
            kind = type(at)
            if kind is ops.Done or kind is ops.Failed:
                self._end(member)
                if kind is ops.Failed:
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
        member, turns = self._member, self._turns
        if member is None or (turns and turns[0] < (member.clock, member.number)):
            asked(op)
            return asked(wait)
        if member.clock > self._now:
            self._now = member.clock
        post = self._sent(member, op) if type(op) is ops.Send else self._asked(member, op)
        if (known := self._waited(member, post)) is not None:
            return known
        member.post = post
        return member.stop(wait, self._give_way)

    def _give_way(self, wait: Any) -> Response | None:
        """The running process waits for its post: who is next goes on at once, if it does, too."""
        member, turns = self._member, self._turns
        assert member is not None and member.post is not None
        following = turns[0][2] if turns else None
        if following is None or following.post is None:
            return None
        if member.live.context.error is not None:  # which ends it where it stops
            return None
        if member.post.done:
            time = heapreplace(turns, (member.clock + MOMENT, member.number, member))[0]
        else:
            member.waits = True
            time = heappop(turns)[0]
        following.clock = time
        if time > self._now:
            self._now = time
        response, following.post = self._answer(0, following.post), None
        self._member = following
        return member.live.give_way(wait, following.live, response)

    def _running(self) -> RunningProcess:
        assert self._member is not None
        return self._member.live

    def _waited(self, member: Member, post: Post) -> Response | None:
        """The answer to the wait for a new post; None if it is not complete, or others are next."""
        if not post.done:
            return None
        time, turns = member.clock + MOMENT, self._turns
        if turns and turns[0] < (time, member.number):
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
        member.stop = live.context.notes.get(STOP, stop)
        self.members[name] = member
        if isinstance(live.at, ops.Done | ops.Failed):
            self._end(member)
        elif self._can_go_on(member):
            heappush(self._turns, self._turn(member))

    def _turn(self, member: Member) -> Turn:
        """When a process is next."""
        at = member.live.at
        if type(at) is ops.Sleep:
            return member.clock + (at.seconds + MOMENT), member.number, member
        return member.clock + (0.0 if type(at) in POSTS else MOMENT), member.number, member

    def _can_go_on(self, member: Member) -> bool:
        """Whether what it asks can be answered now; if not, it waits from now on."""
        if (post := member.post) is not None:
            member.waits = not post.done
            return post.done
        op: Any = member.live.at
        kind = type(op)
        if kind is ops.WaitAny:
            posts = member.posts
            for slot in op.slots:
                if posts[slot].done:
                    member.waits = False
                    break
            else:
                member.waits = True
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
            if self._now > member.clock:
                member.clock = self._now
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
        payload = op.payload
        if not is_frozen(payload):
            payload = Sealed(self._payloads.sealed(payload))
        post = Post(member, op.mailbox, op.key, op.buffered, payload)
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
        return self._received(choice, offer) if type(offer) is Post else Response(choice)

    def _received(self, choice: int, offer: Post) -> Response:
        content = offer.got
        if type(content) is Sealed:
            content = self._payloads.opened(content.sealed)
        return Response(choice, content, offer.key)

    def _seen(self, op: ops.Probe) -> Post | None:
        offers = self._boxes[op.mailbox].offers
        return next((offer for offer in offers if fits(op.want, offer.key)), None)

    def _probe(self, _: Member, op: ops.Probe) -> Response:
        offer = self._seen(op)
        return SILENT if offer is None else self._received(1, offer)

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
