"""Whether a property that held had anything to say: what became of its conditions.

Every verdict of a search passes through `Vacuity.judge`. It costs nothing where a property has no
condition, and nothing once each of its conditions was true.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.model.choice import NOT_THEIRS
from presage.model.world.view import apart
from presage.props.implication import CONDITIONS
from presage.props.property import Property, Verdict
from presage.search.coverage.conditions import Condition, conditions

ASKED = ("always", "eventually", "step")


class Vacuity:
    """What is known of the conditions of properties, by the kernel's index of the property."""

    def __init__(self, properties: Sequence[Property]) -> None:
        kinds = enumerate(properties, 1)
        self._open: dict[int, list[Condition]] = {
            at: conditions(prop.predicate) for at, prop in kinds if prop.kind in ASKED
        }
        self.asked: dict[int, int] = {}  # how often Python was asked
        self.of_messages: set[int] = set()  # which looked at what is in flight
        self.called: dict[int, dict[str, bool]] = {}  # where `implies` was called: ever true there

    def judge(self, at: int, prop: Property, *seen: Any) -> Verdict:
        """What `prop` says; notes down which of its conditions were true."""
        self.asked[at] = self.asked.get(at, 0) + 1
        token = CONDITIONS.set(self.called.setdefault(at, {}))
        try:
            verdict = prop.judge(*seen)
        finally:
            CONDITIONS.reset(token)
        if prop.kind == "seal":
            met = self.called[at].get(prop.name, False)
            self.called[at][prop.name] = met or verdict.holds
        waiting = self._open.get(at)
        if waiting:
            again = tuple(apart(each) for each in seen)
            self._open[at] = [each for each in waiting if not _met(each, again)]
        return verdict

    def never_true(self, at: int) -> list[str]:
        """The conditions of a property that was asked and of which none was ever true."""
        if not self.asked.get(at):
            return []
        written = [f"`{each.text}`" for each in self._open.get(at, ())]
        return written + [place for place, met in self.called.get(at, {}).items() if not met]

    def saved(self) -> dict[str, Any]:
        return {
            "asked": self.asked,
            "open": {at: [each.text for each in left] for at, left in self._open.items()},
            "called": self.called,
            "of_messages": sorted(self.of_messages),
        }

    def recall(self, saved: dict[str, Any]) -> None:
        self.of_messages |= set(saved.get("of_messages", ()))
        for at, count in saved["asked"].items():
            self.asked[int(at)] = self.asked.get(int(at), 0) + count
        for at, left in saved["open"].items():
            waiting = self._open.get(int(at), [])
            self._open[int(at)] = [each for each in waiting if each.text in left]
        for at, called in saved["called"].items():
            own = self.called.setdefault(int(at), {})
            for place, met in called.items():
                own[place] = own.get(place, False) or met


def _met(condition: Condition, seen: tuple[Any, ...]) -> bool:
    """Whether a condition is true; one that cannot be asked alone is taken for true."""
    try:
        return bool(condition.holds(*seen))
    except NOT_THEIRS:
        raise
    except Exception:
        return True
