"""Discrete-event simulation of a program: the world of the checker, with a clock.

Operations are answered by `ProcessWorld`, the same that a search is checked against; the engine
only decides when, and which of the possible answers. So a simulation is one of the runs that a
search covers, with one exception: a test fails while a message is under way, where the world of the
search takes a match for an arrival. Such tests are counted.

What happens at one moment happens in the order of processes, then of their steps; nothing depends
on chance but `Choose`, which is drawn by the seed.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

from presage.errors import BadCall, BadSystem
from presage.process import ops
from presage.simulate.actor import Actor, waits_for
from presage.simulate.fluid import Work
from presage.simulate.result import (
    COMPUTE,
    DEADLOCK,
    FINISHED,
    SLEEP,
    STOPPED,
    WAIT,
)
from presage.simulate.stage import Stage
from presage.simulate.transfers import matched, size_of

STEPS_AT_ONCE_MAX = 1_000_000  # of all processes, without time passing
POLLS_MAX = 100  # equal tests that fail at one moment, before the process is taken to wait


class Engine(Stage):
    """One simulation, from its start to its end."""

    def run(self, until: float | None) -> None:
        """Go on until everything has ended, nothing can go on, something fails, or `until`."""
        while self.outcome is None:
            self._serve_ready()
            if self.outcome is None:
                self._go_on(until)
        for actor in self.by_order:
            if actor.ended is None:
                actor.spent(*self.unfinished(actor))
        self.clock.fluid.close(self.now)

    def _go_on(self, until: float | None) -> None:
        """Nothing is left to do at this moment: end, or move to the next."""
        if self.world.is_over:
            self.outcome = FINISHED
            return
        at = self.clock.next()
        if at == math.inf:
            self.outcome = DEADLOCK
            self.problem = "; ".join(
                f"{actor.name} {waits_for(actor)}"
                for actor in self.by_order
                if actor.ended is None and not actor.member.daemon
            )
        elif until is not None and at > until:
            self.outcome = STOPPED
            self.clock.now = until
        else:
            if at > self.now:
                self.at_once = 0
                self.look_again()
            self.clock.advance(at)

    def _serve_ready(self) -> None:
        while self.ready and self.outcome is None:
            actor = self.by_order[heapq.heappop(self.ready)]
            while actor.ended is None and self.outcome is None and self._serve(actor):
                self.at_once += 1
                if self.at_once > STEPS_AT_ONCE_MAX:
                    raise _endless(actor.name)

    def _serve(self, actor: Actor) -> bool:
        """Answer the operation of a process if it can be answered now."""
        op = actor.member.live.at
        match op:
            case ops.WaitAny():
                return self._wait(actor, op)
            case ops.TestAny():
                return self._test(actor, op)
            case ops.Probe():
                return self._probe(actor, op)
            case ops.Join():
                return self._join(actor, op)
            case ops.Sleep():
                return self._sleep(actor, op)
            case ops.Pick() | ops.Poll():
                raise _undecided(actor.name)
            case ops.Choose():
                self.draws += 1
                self.take(actor, actor.draw(op.n))
            case ops.Send() | ops.Recv():
                self._post(actor)
            case ops.Create():
                self._create(actor, op)
            case ops.Kill():
                self.take(actor)
                self._bury(op.name)
            case ops.Publish():
                self.take(actor)
                self.judge()
            case _:
                self.take(actor)
                self.look_again()
        return True

    def _post(self, actor: Actor) -> None:
        post = self.take(actor).post
        assert post is not None, actor
        self.transfers.posted(post)
        if post.partner is not None:
            offer, request = matched(post, post.partner)
            size = size_of(offer, self.world.payloads)
            self.transfers.start(
                offer, request, size, self.actors[offer.owner], self.actors[request.owner]
            )
        self.look_again()

    def _create(self, actor: Actor, op: ops.Create) -> None:
        if op.name in self.actors:
            raise BadCall(
                f"process `{actor.name}` creates a second process `{op.name}`",
                "a name made of something that is not unique",
                "give each process a name of its own, for instance with a number",
            )
        host = self.placement.host_of(op.name, op.host, actor.host)
        self.take(actor)
        self.add(op.name, host)
        self.look_again()

    def _bury(self, name: str) -> None:
        """A process was killed: its last step follows at once."""
        victim = self.actors[name]
        if not victim.member.killed or victim.member.ended:
            return
        victim.spent(*self.unfinished(victim))
        if victim.work is not None:
            self.clock.fluid.drop(victim.work, self.now)
        self.take(victim)

    def _join(self, actor: Actor, op: ops.Join) -> bool:
        if not list(self.world.choices(actor.member)):
            return self.watch(actor)
        actor.spent(WAIT, actor.entered, self.now, f"until {op.name} has ended")
        self.take(actor)
        return True

    def _sleep(self, actor: Actor, op: ops.Sleep) -> bool:
        if not actor.begun:
            self.wake_at(self.now + max(op.seconds, 0.0), actor)
        if not actor.due:
            return False
        if actor.work is None and op.flops > 0:
            actor.spent(SLEEP, actor.entered, self.now)
            actor.entered = self.now
            actor.work = Work(op.flops, lambda: self.look_at(actor), host=actor.host)
            self.clock.fluid.begin(actor.work, self.now)
            return False
        if actor.work is not None and actor.work.ends > self.now:
            return False
        actor.spent(SLEEP if actor.work is None else COMPUTE, actor.entered, self.now)
        self.take(actor)
        return True

    def _complete(self, actor: Actor, slots: tuple[int, ...]) -> int | None:
        """Which of some communications was complete first; None if none is."""
        found = []
        for at, slot in enumerate(slots):
            post = actor.member.posts.get(slot)
            if post is None:
                list(self.world.choices(actor.member))  # raises, and tells the usual cause
                continue
            since = self.transfers.complete_since(post)
            if since is not None:
                found.append((since, at))
        return min(found)[1] if found else None

    def _got(self, actor: Actor, op: ops.WaitAny | ops.TestAny, choice: int) -> None:
        """A communication is over for one of its sides."""
        post = actor.member.posts[op.slots[choice]]
        kind, began, what = self.transfers.forget(post)
        began = min(max(began, actor.entered), self.now)
        actor.spent(WAIT, actor.entered, began, f"for {kind} {what}")
        actor.spent(kind, began, self.now, what)
        actor.polls.clear()
        self.take(actor, choice)

    def _wait(self, actor: Actor, op: ops.WaitAny) -> bool:
        choice = self._complete(actor, op.slots)
        if choice is not None:
            self._got(actor, op, choice)
            return True
        if actor.due:
            actor.spent(WAIT, actor.entered, self.now, "until it timed out")
            self.take(actor, ops.NONE)
            return True
        if not actor.begun and op.timeout is not None:
            self.wake_at(self.now + max(op.timeout, 0.0), actor)
        return False

    def _test(self, actor: Actor, op: ops.TestAny) -> bool:
        choice = self._complete(actor, op.slots)
        if choice is not None:
            self._got(actor, op, choice)
            return True
        if self._must_wait(actor, op):
            return False
        posts = [actor.member.posts[slot] for slot in op.slots]
        self.early_tests += any(self.transfers.under_way(post) for post in posts)
        self._failed_poll(actor, op, ops.NONE)
        return True

    def _probe(self, actor: Actor, op: ops.Probe) -> bool:
        if self.world.mailbox(op.mailbox).first_offer(op.want) is not None:
            actor.polls.clear()
        elif op.blocking:
            return self.watch(actor)
        elif self._must_wait(actor, op):
            return False
        else:
            self._failed_poll(actor, op, 0)
            return True
        actor.spent(WAIT, actor.entered, self.now, f"for a message at `{op.mailbox}`")
        self.take(actor)
        return True

    def _must_wait(self, actor: Actor, op: Any) -> bool:
        """Whether a test has failed so often that it is answered when something has happened."""
        if actor.polls[op] < POLLS_MAX or actor.begun:
            return False
        actor.begun = True
        self.watch(actor)
        return True

    def _failed_poll(self, actor: Actor, op: Any, choice: int) -> None:
        actor.spent(WAIT, actor.entered, self.now, "testing")
        polls = actor.polls
        polls[op] += 1
        self.take(actor, choice)
        actor.polls = polls  # also if it was answered late: the next is again


def _undecided(name: str) -> BadSystem:
    return BadSystem(
        f"process `{name}` receives from any of several channels, and a simulation has one order",
        "a script made for a search, which explores every order",
        'make it with ordered delivery: `script(path, ranks, buffering="zero:ordered")`',
    )


def _endless(process: str) -> BadCall:
    return BadCall(
        f"{STEPS_AT_ONCE_MAX:,} steps were taken without time passing, the last by `{process}`",
        "a loop that neither waits, sleeps nor computes",
        "say how long a round takes, with `time.sleep` or a computation",
    )
