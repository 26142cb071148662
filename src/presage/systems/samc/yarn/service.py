"""RM, AM, nodes and client. A missing repair is named by `bug`.

RM and AM know attempts by number: what belongs to another attempt than the present is ignored.
"""

from __future__ import annotations

from typing import Literal

from presage import Disk, Service, action, disk, durable, on, state, written
from presage.systems.samc.yarn.messages import (
    Allocate,
    Allocated,
    Ended,
    Exited,
    Launch,
    Poll,
    Register,
    Registered,
    Report,
    Start,
    Unregister,
    Unregistered,
)

Bug = Literal["none", "MR-5505", "MR-5489"]
AppState = Literal["none", "accepted", "running", "removing", "finishing", "finished"]
Event = Literal["unregister", "removed", "exited", "completed"]
APP = "app"  # its key in the store
FAILURES = 1  # of containers on one node, before an AM uses it no more


class ResourceManager(Service):
    """Has one application, and knows of no others."""

    nodes: tuple[str, ...]
    bug: Bug
    store: Disk = disk()
    boots: int = durable(0)
    attempt: int = 0
    app: AppState = "none"
    queue: list[Event] = state(list)
    asks: int = 0
    granted: set[str] = state(set)  # nodes whose container is taken
    refused: set[str] = state(set)  # by the AM

    def start(self) -> None:
        self.boots += 1
        if self.boots == 1:
            self.store.write(APP, True)
        elif self.store.read(APP, False):
            self._launch()

    @written
    def stored(self, key: str, there: bool) -> None:
        if there:
            self._launch()
        elif self.bug != "MR-5505":
            self.queue.append("removed")

    def _launch(self) -> None:
        self.attempt = self.boots
        self.app = "accepted"
        self.record(("launch", self.attempt))
        self.send("am", Launch(self.attempt))

    @on(Register)
    def register(self, register: Register) -> None:
        if register.attempt == self.attempt and self.app == "accepted":
            self.app = "running"
            self.send("am", Registered(self.attempt))

    @on(Allocate)
    def allocate(self, allocate: Allocate) -> None:
        if allocate.attempt == self.attempt:
            self.record(("heard", ""))
            self.asks += allocate.ask
            self.granted -= set(allocate.release)
            self.refused |= set(allocate.blacklist)

    def usable(self) -> list[str]:
        return [] if not self.asks else sorted(set(self.nodes) - self.granted - self.refused)

    @action(over=usable)
    def heartbeat(self, node: str) -> None:
        """The node has room, so it gets a container."""
        self.asks -= 1
        self.granted.add(node)
        self.record(("grant", node))
        self.send("am", Allocated(self.attempt, node))

    @on(Ended)
    def ended(self, ended: Ended, source: str) -> None:
        if ended.attempt == self.attempt:
            self.granted.discard(source)

    @on(Unregister)
    def unregister(self, unregister: Unregister) -> None:
        if unregister.attempt != self.attempt:
            self.send("am", Unregistered(unregister.attempt, done=False, known=False))
            return
        if self.app == "running" and "unregister" not in self.queue:
            self.queue.append("unregister")
        done = self.bug == "MR-5505" or self.app in ("finishing", "finished")
        self.send("am", Unregistered(self.attempt, done))

    @on(Exited)
    def exited(self, exited: Exited) -> None:
        if exited.attempt == self.attempt:
            self.queue.append("exited")

    @action(when=lambda self: bool(self.queue))
    def dispatch(self) -> None:
        """The next entry of the queue."""
        event = self.queue.pop(0)
        if event == "unregister" and self.bug == "MR-5505":
            self.app = "finishing"
        elif event == "unregister":
            self.app = "removing"
            self.store.write(APP, False)
        elif event == "removed":
            self.app = "finishing"
        elif event == "exited":
            self.app = "finished"
            if self.bug == "MR-5505":
                self.queue.append("completed")
        elif event == "completed":
            self.store.write(APP, False)

    def recovery(self) -> object:
        """What a boot would find, and how far the application is."""
        return self.store.stored.get(APP, False), self.app, tuple(self.queue), self.asks


class Master(Service):
    """The AM: one process after the other, each an attempt."""

    number: int  # of tasks
    bug: Bug
    attempt: int = 0  # 0: none runs
    job: Literal["none", "running", "succeeded"] = "none"
    ended: int = 0
    failures: dict[str, int] = state(dict)
    blacklist: set[str] = state(set)
    unregistered: bool = False

    @on(Launch)
    def launch(self, launch: Launch) -> None:
        self.attempt, self.job, self.ended = launch.attempt, "running", 0
        self.failures, self.blacklist, self.unregistered = {}, set(), False
        self.record(("begin", self.attempt))
        self.send("rm", Register(self.attempt))

    @on(Registered)
    def registered(self, registered: Registered) -> None:
        if registered.attempt == self.attempt:
            self._ask(self.number)

    def _ask(self, number: int, release: tuple[str, ...] = (), shun: tuple[str, ...] = ()) -> None:
        self.record(("ask", ""))
        shun = () if self.bug == "MR-5489" else shun
        self.send("rm", Allocate(self.attempt, number, release, shun))

    @on(Allocated)
    def allocated(self, allocated: Allocated) -> None:
        if allocated.attempt != self.attempt:
            return
        if allocated.node in self.blacklist:
            self._ask(1, release=(allocated.node,))
        else:
            self.send(allocated.node, Start(self.attempt))

    @on(Ended)
    def container_ended(self, ended: Ended, source: str) -> None:
        if ended.attempt != self.attempt:
            return
        if not ended.well:
            self.failures[source] = self.failures.get(source, 0) + 1
            if self.failures[source] >= FAILURES and source not in self.blacklist:
                self.blacklist.add(source)
                self.record(("shun", source))
            self._ask(1, shun=tuple(sorted(self.blacklist)))
            return
        self.ended += 1
        if self.ended == self.number:
            self.job = "succeeded"
            self.send("rm", Unregister(self.attempt))

    @on(Unregistered)
    def answered(self, answer: Unregistered) -> None:
        if answer.attempt != self.attempt:
            return
        if answer.done:
            self.unregistered = True
            self.record(("end", ""))
            self.send("rm", Exited(self.attempt))
            self.attempt = 0
        elif answer.known:
            self.send("rm", Unregister(self.attempt))
        else:
            self.attempt, self.job = 0, "none"  # an RM that does not know it ends it

    @on(Poll)
    def poll(self, poll: Poll) -> None:
        early = self.bug == "MR-5505"
        succeeded = self.job == "succeeded" and (early or self.unregistered)
        self.send("client", Report(succeeded))

    def recovery(self) -> object:
        """How far the job is; nodes are alike."""
        phase = (self.job, self.unregistered, self.attempt > 0)
        return phase, self.ended, sorted(self.failures.values()), len(self.blacklist)


class NodeManager(Service):
    """Runs one container."""

    fragile: bool  # it may go bad
    bad: bool = False  # whatever is started here fails
    running: int = 0  # for which attempt; 0: none

    @action(when=lambda self: self.fragile and not self.bad)
    def go_bad(self) -> None:
        self.bad = True

    @on(Start)
    def launch(self, start: Start) -> None:
        self.running = start.attempt
        if self.bad:
            self._end(well=False)

    @action(when=lambda self: self.running > 0)
    def end(self) -> None:
        self._end(well=True)

    def _end(self, *, well: bool) -> None:
        for peer in ("am", "rm"):
            self.send(peer, Ended(self.running, well))
        self.running = 0

    def recovery(self) -> object:
        """Whether something runs here, and could."""
        return self.bad, self.running > 0


class Client(Service):
    """Asks the AM how the job is."""

    polls: int  # how many times more

    @action(when=lambda self: self.polls > 0)
    def ask(self) -> None:
        self.polls -= 1
        self.send("am", Poll())

    @on(Report)
    def reported(self, report: Report) -> None:
        if report.succeeded:
            self.record(("end", ""))

    def recovery(self) -> object:
        """How much it may still ask."""
        return self.polls
