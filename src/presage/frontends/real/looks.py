"""A program that was written to be checked may look at another node: `look("bank")` is its view.

A step of one node reads nothing of another, so looking is a question and an answer on the network:
`Look` and `Shown`. No fault loses them. The node that is asked answers at once, without its program
noticing; the one that asks waits, and may be answered with what came after it asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from presage.errors import BadCall
from presage.frontends.real.machine.process import Process, current


@dataclass(frozen=True, slots=True, repr=False)
class Look:
    """The question; `number` counts those of one process."""

    life: int
    number: int

    @property
    def lane(self) -> tuple[str | int, ...]:
        return ("look", self.life, self.number)

    def __repr__(self) -> str:
        return "look"


@dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """The answer: the view of a node."""

    life: int
    number: int
    view: Any

    @property
    def lane(self) -> tuple[str | int, ...]:
        return ("shown", self.life, self.number)

    def __repr__(self) -> str:
        return f"view {self.view!r}"


ANSWERS, ASKED = "shown", "looks"  # what a process keeps of it


def look(name: str) -> Any:
    """The view of another node, as it is some time between the question and the answer."""
    process = current()
    if process is None:
        raise BadCall(
            f"the view of `{name}` was asked for outside of a real node",
            "a test or a script that runs the program by itself",
            "ask for it in the code of a node",
        )
    if name not in process.host.names or name == process.host.name:
        raise BadCall(
            f"there is no other node `{name}`",
            "a misspelt name",
            f"one of {', '.join(process.host.peers)}",
        )
    number = process.notes.get(ASKED, 0)
    process.notes[ASKED] = number + 1
    answers: dict[int, Any] = process.notes.setdefault(ANSWERS, {})
    process.send(name, Look(process.life, number))
    process.block(lambda: number in answers, None, f"the view of {name}")
    return answers.pop(number)


def arrived(process: Process, answer: Shown) -> None:
    """An answer came; one to an earlier life is of no use."""
    if answer.life == process.life:
        process.notes.setdefault(ANSWERS, {})[answer.number] = answer.view
