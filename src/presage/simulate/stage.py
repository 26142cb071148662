"""The processes of a simulation: who there is, whom to look at, and the steps they take.

Operations are answered by `ProcessWorld`, the same that a search is checked against.
"""

from __future__ import annotations

import heapq
from random import Random

from presage.model.choice import NOT_THEIRS
from presage.model.service.blame import describe_failure
from presage.process.ops import Failed
from presage.process.program import Program
from presage.process.view import ProgramView
from presage.process.world import Choice, Post, ProcessWorld, Taken
from presage.simulate.actor import Actor, doing
from presage.simulate.clock import Clock
from presage.simulate.platform import Placement, Platform
from presage.simulate.result import FAILED, Line, Outcome
from presage.simulate.transfers import Transfers


class Stage:
    """Processes, their clock and their world."""

    def __init__(self, program: Program, platform: Platform, seed: int) -> None:
        self.clock = Clock(platform)
        self.outcome: Outcome | None = None
        self.problem = ""
        self.draws = self.early_tests = 0
        self.steps: list[tuple[str, int]] = []
        self.log: list[Line] = []
        self.actors: dict[str, Actor] = {}
        self.transfers = Transfers(platform, self.clock, self._arrived)
        self._seed = seed
        self.placement = Placement(platform)
        self.ready: list[int] = []  # processes to look at, by order
        self.by_order: list[Actor] = []
        self._watching: dict[int, None] = {}  # to be looked at whenever anything happens
        self.at_once = 0
        self.world = ProcessWorld(program, lambda: self.now)
        for name, process in program.processes.items():
            self.add(name, self.placement.host_of(name, process.host))
        self.judge()

    @property
    def now(self) -> float:
        return self.clock.now

    def close(self) -> None:
        for member in self.world.members.values():
            member.live.close()

    def unfinished(self, actor: Actor) -> tuple[str, float, float, str]:
        kind, what = doing(actor)
        return kind, actor.entered, self.now, what

    def add(self, name: str, host: str) -> None:
        member = self.world.members[name]
        draw = Random(f"{self._seed}/{name}/choose").randrange
        actor = Actor(len(self.by_order), name, host, member, draw, self.now, self.now)
        self.actors[name] = actor
        self.by_order.append(actor)
        self._say(name, self.world.opening[name])
        self._settle(actor)
        self.look_at(actor)

    def take(self, actor: Actor, choice: int = 0) -> Taken:
        taken = self.world.take(Choice(actor.name, choice))
        self.steps.append((actor.name, choice))
        actor.arrive(self.now)
        self._say(actor.name, taken.logs)
        self._settle(actor)
        return taken

    def _say(self, process: str, lines: tuple[str, ...]) -> None:
        self.log += [Line(self.now, process, text) for text in lines]

    def _settle(self, actor: Actor) -> None:
        at = actor.member.live.at
        if isinstance(at, Failed):
            self.fail(f"{actor.name}: {at.text}")
        if actor.member.ended:
            actor.ended = self.now
            self.look_again()

    def fail(self, problem: str) -> None:
        self.outcome, self.problem = FAILED, problem

    def judge(self) -> None:
        """Ask the properties of what processes have published."""
        properties = self.world.program.properties
        if not properties or self.outcome is not None:
            return
        view = ProgramView({name: self.world.published(name) for name in self.world.members})
        for prop in properties:
            try:
                verdict = prop.judge(view)
            except NOT_THEIRS:
                raise
            except Exception as error:
                _, text = describe_failure(error, prop.predicate)
                self.fail(f"property `{prop.name}` raised: {text}")
                return
            if not verdict:
                self.fail(f"property `{prop.name}` is broken: {verdict.why}")
                return

    def wake_at(self, at: float, actor: Actor) -> None:
        """Tell a process then that it is due, unless it has gone on before."""
        ticket = actor.ticket

        def wake() -> None:
            if actor.ticket == ticket:
                actor.due = True
                self.look_at(actor)

        actor.begun = True
        self.clock.plan(at, actor.order, wake)

    def look_at(self, actor: Actor) -> None:
        heapq.heappush(self.ready, actor.order)

    def look_again(self) -> None:
        """Something happened: whoever watches has another look."""
        for order in self._watching:
            heapq.heappush(self.ready, order)
        self._watching.clear()

    def _arrived(self, post: Post) -> None:
        self.look_at(self.actors[post.owner])
        self.look_again()

    def watch(self, actor: Actor) -> bool:
        self._watching[actor.order] = None
        return False
