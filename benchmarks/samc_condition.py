"""What the tables of SAMC were to show, and whether they do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """What the tables were to show, and what was measured."""

    claim: str
    measured: str
    holds: bool | None  # None: not measured

    @property
    def verdict(self) -> str:
        return {True: "held", False: "**missed**", None: "skipped"}[self.holds]
