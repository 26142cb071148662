"""What steering has around it: the aids that it asks, why it refuses, and what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from presage.model.world.filters import Filter
from presage.records import NamedTuple, record
from presage.runtime.check import Danger
from presage.runtime.foresight import Question
from presage.trace.trace import Trace


class Aids(Protocol):
    """What steering needs done. Answers come later, by `assembled`, `foreseen` and `refreshed`."""

    def gather(self) -> None:
        """Gather a snapshot of the neighbourhood."""

    def refresh(self, names: Sequence[str]) -> None:
        """Ask these neighbours for their present state."""

    def ask(self, question: Question) -> None:
        """Look ahead; in the end `foreseen` or `unanswered` is called."""

    def hand_over(self, node: str, path: Trace) -> None:
        """Tell `node` of a path on which it can do something."""

    def is_open(self, peer: str) -> bool:
        """Whether breaking the connection to `peer` loses what is under way on it."""

    def reset(self, peer: str) -> None:
        """Break the connection to `peer`, as a network may."""

    def reconsider(self) -> None:
        """Offer messages that wait at the heads of streams once more."""


class Refusal(NamedTuple):
    """Why a step was not committed: a filter in force, or what the immediate check saw."""

    text: str
    danger: Danger | None = None
    filter: Filter | None = None

    def __str__(self) -> str:
        return self.text


@record
class SteerCounts:
    """What steering has done since the node booted."""

    rounds: int = 0
    unanswered: int = 0  # rounds in which no prediction was made in time
    remembered: int = 0  # rounds whose snapshot had been found clean before
    predicted: int = 0
    installed: int = 0
    handed_over: int = 0
    taken_over: int = 0  # paths that others handed over
    unhelpful: int = 0
    kills_progress: int = 0
    ahead_unpreventable: int = 0  # predictions against which no filter can be
    filtered: int = 0  # steps that a filter refused
    refused: int = 0  # steps that the immediate check refused
    resets: int = 0
    starving: int = 0  # kinds of events that were refused again and again
    starved: int = 0  # of these, those whose refusal keeps a property from ever holding
