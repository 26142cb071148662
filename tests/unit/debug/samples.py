"""Small systems that break in every way a trace can tell of, and sessions on their traces."""

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from presage import (
    UNLIMITED,
    Faults,
    Service,
    System,
    action,
    always,
    check,
    eventually,
    no_deadlock,
    on,
    timer,
)
from presage.debug.session import Session
from presage.execution.sandbox import Sandbox
from presage.trace.trace import Trace
from presage.ui.debug.console import Console
from presage.ui.theme import Theme


@dataclass(frozen=True)
class Ask:
    number: int


@dataclass(frozen=True)
class Answer:
    number: int


class Client(Service):
    """Asks three times, and counts the answers."""

    asked: int = 0
    answers: tuple[int, ...] = ()

    @action(when=lambda self: self.asked < 3)
    def ask(self) -> None:
        self.asked += 1
        self.send("server", Ask(self.asked))
        self.log(f"asking {self.asked}")

    @on(Answer)
    def answered(self, answer: Answer) -> None:
        self.answers = (*self.answers, answer.number)


class Server(Service):
    """Answers, and remembers the largest number it has seen."""

    largest: int = 0

    @on(Ask)
    def asked(self, ask: Ask, source: str) -> None:
        self.largest = max(self.largest, ask.number)
        self.send(source, Answer(ask.number))


@always
def in_order(world) -> bool:
    client = world["client"]
    return len(client.answers) <= 3 and list(client.answers) == sorted(client.answers)


@eventually
def all_answered(world) -> bool:
    return len(world["client"].answers) == 3


def ordered(drop: float = 0) -> System:
    """Answers overtake each other; with drops, some never come."""
    nodes = {"client": Client(), "server": Server()}
    return System(nodes=nodes, faults=Faults(drop=drop), properties=[in_order, all_answered])


class Careless(Client):
    """Cannot take the second answer."""

    @on(Answer)
    def answered(self, answer: Answer) -> None:
        if self.answers:
            raise RuntimeError("one answer was enough")
        self.answers = (answer.number,)


def failing() -> System:
    return System(nodes={"client": Careless(), "server": Server()})


class Philosopher(Service):
    """Takes its own fork, then wants the other's."""

    holds: bool = False

    @action(when=lambda self: not self.holds)
    def grab(self) -> None:
        self.holds = True


def stuck() -> System:
    nodes = {"a": Philosopher(), "b": Philosopher()}
    return System(nodes=nodes, properties=[no_deadlock])


class Retrying(Service):
    served: bool = False

    def start(self) -> None:
        self.arm("again")

    @timer(periodic=True)
    def again(self) -> None:
        self.send("server", Ask(0))

    @on(Answer)
    def answered(self, answer: Answer) -> None:
        self.served = True
        self.disarm("again")


def served(world) -> bool:
    return world["client"].served


def lossy() -> System:
    """May lose what is asked again and again: a lasso."""
    return System(
        nodes={"client": Retrying(), "server": Server()},
        network="duplicating",
        faults=Faults(drop=UNLIMITED),
        properties=[eventually(served)],
    )


def found(system: System, prop: str, **how: object) -> Trace:
    """The trace that a search finds for `prop`."""
    report = check(system, traces=None, keep_going=True, **how)
    [violation] = [each for each in report.violations if each.prop == prop]
    assert violation.trace is not None
    return violation.trace


@contextlib.contextmanager
def session(system: System, trace: Trace) -> Iterator[Session]:
    with Sandbox() as sandbox:
        yield Session(system, trace, sandbox)


def drive(system: System, trace: Trace, *commands: str, at: int = 0, **more: object) -> str:
    """What the debugger writes when these commands are typed; places without their folders.

    `TMP` in a command stands for `folder`, and so it does in what is written.
    """
    folder, echo = str(more.pop("folder", "TMP")), bool(more.pop("echo", True))
    out = io.StringIO()
    typed = io.StringIO("".join(f"{command}\n" for command in commands).replace("TMP", folder))
    theme = more.pop("theme", Theme(width=80))
    with session(system, trace) as opened:
        opened.jump(at)
        console = Console(opened, theme, stdin=typed, stdout=out, **more)  # type: ignore[arg-type]
        console.loop(echo=echo)
    text = out.getvalue().replace(folder, "TMP")
    return re.sub(r"at \S*?(\w+\.py):\d+", r"at \1", text)


def saved(trace: Trace, folder: Path, name: str = "a.trace") -> Path:
    from presage.trace import codec

    return codec.write(trace, folder / name)
