"""Speculative execution of Hadoop 2.0, in which two attempts of one task succeed (MR-4748).

An application master (AM) runs each task as an attempt on a node. If the attempt reports too little
progress, a second one is launched elsewhere, and the first to end wins. An attempt that is done has
succeeded only when its container was cleaned up; meanwhile the AM ignores requests to kill it.

So both attempts may be done before either is cleaned up. The first to be cleaned up makes the task
succeed, the kill of the other is ignored, and the other succeeds as well. The machine of a task has
no transition for that, and the job fails. The repair ignores the event in a task that succeeded.

Certain: cause and repair, read in Hadoop's history. Reconstructed: the order of events. As in the
paper the failure is a straggler: a node whose reports are made to look slow. Abstracted: a report
says slow or not; an invalid transition fails the job in the same step; no task commits output.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from presage import (
    HOLDS,
    Service,
    System,
    Verdict,
    WorldView,
    action,
    always,
    eventually,
    on,
    state,
)

Bug = Literal["none", "MR-4748"]
TaskState = Literal["running", "succeeded"]
AttemptState = Literal["running", "cleanup", "succeeded", "killed"]
Attempt = tuple[int, int]  # the task, and which of its attempts


class Launch(Struct, frozen=True):
    attempt: Attempt


class Kill(Struct, frozen=True):
    attempt: Attempt


class Clean(Struct, frozen=True):
    attempt: Attempt


class Status(Struct, frozen=True):
    """From a node: how far its attempt is."""

    attempt: Attempt
    slow: bool


class Done(Struct, frozen=True):
    attempt: Attempt


class Cleaned(Struct, frozen=True):
    attempt: Attempt


class Slow(Struct, frozen=True):
    """To a node: its reports look slow from now on."""


class Master(Service):
    """The AM: machines of tasks and of attempts, and the speculator."""

    workers: tuple[str, ...]
    number: int  # of tasks
    bug: Bug
    job: Literal["running", "succeeded", "error"] = "running"
    tasks: list[TaskState] = state(list)
    attempts: dict[Attempt, AttemptState] = state(dict)
    late: set[int] = state(set)  # tasks whose first attempt seems slow

    def start(self) -> None:
        self.tasks = ["running"] * self.number
        for task in range(self.number):
            self._launch((task, 0))

    def _launch(self, attempt: Attempt) -> None:
        self.attempts[attempt] = "running"
        self.send(self._worker(attempt), Launch(attempt))

    def _worker(self, attempt: Attempt) -> str:
        """The attempts of one task run on different nodes."""
        return self.workers[sum(attempt) % len(self.workers)]

    def candidates(self) -> list[int]:
        return sorted(task for task in self.late if (task, 1) not in self.attempts)

    @action(over=candidates, when=lambda self, task: self.tasks[task] == "running")
    def speculate(self, task: int) -> None:
        self._launch((task, 1))

    @on(Status)
    def report(self, status: Status) -> None:
        if status.slow and self.attempts[status.attempt] == "running":
            self.late.add(status.attempt[0])

    @on(Done)
    def done(self, done: Done) -> None:
        if self.attempts[done.attempt] == "running":
            self.attempts[done.attempt] = "cleanup"
            self.send(self._worker(done.attempt), Clean(done.attempt))

    @on(Cleaned)
    def cleaned(self, cleaned: Cleaned) -> None:
        task, number = cleaned.attempt
        self.attempts[cleaned.attempt] = "succeeded"
        if self.tasks[task] == "succeeded":
            if self.bug == "MR-4748":
                self.job = "error"  # no transition for this event
            return
        self.tasks[task] = "succeeded"
        other = (task, 1 - number)
        if self.attempts.get(other) == "running":  # in cleanup: ignored
            self.attempts[other] = "killed"
            self.send(self._worker(other), Kill(other))
        if self.job == "running" and all(each == "succeeded" for each in self.tasks):
            self.job = "succeeded"

    def recovery(self) -> object:
        """Which attempts there are, and in which states; not of which task."""
        return sorted(self.attempts.values()), sorted(self.tasks), len(self.late)


class Worker(Service):
    """A node with containers, one for each attempt that it was given."""

    slow: bool = False
    running: set[Attempt] = state(set)
    silent: set[Attempt] = state(set)  # of these it has not reported yet

    @on(Slow)
    def slow_down(self, slow: Slow) -> None:
        self.slow = True

    @on(Launch)
    def launch(self, launch: Launch) -> None:
        self.running.add(launch.attempt)
        self.silent.add(launch.attempt)

    @action(over=lambda self: sorted(self.silent))
    def report(self, attempt: Attempt) -> None:
        self.silent.discard(attempt)
        self.send("am", Status(attempt, self.slow))

    @action(over=lambda self: sorted(self.running - self.silent))
    def end(self, attempt: Attempt) -> None:
        self.running.discard(attempt)
        self.send("am", Done(attempt))

    @on(Kill)
    def kill(self, kill: Kill) -> None:
        self.running.discard(kill.attempt)
        self.silent.discard(kill.attempt)

    @on(Clean)
    def clean(self, clean: Clean) -> None:
        self.send("am", Cleaned(clean.attempt))

    def recovery(self) -> object:
        """How much runs here, and how it is reported."""
        return self.slow, len(self.running), len(self.silent)


class Load(Service):
    """What makes nodes slow: the failure that is injected."""

    workers: tuple[str, ...]
    left: int  # how many more

    @action(over=lambda self: self.workers, when=lambda self, worker: self.left > 0)
    def straggle(self, worker: str) -> None:
        self.left -= 1
        self.send(worker, Slow())


@always
def no_invalid_transition(world: WorldView) -> Verdict:
    """The job does not fail: none of its attempts does."""
    failed = world["am"].job == "error"
    return Verdict.fails("an event came to a task that had succeeded") if failed else HOLDS


@eventually
def job_succeeds(world: WorldView) -> bool:
    """It comes to an end, too."""
    return bool(world["am"].job == "succeeded")


def system(*, tasks: int = 2, workers: int = 3, stragglers: int = 1, bug: Bug = "none") -> System:
    """An AM, nodes that run attempts, and what slows nodes down.

    tasks: of the job.
    workers: nodes.
    stragglers: how many of them may seem slow: the crash of the paper's budget.
    bug: `MR-4748` has no transition for a second success of a task.
    """
    names = tuple(f"nm{n}" for n in range(1, workers + 1))
    return System(
        {
            "am": Master(workers=names, number=tasks, bug=bug),
            **{name: Worker() for name in names},
            "load": Load(workers=names, left=stragglers),
        },
        network="ordered",
        properties=[no_invalid_transition, job_succeeds],
        name="Speculative execution",
    )
