"""The messages of a trace as the page draws them: an arrow each, from its sending to its fate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from presage.trace.flow import FATES, Flight, Flow
from presage.trace.plain import shortened
from presage.trace.trace import Trace

NAME_MAX = 60  # characters


class Arrows:
    """Every arrow of one trace, numbered, by the step it begins at and the step it ends at."""

    def __init__(self, trace: Trace, flow: Flow) -> None:
        self.flights: list[Flight] = [each for sent in flow.sent.values() for each in sent]
        self.handled: dict[int, int] = {}  # step -> the number of the arrow that ends there
        numbers = {id(flight): number for number, flight in enumerate(self.flights)}
        for step in trace.steps:
            flight = flow.handled.get(step.index)
            if flight is None or step.kind not in FATES:
                continue
            if id(flight) not in numbers or flight.step != step.index:
                # A copy, or one more delivery of a message that the network keeps.
                flight = replace(flight, fate=FATES[step.kind], step=step.index)
                self.flights.append(flight)
                numbers[id(flight)] = len(self.flights) - 1
            self.handled[step.index] = numbers[id(flight)]
        self.sent: dict[int, list[int]] = {}
        for number, flight in enumerate(self.flights):
            self.sent.setdefault(flight.sent, []).append(number)

    def as_data(self) -> list[dict[str, Any]]:
        return [
            {
                "from": flight.source,
                "to": flight.to,
                "sent": flight.sent,
                "fate": flight.fate,
                "step": flight.step,
                "name": _name(flight.message),
                "text": shortened(flight.message),
            }
            for flight in self.flights
        ]


def _name(message: str) -> str:
    name = message.partition("(")[0] or message
    return name if len(name) <= NAME_MAX else name[: NAME_MAX - 3] + "..."
