"""What the page about the live experiments claims: one line each, held or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SHARE_MAX = 0.01  # of all actions, that may be changed
TITLES = {"three": "CB-RT1, 2 and 4", "five": "CB-RT1, 2, 4, 6 and 7"}

Data = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    """What a table must show."""

    claim: str
    measured: str
    holds: bool

    @property
    def verdict(self) -> str:
        return "held" if self.holds else "NOT HELD"


def column(data: Data, name: str) -> list[float]:
    """One figure of all seeds."""
    return [run[name] for _, run in sorted(data.items())]
