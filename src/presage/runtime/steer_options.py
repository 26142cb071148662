"""How a node looks ahead, and what it does about it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from presage.records import record

MODES = ("off", "watch", "on")
Mode: TypeAlias = Literal["off", "watch", "on"]
ROUND_TRIP_MIN = 0.05  # seconds


@record(frozen=True)
class SteerOptions:
    """How a node steers."""

    mode: Mode = "on"
    every: float = 10.0  # seconds between rounds
    deadline: float = 1.0  # seconds for a prediction
    hold: float = 0.5  # seconds for which a message of a stream is held back
    round_trip: float = 0.25  # seconds; what is older than two is asked for again
    checks: bool = True  # whether steps are judged before they are committed
    predicts: bool = True
