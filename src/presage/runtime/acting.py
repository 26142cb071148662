"""Which action a live node does next.

Actions whose guards are true take turns in declared order, one a turn of the loop; of the values of
`over`, one is drawn. An action that does nothing would be done for ever: it rests until the node's
state is another, or for a while if it drew a choice, which may come out otherwise next time.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Stimulus, Values
from presage.runtime.chance import Chance
from presage.runtime.step import Record, Result


class Actions:
    """The actions of one node, and which of them rest."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._names = tuple(automaton.shape.actions)
        self._last = len(self._names) - 1  # the place of the one that ran last
        self.resting: dict[bytes, float] = {}  # those that rest, encoded -> until when
        self._state: Any = None  # in which they rest

    def next(self, fresh: Callable[[], Values], chance: Chance, now: float) -> Stimulus | None:
        """An action that its guard lets happen, and that does not rest; None if there is none."""
        encode, count = self._automaton.codec.encode, len(self._names)
        offered = list(self._automaton.actions(fresh()))
        for at in range(self._last + 1, self._last + 1 + count):
            stimuli = offered[at % count]
            if self.resting:
                stimuli = [s for s in stimuli if self.resting.get(encode(s), -inf) <= now]
            if stimuli:
                self._last = at % count
                return chance.one_of(stimuli)
        return None

    def until(self, now: float) -> float | None:
        """When the first of those that rest for a while may run again; None if there is none."""
        times = [until for until in self.resting.values() if now < until < inf]
        return min(times, default=None)

    def done(self, stimulus: Stimulus, result: Result, until: float) -> None:
        """Note what came of an action: one that did nothing rests."""
        if isinstance(result, Record) and not _idle(result):
            self.resting.clear()
            return
        chose = not isinstance(result, Record) or bool(result.choices)
        self.resting[self._automaton.codec.encode(stimulus)] = until if chose else inf

    def wake(self) -> None:
        """The state is another: none rests any more."""
        self.resting.clear()


def _idle(record: Record) -> bool:
    same = record.before == record.after
    return same and not (record.sends or record.flows or record.records)
